"""Runs that other programs measured: read, checked, and made a campaign like any other."""

from fsgreen.runs.importing import ImportedRuns, import_runs

__all__ = ["ImportedRuns", "import_runs"]
