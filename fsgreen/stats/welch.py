"""Comparisons of two cells of which no common blocks are known."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from fsgreen.stats.compare import Comparison
from fsgreen.stats.logratio import LogRatio
from fsgreen.stats.summary import Estimate

NOTHING = Estimate(math.nan, math.nan, math.nan, 0)


def compare_unpaired(
    candidate: pd.DataFrame, baseline: pd.DataFrame, bound: float = math.nan
) -> Comparison:
    """Return effect size and tests by Welch's t of the logarithms (Welch 1947).

    The ratio is one of geometric means; drift while the runs were made is scatter, or looks like an
    effect. Without two runs of each cell, or where one is not positive, there is no interval.

    Parameters
    ----------
    candidate, baseline : DataFrame
        A row per run with the columns `above` and `below`, as `stats.compare` has them.
    bound : float
        As in `stats.compare`; without one nothing is shown to be equivalent.
    """
    cells = (candidate, baseline)
    n = min(map(len, cells))
    if n == 0:
        return Comparison(NOTHING, math.nan, math.nan, math.nan, math.nan, False, NOTHING)
    values = [float(cell["above"].sum() / cell["below"].sum()) for cell in cells]
    rates = [(cell["above"] / cell["below"]).to_numpy(dtype=float) for cell in cells]
    if any((of_cell <= 0).any() for of_cell in rates):
        ratio = values[0] / values[1] if values[1] else math.nan
        bare = Estimate(ratio, math.nan, math.nan, n)
        return Comparison(bare, values[0], values[1], math.nan, math.nan, False, NOTHING)
    logs = [np.log(of_cell) for of_cell in rates]
    difference = float(logs[0].mean() - logs[1].mean())
    ratio = math.exp(difference)
    if n < 2:
        bare = Estimate(ratio, math.nan, math.nan, n)
        return Comparison(bare, values[0], values[1], math.nan, math.nan, False, NOTHING)
    squares = [float(of_cell.var(ddof=1)) / of_cell.size for of_cell in logs]
    parts = [square**2 / (of_cell.size - 1) for square, of_cell in zip(squares, logs, strict=True)]
    degrees = sum(squares) ** 2 / sum(parts) if sum(parts) else n - 1
    log_ratio = LogRatio(difference, math.sqrt(sum(squares)), degrees)
    return Comparison(
        Estimate(ratio, *log_ratio.interval(), n, degrees),
        values[0],
        values[1],
        log_ratio.difference_p(),
        log_ratio.equivalence_p(bound),
        False,
        NOTHING,
    )
