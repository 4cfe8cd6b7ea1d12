"""Steady state inside a trial: changepoints of a per-second series and what they mean."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fsgreen.stats import distributions
from fsgreen.stats.sample import Floats

State = Literal["flat", "warm-up", "slow-down", "no steady state", "too short"]

WHOLE = "whole"
"""In place of a state: the trial did a fixed amount of work to its end.

Its mean is that work over the time it took, at whatever levels it went. A steady state is asked of
trials that measure a rate until their time is over.
"""

SHORTEST_SEGMENT = 2
"""Samples; a single one is an outlier. Of three, a trial of ten seconds could not show that it
changed in its last quarter."""

SHORTEST_SERIES = 6
"""Samples, below which a series is too short to tell its noise from its levels."""

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

SHORTEST_SETTLED = math.floor(SHORTEST_SEGMENT / TAIL) + 1
"""Samples from which on a segment fits into that quarter, so that its change can be seen."""

PER_CHANGE = 3.0
"""Times ln(n) that a change must gain (Zhang & Siegmund 2007)."""

MOST_KEPT = 0.95
"""Largest share of its distance from the level that a second is taken to hand on to the next."""


def changepoints(values: ArrayLike) -> list[int]:
    """Return the indices at which a new mean begins, by exact segmentation.

    Optimal partitioning (Jackson et al. 2005) of the squared error under the modified BIC penalty
    of 3 ln(n) noise variances per change (Zhang & Siegmund 2007). The noise is estimated from the
    smaller first differences, which the changes themselves hardly inflate; single outliers are set
    to the median of their neighbours first, as in Barrett et al. 2017 (section 4.1).

    Seconds that depend on those before them wander, which looks like changes. So the changes must
    say more, by the same criterion, than one level around which seconds are an AR(1) series; where
    they do not, only changes are returned that stand out from the noise of such a series. What is
    found of either, and how often, is in docs/statistics.md.

    `values`, shape (n,), are a series at equal distances in time. Raises ValueError if a value is
    NaN or infinite.
    """
    raw = np.asarray(values, dtype=float)
    if not np.isfinite(raw).all():
        raise ValueError("a series needs finite values")
    noise = _noise_variance(raw)
    if raw.size < SHORTEST_SERIES or noise == 0:
        return []
    series = _without_spikes(raw, 4 * math.sqrt(noise))
    series -= series.mean()
    changes = _segmented(series, noise)
    if not changes or _beats_dependence(changes, series):
        return changes
    return _segmented(series, noise * _long_run(raw))


def _segmented(series: Floats, noise: float) -> list[int]:
    """Return the changes of the cheapest segmentation, each at the cost of the penalty."""
    n = series.size
    penalty = PER_CHANGE * math.log(n) * noise
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


def _beats_dependence(changes: Sequence[int], series: Floats) -> bool:
    """Return whether changes tell more of a centred series than an AR(1) around one level does.

    By the criterion that found them, of which the AR(1) pays ln(n) for its coefficient.
    """
    n = series.size
    parts = np.split(series, changes)
    error = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
    before, after = series[:-1], series[1:]
    kept = min(max(float(before @ after) / float(before @ before), 0.0), 1.0)
    wandering = float(((after - kept * before) ** 2).sum()) + (1 - kept**2) * float(series[0]) ** 2
    cost = (PER_CHANGE * len(changes) - 1) * math.log(n)
    return wandering > error * math.exp(cost / n)


def _long_run(series: Floats) -> float:
    """Return how many times the noise of first differences an AR(1) series has in its means.

    Its coefficient follows from second over first differences, which do not know the level (Chakar
    et al. 2017, section 2.1), both without the largest.
    """
    first, second = (_typical((series[lag:] - series[:-lag]) ** 2) for lag in (1, 2))
    kept = min(max(second / first - 1, 0.0), MOST_KEPT) if first else MOST_KEPT
    return (1 + kept) / (1 - kept) ** 2


def classify_series(values: ArrayLike, same_level: float = SAME_LEVEL) -> State:
    """Return the class of one trial after Barrett et al. 2017 (section 4.2).

    flat: one level. warm-up: it ends on its highest level. slow-down: it ends below an earlier
    level. no steady state: the level still changes in the last quarter. too short: no change could
    have been seen. The words are those for a rate; of power they say rise and fall.

    `values`, shape (n,), are a series at equal distances in time. `same_level` is the share by
    which levels may differ and count as one: `SAME_LEVEL` for rates, `SAME_POWER` for power (rule
    23).
    """
    series = np.asarray(values, dtype=float)
    if series.size < SHORTEST_SERIES:
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
    2017). Trials that are too short to tell are left out unless all are. It is `whole` where trials
    did a fixed amount of work (`WHOLE`).
    """
    classified = [state for state in states if state != "too short"] or list(states)
    counts = Counter(classified)
    if 2 * counts["no steady state"] >= len(classified):
        return "inconsistent"
    state, count = counts.most_common(1)[0]
    return state if 2 * count > len(classified) else "mixed"


def _without_spikes(series: Floats, limit: float) -> Floats:
    median = scipy.ndimage.median_filter(series, 3, mode="nearest")
    return np.where(np.abs(series - median) > limit, median, series)


def _noise_variance(series: Floats) -> float:
    """Return half the mean square of the steps, without the largest, which may be changes."""
    return _typical(np.diff(series) ** 2) / 2


def _typical(squares: Floats) -> float:
    """Return the mean of squares of normal values from the smaller of them; 0.0 of none."""
    if squares.size == 0:
        return 0.0
    kept = squares.size - int(JUMPS * squares.size)
    smaller = float(np.sort(squares)[:kept].mean()) / _share_of_variance(kept / squares.size)
    return smaller or float(squares.mean())


@functools.cache
def _share_of_variance(kept: float) -> float:
    """Return the mean square of the smallest part of normal values, as a share of that of all."""
    return float(distributions.chi2_cdf(distributions.chi2_quantile(kept, 1), 3)) / kept
