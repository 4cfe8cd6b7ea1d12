"""CSV of EnergiBridge."""
