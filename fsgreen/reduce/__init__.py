"""From raw trial folders to tables: one row per trial, per second, and per kind of operation."""

from __future__ import annotations

from pathlib import Path

from fsgreen import paths
from fsgreen.reduce.latency import latency_table
from fsgreen.reduce.latency_profiles import log2_profile, trial_profiles
from fsgreen.reduce.pool import due_trials, poolable_trials, read_plan
from fsgreen.reduce.rows import Traces, series_of, trial_row
from fsgreen.reduce.tables import CELL, cell_label, read_table, write_table

__all__ = [
    "CELL",
    "cell_label",
    "due_trials",
    "log2_profile",
    "read_plan",
    "read_table",
    "trial_profiles",
    "write",
    "write_table",
]


def write(campaign: str) -> Path:
    """Reduce a campaign to `trials.csv`, `series.csv` and `latency.csv`; return their folder.

    Every raw file is compared with the hash in its record first (rule 22), and trials are pooled
    only where plan, boundary and machine agree (rules 1, 9, 19).

    Raises
    ------
    FsgreenError
        If the campaign has no whole trial, or holds one that is damaged or foreign.
    """
    import pandas as pd

    plan = read_plan(campaign)
    trials = [Traces.of(trial, plan) for trial in poolable_trials(campaign)]
    write_table(pd.DataFrame([trial_row(traces) for traces in trials]), campaign, "trials")
    write_table(pd.concat([series_of(traces) for traces in trials]), campaign, "series")
    write_table(
        latency_table((traces.cell, traces.latency) for traces in trials),
        campaign,
        "latency",
    )
    return paths.results(campaign)
