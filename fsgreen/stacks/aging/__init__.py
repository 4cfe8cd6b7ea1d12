"""Aged file systems: made by seeded churn, measured, kept and restored."""
