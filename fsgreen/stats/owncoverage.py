"""How often intervals cover where trials scatter as those of this very campaign do (rule 52)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats as distributions

from fsgreen.stats.dependence import Dependence, Floats, left_over

LEAST_PERCENT = 90.0
"""An interval of 95 % that covers less often says so beside its number (rule 52)."""

CAMPAIGNS = 400
"""Simulated for one rate, which is that of all their cells: its error is below a point."""

MOST_CELLS = 12
"""Cells of a simulated campaign; more of them leave the scatter as well known as it is."""


@dataclass(frozen=True)
class OwnCoverage:
    """Rates of covering in per cent, simulated; NaN where there is too little to draw from.

    `cell_percent` is that of a cell's own interval, `pooled_percent` that of a ratio by the scatter
    of all cells, `alone_percent` that of a ratio by the scatter of its two cells.
    """

    cell_percent: float
    pooled_percent: float
    alone_percent: float


NOTHING = OwnCoverage(math.nan, math.nan, math.nan)


def own_coverage(logs: ArrayLike, depends: Dependence, seed: int = 0) -> OwnCoverage:
    """Return how often intervals cover in campaigns that are drawn from what this one left over.

    Trials are drawn from what cells and blocks leave of those of all cells; what blocks have in
    common is taken for normal, since a few blocks do not show its shape.
    Where trials depend on those of the block before, what is drawn is what each adds (a sieve
    bootstrap: Buehlmann 1997), as five blocks hold no two pieces of a series. A rare slow mode is
    known as far as some cell has shown it; one that no trial was in stays unknown.

    Parameters
    ----------
    logs : array_like, shape (cells, blocks)
        Logarithms of trials.
    depends : Dependence
        What `dependence` says of them.
    seed : int
        Of the draws.
    """
    table = np.asarray(logs, dtype=float)
    cells, n = table.shape
    if cells < 2 or n < 3:
        return NOTHING
    rng = np.random.default_rng(seed)
    shape = (CAMPAIGNS, min(cells, MOST_CELLS), n)
    # By medians, which leave a rare slow trial as far off as it was; of scales nothing depends.
    of_cells = table - np.median(table, axis=1, keepdims=True)
    of_blocks = np.median(of_cells, axis=0)
    trials = _series(rng.choice((of_cells - of_blocks).ravel(), shape), depends)
    together = rng.normal(0, of_blocks.std(ddof=1), (CAMPAIGNS, 1, n))
    values = np.exp(trials + together)
    return OwnCoverage(
        _of_cells(values, float(values.mean())),
        _pooled(trials, depends.widening),
        _alone(np.exp(trials), depends.widening),
    )


def _series(drawn: Floats, depends: Dependence) -> Floats:
    """Return what was drawn, each trial with what it keeps of the one before."""
    if depends.widening == 1:
        return drawn
    kept, series = depends.coefficient, drawn.copy()
    for block in range(1, drawn.shape[-1]):
        series[..., block] = kept * series[..., block - 1]
        series[..., block] += math.sqrt(1 - kept**2) * drawn[..., block]
    return series


def _of_cells(values: Floats, truth: float) -> float:
    """Return how often the t interval of a cell's mean covers."""
    n = values.shape[-1]
    reach = distributions.t.ppf(0.975, n - 1) * values.std(axis=-1, ddof=1) / math.sqrt(n)
    return float(100 * (np.abs(values.mean(axis=-1) - truth) <= reach).mean())


def _pooled(trials: Floats, widening: float) -> float:
    """Return how often intervals of further cells over the first cover, by the scatter of all."""
    cells, n = trials.shape[1:]
    degrees = (cells - 1) * (n - 1)
    variances = (left_over(trials) ** 2).sum(axis=(-2, -1)) / degrees
    # As in `Scatter.error`.
    errors = widening * np.sqrt(2 * np.expm1(variances) / n)
    totals = np.log(np.exp(trials).sum(axis=-1))
    reach = distributions.t.ppf(0.975, degrees) * errors[:, None]
    return float(100 * (np.abs(totals[:, 1:] - totals[:, :1]) <= reach).mean())


def _alone(values: Floats, widening: float) -> float:
    """Return the same by the linearised error of each pair, which its bootstrap comes close to."""
    n = values.shape[-1]
    shares = values / values.mean(axis=-1, keepdims=True)
    errors = (shares[:, 1:] - shares[:, :1]).std(axis=-1, ddof=1) / math.sqrt(n)
    totals = np.log(values.sum(axis=-1))
    reach = distributions.t.ppf(0.975, n - 1) * widening * errors
    return float(100 * (np.abs(totals[:, 1:] - totals[:, :1]) <= reach).mean())
