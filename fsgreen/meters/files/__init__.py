"""What drivers for files share: text, numbers, dates, checks."""
