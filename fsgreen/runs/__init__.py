"""Tables of runs that other programs measured: read, checked, and summarised as far as they go."""

from fsgreen.runs.importing import ImportedRuns, import_runs
from fsgreen.runs.report import cells_of_runs, comparisons_of_runs, describe

__all__ = ["ImportedRuns", "cells_of_runs", "comparisons_of_runs", "describe", "import_runs"]
