"""Shared by drivers for files: text, numbers, dates, checks."""
