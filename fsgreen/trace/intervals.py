"""The 95th percentile of any number of intervals, as far as it is beyond its tolerance."""

from __future__ import annotations

import numpy as np

from fsgreen.trace.table import Array
from fsgreen.trace.timing import P95_TOLERANCE

KEY_SHIFT = 40
"""Bits of a float64 that a counted interval does without: it is known to 1 part in 4096."""


class Intervals:
    """Counts of intervals: those within the tolerance of rule 13 together, others by length."""

    def __init__(self, nominal_s: float) -> None:
        self._nominal_s = nominal_s
        self._low_s = (1 - P95_TOLERANCE) * nominal_s
        self._high_s = (1 + P95_TOLERANCE) * nominal_s
        self._within = 0
        self._least_within_s, self._most_within_s = float("inf"), 0.0
        self._beyond: dict[int, int] = {}

    def hold(self, least_s: float, most_s: float) -> bool:
        """Return whether all intervals between these two are within the tolerance."""
        return self._low_s <= least_s and most_s <= self._high_s

    def add(self, count: int, least_s: float, most_s: float) -> None:
        """Count intervals within the tolerance, of which these are the shortest and the longest."""
        self._within += count
        self._least_within_s = min(self._least_within_s, least_s)
        self._most_within_s = max(self._most_within_s, most_s)

    def feed(self, steps_s: Array) -> None:
        """Count intervals above 0."""
        inside = (steps_s >= self._low_s) & (steps_s <= self._high_s)
        beyond = steps_s[~inside].view(np.int64) >> KEY_SHIFT
        for key, count in zip(*np.unique(beyond, return_counts=True), strict=True):
            self._beyond[int(key)] = self._beyond.get(int(key), 0) + int(count)
        if inside.any():
            within_s = steps_s[inside]
            self.add(len(within_s), float(within_s.min()), float(within_s.max()))

    def percentile_95_s(self) -> float | None:
        """Return the 95th percentile where it is beyond its tolerance, else None."""
        count = self._within + sum(self._beyond.values())
        if count == 0:
            return None
        rank = 0.95 * (count - 1)
        below, share = int(rank), rank - int(rank)
        lower_s, upper_s = self._ranked_s(below), self._ranked_s(below + (share > 0))
        if lower_s is None and upper_s is None:
            return None
        # Of two neighbours in rank, the one within the tolerance is its extreme.
        lower_s = self._most_within_s if lower_s is None else lower_s
        upper_s = self._least_within_s if upper_s is None else upper_s
        p95_s = lower_s + share * (upper_s - lower_s)
        return p95_s if abs(p95_s - self._nominal_s) > P95_TOLERANCE * self._nominal_s else None

    def _ranked_s(self, rank: int) -> float | None:
        """Return the interval of a rank, counted from 0; None if it is within the tolerance."""
        keys = sorted(self._beyond)
        short = [key for key in keys if _length_s(key) < self._nominal_s]
        for key in short:
            rank -= self._beyond[key]
            if rank < 0:
                return _length_s(key)
        rank -= self._within
        if rank < 0:
            return None
        for key in keys[len(short) :]:
            rank -= self._beyond[key]
            if rank < 0:
                break
        return _length_s(key)


def _length_s(key: int) -> float:
    """Return the middle of the intervals that have a key."""
    bits = np.int64((key << KEY_SHIFT) + (1 << KEY_SHIFT - 1))
    return float(bits.view(np.float64))
