"""Meters in software, for tests and for people without one: each speaks its driver's bytes."""
