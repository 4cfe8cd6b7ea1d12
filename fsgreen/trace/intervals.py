"""Counts the intervals between readings of a trace that comes in pieces, for a percentile."""

from __future__ import annotations

from collections import Counter

import numpy as np

from fsgreen.trace.table import Array
from fsgreen.trace.timing import P95_TOLERANCE

KEY_SHIFT = 40
"""Bits of a float64 that are dropped to count an interval, which is known to 1 part in 4096."""


class Intervals:
    """Counts of intervals: those within the tolerance of rule 13 together, others by length."""

    def __init__(self, nominal_s: float) -> None:
        self._nominal_s = nominal_s
        self._within = 0
        self._least_within_s, self._most_within_s = float("inf"), 0.0
        self._beyond: Counter[int] = Counter()

    def are_within(self, least_s: float, most_s: float) -> bool:
        """Return whether all intervals between these two are within the tolerance."""
        low_s, high_s = (1 - P95_TOLERANCE) * self._nominal_s, (1 + P95_TOLERANCE) * self._nominal_s
        return low_s <= least_s and most_s <= high_s

    def add(self, count: int, least_s: float, most_s: float) -> None:
        """Add a number of intervals within the tolerance, with the shortest and the longest."""
        self._within += count
        self._least_within_s = min(self._least_within_s, least_s)
        self._most_within_s = max(self._most_within_s, most_s)

    def feed(self, steps_s: Array) -> None:
        """Add intervals, which must be above 0."""
        inside = np.abs(steps_s - self._nominal_s) <= P95_TOLERANCE * self._nominal_s
        keys, counts = np.unique(steps_s[~inside].view(np.int64) >> KEY_SHIFT, return_counts=True)
        self._beyond.update(dict(zip(keys.tolist(), counts.tolist(), strict=True)))
        if inside.any():
            within_s = steps_s[inside]
            self.add(len(within_s), float(within_s.min()), float(within_s.max()))

    def percentile_95_s(self) -> float | None:
        """Return the 95th percentile of the intervals; None if there are none.

        It is exact only outside the tolerance. Within it, only the shortest and the longest
        interval are known.
        """
        keys = np.array(sorted(self._beyond), dtype=np.int64)
        middles = (keys << KEY_SHIFT) + (1 << KEY_SHIFT - 1)
        lengths_s, counts = middles.view(np.float64), [self._beyond[int(key)] for key in keys]
        short = int(np.searchsorted(lengths_s, self._nominal_s))
        within_s = [self._least_within_s, self._nominal_s, self._most_within_s]
        of_within = [min(1, self._within), max(0, self._within - 2), int(self._within > 1)]
        reached = np.cumsum(np.insert(counts, [short] * 3, of_within))
        if reached[-1] == 0:
            return None
        rank = 0.95 * (reached[-1] - 1)
        places = np.searchsorted(reached, [int(rank), int(np.ceil(rank))], side="right")
        lower_s, upper_s = np.insert(lengths_s, [short] * 3, within_s)[places]
        return float(lower_s + (rank - int(rank)) * (upper_s - lower_s))
