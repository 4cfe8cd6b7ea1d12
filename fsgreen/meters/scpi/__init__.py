"""Power analyzers of the WT310E class (SCPI)."""
