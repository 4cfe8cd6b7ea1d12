"""What drivers are made of: ports, questions and answers, counters, clocks, secrets."""
