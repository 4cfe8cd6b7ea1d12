"""Steady state inside a trial: changepoints of a per-second series and what they mean."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import ndimage
from scipy import stats as distributions

State = Literal["flat", "warm-up", "slow-down", "no steady state", "too short"]

SHORTEST_SEGMENT = 3
"""Samples; two can be one disturbance of a one-second series."""

SAME_LEVEL = 0.05
"""Segments whose means differ by less than this share are one level (the target interval of
fast10, section 3.2: half-widths below 5 % of the mean)."""

SAME_POWER = 0.02
"""The same for power, most of which a machine draws when idle: what the errors of an energy may be
(rule 16). A smaller change of level does not change a conclusion."""

JUMPS = 0.2
"""Share of the steps from second to second, the largest, that may be changes instead of noise: an
estimate from the others raises fewer false alarms in short series than one from their median."""

TAIL = 0.25
"""A change in the last quarter leaves no steady state (Barrett et al. 2017, section 4.2: 500 of
2000 iterations)."""


def changepoints(values: ArrayLike) -> list[int]:
    """Return the indices at which a new mean begins, by exact segmentation.

    Optimal partitioning (Jackson et al. 2005) of the squared error under the modified BIC penalty
    of 3 ln(n) noise variances per change (Zhang & Siegmund 2007). The noise is estimated from the
    smaller first differences, which the changes themselves hardly inflate; single outliers are set
    to the median of their neighbours first, as in Barrett et al. 2017 (section 4.1). Seconds that
    depend on those before them, or have long tails, raise false alarms (docs/statistics.md), which
    `classify_series` leaves without consequence where levels stay close.

    Parameters
    ----------
    values : array_like, shape (n,)
        A series at equal distances in time.

    Raises
    ------
    ValueError
        If a value is NaN or infinite.
    """
    raw = np.asarray(values, dtype=float)
    if not np.isfinite(raw).all():
        raise ValueError("a series needs finite values")
    n = raw.size
    noise = _noise_variance(raw)
    if n < 2 * SHORTEST_SEGMENT or noise == 0:
        return []
    series = _without_spikes(raw, 4 * math.sqrt(noise))
    series -= series.mean()
    penalty = 3 * math.log(n) * noise
    sums = np.concatenate([[0.0], np.cumsum(series)])
    squares = np.concatenate([[0.0], np.cumsum(series**2)])
    best = np.full(n + 1, math.inf)
    best[0] = -penalty
    previous = np.zeros(n + 1, dtype=int)
    for end in range(SHORTEST_SEGMENT, n + 1):
        start = np.arange(0, end - SHORTEST_SEGMENT + 1)
        error = squares[end] - squares[start] - (sums[end] - sums[start]) ** 2 / (end - start)
        cost = best[start] + error + penalty
        previous[end] = int(np.argmin(cost))
        best[end] = cost[previous[end]]
    changes = []
    end = n
    while previous[end] > 0:
        end = int(previous[end])
        changes.append(end)
    return changes[::-1]


def classify_series(values: ArrayLike, same_level: float = SAME_LEVEL) -> State:
    """Return the class of one trial after Barrett et al. 2017 (section 4.2).

    flat: one level. warm-up: it ends on its highest level. slow-down: it ends below an earlier
    level. no steady state: the level still changes in the last quarter. too short: no change could
    have been seen. The words are those for a rate; of power they say rise and fall.

    Parameters
    ----------
    values : array_like, shape (n,)
        A series at equal distances in time.
    same_level : float
        Share by which levels may differ and count as one: `SAME_LEVEL` for rates, `SAME_POWER` for
        power (rule 23).
    """
    series = np.asarray(values, dtype=float)
    if series.size < 2 * SHORTEST_SEGMENT:
        return "too short"
    edges = [0, *changepoints(series), series.size]
    means = [float(series[a:b].mean()) for a, b in itertools.pairwise(edges)]
    final = means[-1]
    margin = same_level * abs(final)
    same = [abs(mean - final) <= margin for mean in means]
    if all(same):
        return "flat"
    settled = len(same) - same[::-1].index(False)
    if edges[settled] > (1 - TAIL) * series.size:
        return "no steady state"
    return "warm-up" if max(means) <= final + margin else "slow-down"


def classify_cell(states: Sequence[str]) -> str:
    """Return the class of more than half of a cell's trials, or `mixed` if none has so many.

    A cell is `inconsistent` when at least half of its trials have no steady state (Barrett et al.
    2017). Trials that are too short to tell are left out unless all are.
    """
    classified = [state for state in states if state != "too short"] or list(states)
    counts = Counter(classified)
    if 2 * counts["no steady state"] >= len(classified):
        return "inconsistent"
    state, count = counts.most_common(1)[0]
    return state if 2 * count > len(classified) else "mixed"


def _without_spikes(series: NDArray[np.float64], limit: float) -> NDArray[np.float64]:
    median = ndimage.median_filter(series, 3, mode="nearest")
    return np.where(np.abs(series - median) > limit, median, series)


def _noise_variance(series: NDArray[np.float64]) -> float:
    """Return half the mean square of the steps, without the largest, which may be changes."""
    squares = np.sort(np.diff(series) ** 2)
    if squares.size == 0:
        return 0.0
    kept = squares.size - int(JUMPS * squares.size)
    typical = float(squares[:kept].mean()) / _share_of_variance(kept / squares.size)
    return (typical or float(squares.mean())) / 2


@functools.cache
def _share_of_variance(kept: float) -> float:
    """Return the mean square of the smallest part of normal values, as a share of that of all."""
    return float(distributions.chi2.cdf(distributions.chi2.ppf(kept, 1), 3)) / kept
