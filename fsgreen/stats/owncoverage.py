"""How often intervals cover where trials scatter as those of this very campaign do (rule 52)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fsgreen.stats import distributions
from fsgreen.stats.dependence import Dependence, left_over
from fsgreen.stats.farcells import far_p, off_medians
from fsgreen.stats.sample import LEVEL, Floats

LEAST_PERCENT = 90.0
"""An interval of 95 % that covers less often says so beside its number (rule 52)."""

CAMPAIGNS = 400
"""Simulated for one rate, which is that of all their cells: its error is below a point."""

MOST_CELLS = 12
"""Cells of a simulated campaign; more of them leave the scatter as well known as it is."""


class FarRates(NamedTuple):
    """Rates of a cell some of whose trials lie far off: of its own interval, and over others."""

    cell_percent: float
    ratio_percent: float


@dataclass(frozen=True)
class OwnCoverage:
    """Rates of covering in per cent, simulated; NaN where there is too little to draw from.

    `cell_percent` is that of a cell's own interval, `pooled_percent` that of a ratio by the scatter
    of all cells, `alone_percent` that of a ratio by the scatter of its two cells. `far` has those
    of cells some of whose trials lie further off than those of the others.
    """

    cell_percent: float
    pooled_percent: float
    alone_percent: float
    far: Mapping[Hashable, FarRates] = field(default_factory=dict)

    def of_cell(self, cell: Hashable) -> float:
        """Return the rate of the interval of a cell."""
        far = [self.far[cell].cell_percent] if cell in self.far else []
        return min([self.cell_percent, *far])

    def of_ratio(self, *cells: Hashable, pooled: bool) -> float:
        """Return the rate of the ratio of two cells."""
        far = [self.far[cell].ratio_percent for cell in cells if cell in self.far]
        return min([self.pooled_percent if pooled else self.alone_percent, *far])


NOTHING = OwnCoverage(math.nan, math.nan, math.nan)


def own_coverage(
    logs: pd.DataFrame | ArrayLike, depends: Dependence, seed: int = 0, among: int = 1
) -> OwnCoverage:
    """Return how often intervals cover in campaigns that are drawn from what this one left over.

    Trials are drawn from what cells and blocks leave of those of all cells; what blocks have in
    common is taken for normal, since a few blocks do not show its shape.
    Where trials depend on those of the block before, what is drawn is what each adds (a sieve
    bootstrap: Buehlmann 1997), as five blocks hold no two pieces of a series. A rare slow mode is
    known as far as some cell has shown it; one that no trial was in stays unknown. A cell that lies
    far off (`far_p`, at 5 % over `among` calls) is drawn from its own trials.

    `logs`, shape (cells, blocks), are logarithms of trials, and `depends` is what `dependence` says
    of them. Draws follow from the seed. `among` is how many such groups of cells a campaign has.
    """
    table = pd.DataFrame(logs)
    cells, n = table.shape
    if cells < 2 or n < 3:
        return NOTHING
    rng = np.random.default_rng(seed)
    shape = (CAMPAIGNS, min(cells, MOST_CELLS), n)
    left = off_medians(table)
    of_blocks = table.sub(table.median(axis="columns"), axis="index").median()
    trials = _series(rng.choice(left.ravel(), shape), depends)
    together = rng.normal(0, of_blocks.std(ddof=1), (CAMPAIGNS, 1, n))
    values = np.exp(trials + together)
    far = {
        name: _far(_series(rng.choice(of_cell, shape), depends), trials, together, depends)
        for name, of_cell, p in zip(table.index, left, far_p(table), strict=True)
        if among * p < LEVEL
    }
    return OwnCoverage(
        _of_cells(values, float(values.mean())),
        _pooled(trials, depends.widening),
        _alone(np.exp(trials), depends.widening),
        far,
    )


def _far(own: Floats, trials: Floats, together: Floats, depends: Dependence) -> FarRates:
    """Return the rates of a cell with trials of its own, by itself and over the others."""
    values, others = np.exp(own + together), np.exp(trials[:, 1:])
    one = np.exp(own[:, :1])
    pairs = np.concatenate([one / np.exp(own).mean(), others / others.mean()], axis=1)
    return FarRates(_of_cells(values, float(values.mean())), _alone(pairs, depends.widening))


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
    reach = distributions.t_quantile(0.975, n - 1) * values.std(axis=-1, ddof=1) / math.sqrt(n)
    return float(100 * (np.abs(values.mean(axis=-1) - truth) <= reach).mean())


def _pooled(trials: Floats, widening: float) -> float:
    """Return how often intervals of further cells over the first cover, by the scatter of all."""
    cells, n = trials.shape[1:]
    degrees = (cells - 1) * (n - 1)
    variances = (left_over(trials) ** 2).sum(axis=(-2, -1)) / degrees
    # As in `Scatter.error`.
    errors = widening * np.sqrt(2 * np.expm1(variances) / n)
    totals = np.log(np.exp(trials).sum(axis=-1))
    reach = distributions.t_quantile(0.975, degrees) * errors[:, None]
    return float(100 * (np.abs(totals[:, 1:] - totals[:, :1]) <= reach).mean())


def _alone(values: Floats, widening: float) -> float:
    """Return the same by the linearised error of each pair, which its bootstrap comes close to."""
    n = values.shape[-1]
    shares = values / values.mean(axis=-1, keepdims=True)
    errors = (shares[:, 1:] - shares[:, :1]).std(axis=-1, ddof=1) / math.sqrt(n)
    totals = np.log(values.sum(axis=-1))
    reach = distributions.t_quantile(0.975, n - 1) * widening * errors
    return float(100 * (np.abs(totals[:, 1:] - totals[:, :1]) <= reach).mean())
