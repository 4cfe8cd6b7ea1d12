"""Shared by all meters: the registry of drivers, settings, readings, raw bytes, capture."""
