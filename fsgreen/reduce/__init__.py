"""From raw trial folders to tables: one row per trial, per second, and per kind of operation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen import paths
from fsgreen.reduce.latency import latency_table
from fsgreen.reduce.latency_profiles import log2_profile, trial_profiles
from fsgreen.reduce.pool import poolable_trials, read_plan
from fsgreen.reduce.rows import Traces, series_of, trial_row
from fsgreen.reduce.tables import CELL, cell_label, read_table, write_table
from fsgreen.trial import Trial

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CELL",
    "cell_label",
    "log2_profile",
    "read_plan",
    "read_table",
    "trial_profiles",
    "write",
    "write_table",
]

WORTH_A_PROCESS = 100
"""Trials that take longer to reduce than a process takes to start."""

HISTOGRAM = ["flowop", "operation", "upper_ns", "work_ops"]


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

    trials = poolable_trials(campaign)
    rows, series, latencies = zip(*_each(trials), strict=True)
    cells = [trial.record["cell"] for trial in trials]
    write_table(pd.DataFrame(rows), campaign, "trials")
    write_table(pd.concat(series), campaign, "series")
    write_table(latency_table(zip(cells, latencies, strict=True)), campaign, "latency")
    return paths.results(campaign)


def _each(trials: Sequence[Trial]) -> Iterable[tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]]:
    """Return what `_reduced` makes of each trial, in their order, on all cores where it pays."""
    workers = min(len(os.sched_getaffinity(0)), len(trials) // WORTH_A_PROCESS)
    if workers < 2:
        return map(_reduced, trials)
    # Not forked: threads of numpy and pyarrow may hold locks.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_reduced, trials, chunksize=8))


def _reduced(trial: Trial) -> tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]:
    """Return the row of a trial, its series, and its latencies as far as their table needs them."""
    traces = Traces.of(trial)
    return trial_row(traces), series_of(traces), traces.latency[HISTOGRAM]
