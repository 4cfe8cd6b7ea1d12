"""What is particular to each study, and the analysis that they share."""
