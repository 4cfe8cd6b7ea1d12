"""How often the intervals of cells cover the truth, simulated with their own scatter (rule 52)."""

from __future__ import annotations

import math

import pandas as pd

from fsgreen import stats
from fsgreen.reduce import factors_of

IN_WORKLOAD = "in this workload"
FAR_OFF = "in this cell, some of whose trials lie further off than those of the others"


def of_cells(trials: pd.DataFrame, blocks: pd.Series) -> dict[str, pd.Series]:
    """Return, for each trial, how often the interval of its cell covers the truth (rule 52).

    `blocks` has the block of each trial, with the index of `trials`. `covers_percent` is NaN where
    a load is held, or where too few cells are in every block. `covers_where` says in words whose
    scatter was simulated.
    """
    percent, where = pd.Series(math.nan, trials.index), pd.Series(IN_WORKLOAD, trials.index)
    of_cell = trials.groupby(factors_of(trials), dropna=False).ngroup()
    workloads = trials[trials["load_ops_s"].isna()].groupby("workload")
    for _, these in workloads:
        cells = of_cell[these.index]
        logs = stats.logs_of_whole(cells, blocks[these.index], these["throughput_ops_s"])
        coverage = stats.own_coverage(logs, stats.dependence(logs), among=workloads.ngroups)
        percent[these.index] = cells.map(coverage.of_cell)
        where[cells.index[cells.isin(list(coverage.far))]] = FAR_OFF
    return {"covers_percent": percent, "covers_where": where}
