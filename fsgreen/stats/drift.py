"""Drift: does a cell, or the whole machine, change over the order in which trials ran (rule 25)?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fsgreen.stats.logratio import LogRatio
from fsgreen.stats.sample import Floats, constant, sample_of
from fsgreen.stats.summary import Estimate

FEW = 8
"""Trials up to which ties are counted through all orders; the normal approximation errs there."""


@dataclass(frozen=True)
class Drift:
    """Drift of a campaign, between blocks and inside them.

    `between_tau` and `between_p`: Kendall's test of the blocks' levels over their number, which
    needs four blocks; `between_percent`: their change from the first to the last, by the median of
    slopes. `within_percent`: change from the first to the last place in a block, with its 95 %
    interval, `n` being trials; `within_p` belongs to "none".
    """

    between_tau: float
    between_p: float
    between_percent: float
    within_percent: Estimate
    within_p: float


def trend(order: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """Return Kendall's tau of a cell's values over the run order, and its p-value (Mann 1945).

    (nan, nan) below four trials: three can never be significant; nor can four, with p of 8 % for
    a perfect order. With ties among few trials the p-value counts all orders.

    `order` and `values`, shape (n,), say where in the campaign each trial ran, and its result.
    """
    places, sample = sample_of(order), sample_of(values)
    if sample.size < 4 or constant(sample) or constant(places):
        return math.nan, math.nan
    result = scipy.stats.kendalltau(places, sample)
    tied = len(np.unique(sample)) < sample.size or len(np.unique(places)) < sample.size
    p = _exact_p(places, sample) if tied and sample.size <= FEW else float(result.pvalue)
    return float(result.statistic), p


def trend_percent(order: ArrayLike, values: ArrayLike) -> float:
    """Return the change from the first to the last trial, as a percentage of the median.

    The slope is that of Theil and Sen. NaN below two trials.
    """
    places, sample = sample_of(order), sample_of(values)
    middle = abs(float(np.median(sample)))
    if sample.size < 2 or constant(places) or middle == 0:
        return math.nan
    return 100 * _slope_of_pairs(places, sample) * float(np.ptp(places)) / middle


def order_drift(
    cells: Iterable[object], blocks: ArrayLike, order: ArrayLike, values: ArrayLike
) -> Drift:
    """Return the drift of a campaign whose cells ran in random order inside blocks.

    log(value) = cell + block + slope * place in the block. As the order inside blocks is random,
    the slope has nothing to do with the cells, and hundreds of trials tell of it where a cell alone
    has five (Georges et al. 2007 ask for independence of the order). Blocks are compared by what is
    left of them after cells and slope.

    `cells` has the cell of each of n trials; `blocks`, `order` and the positive `values`, shape
    (n,), the number of its block, its place inside it, and its result. Raises ValueError if a value
    is not positive.
    """
    logs, places = sample_of(values), sample_of(order)
    if (logs <= 0).any():
        raise ValueError("a drift in per cent needs positive values")
    logs = np.log(logs)
    number, of_block = np.unique(sample_of(blocks), return_inverse=True)
    of_cell = np.unique([str(cell) for cell in cells], return_inverse=True)[1]
    dummies = np.hstack([np.eye(of_cell.max() + 1)[of_cell], np.eye(len(number))[of_block]])
    slope, error, degrees = _slope(dummies, places, logs)
    fit = np.linalg.lstsq(dummies, logs - (slope if degrees else 0.0) * places, rcond=None)[0]
    # Blocks that differ by rounding only are ties.
    levels = np.round(fit[-len(number) :], 12)
    tau, between_p = trend(number, levels)
    between = math.nan
    if len(number) > 1:
        between = 100 * math.expm1(_slope_of_pairs(number, levels) * float(np.ptp(number)))
    reach = float(np.ptp(places))
    last_over_first = LogRatio(reach * slope, reach * error, degrees)
    change, low, high = (
        100 * (ratio - 1) for ratio in (math.exp(reach * slope), *last_over_first.interval())
    )
    within = Estimate(change, low, high, logs.size)
    return Drift(tau, between_p, between, within, last_over_first.difference_p())


def _slope_of_pairs(places: Floats, values: Floats) -> float:
    """Return the median of the slopes of all pairs of places that differ (Theil 1950, Sen 1968)."""
    # scipy.stats.theilslopes gives the same, and spends most of its time on an interval.
    later = np.subtract.outer(places, places)
    rises = np.subtract.outer(values, values)[later > 0]
    return float(np.median(rises / later[later > 0]))


def _slope(dummies: Floats, places: Floats, logs: Floats) -> tuple[float, float, int]:
    """Return slope, error and degrees of freedom (0: no slope) of what the dummies leave."""
    both = np.column_stack([places, logs])
    fit, _, rank, _ = np.linalg.lstsq(dummies, both, rcond=None)
    place, left = (both - dummies @ fit).T
    degrees = logs.size - int(rank) - 1
    spread = float(place @ place)
    if degrees < 1 or spread < 1e-9 * float(places @ places):
        return math.nan, math.nan, 0
    slope = float(place @ left) / spread
    residual = float(((left - slope * place) ** 2).sum())
    return slope, math.sqrt(residual / degrees / spread), degrees


def _exact_p(order: Floats, values: Floats) -> float:
    """Return the share of all orders of the values that agree at least as far with the order."""
    first, second = np.triu_indices(order.size, 1)
    signs = np.sign(order[first] - order[second])
    ways = values[np.array(list(itertools.permutations(range(order.size))))]
    agreement = np.abs(np.sign(ways[:, first] - ways[:, second]) @ signs)
    return float((agreement >= agreement[0]).mean())
