"""What makes a trace unfit for a phase, found while its readings pass by once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fsgreen.trace.flaw import REMARKS, Flaw, rule_of
from fsgreen.trace.powerfile import Floats, Piece
from fsgreen.trace.timing import MAX_GAP_INTERVALS, MIN_COVERAGE, P95_TOLERANCE

VALUE_FLAWS = {
    "no-value": "without a finite value",
    "sentinel": "below 0 W",
    "zero": "of 0 W under load",
}

KEY_SHIFT = 40
"""Bits of a float64 that a counted interval does without: it is known to 1 part in 4096."""


class SpanChecks:
    """`check_trace` for one span, a piece at a time.

    The flaws are those of the whole trace that can be found in passing: all but clock-step,
    interval-doubling, stuck, underflow and what contradicts the meter's counter. Only where the
    95th percentile of the intervals is beyond its tolerance is it given as accurately as
    `KEY_SHIFT` says.
    """

    def __init__(self, start_s: float, end_s: float, rate_hz: float, under_load: bool) -> None:
        self._start_s, self._end_s = start_s, end_s
        self._interval_s = 1 / rate_hz
        self._reach_s = MAX_GAP_INTERVALS * self._interval_s
        self._under_load = under_load
        self._count = 0
        self._last_s = float("nan")
        self._last_wh = float("nan")
        self._rising = True
        self._intervals = _Intervals(self._interval_s)
        self._covered_s = 0.0
        self._values = dict.fromkeys(VALUE_FLAWS, 0)
        self._flags: dict[str, int] = {}
        self._went_back = False

    def feed(self, piece: Piece, rising: bool) -> None:
        """Take the next readings; `rising`: their times are known to rise."""
        near = self._near(piece.time_s, rising)
        time_s = piece.time_s[near]
        if len(time_s) == 0:
            return
        self._feed_times(time_s)
        self._feed_values(piece.power_w[near])
        if piece.codes is not None:
            self._feed_flags(piece.codes[near], piece.qualities)
        if piece.energy_wh is not None:
            self._feed_counter(piece.energy_wh[near])

    def flaws(self) -> list[Flaw]:
        """Return what was found, as `check_trace` lists it."""
        found = self._timing_flaws()
        for name, count in self._values.items():
            if count:
                found.append(Flaw(14, name, f"{count} readings {VALUE_FLAWS[name]}"))
        for flag, count in sorted(self._flags.items()):
            found.append(Flaw(rule_of(flag), flag, f"{count} readings marked {flag}"))
        if self._went_back:
            found.append(Flaw(21, "reset", "the meter's energy counter went back"))
        return found

    def _near(self, time_s: Floats, rising: bool) -> slice | NDArray[np.bool_]:
        first_s, last_s = self._start_s - self._reach_s, self._end_s + self._reach_s
        if rising:
            first = int(np.searchsorted(time_s, first_s, side="left"))
            return slice(first, int(np.searchsorted(time_s, last_s, side="right")))
        near: NDArray[np.bool_] = (time_s >= first_s) & (time_s <= last_s) | np.isnan(time_s)
        return near

    def _feed_times(self, time_s: Floats) -> None:
        if self._count:
            time_s = np.concatenate(([self._last_s], time_s))
        self._count += len(time_s) - (self._count > 0)
        self._last_s = float(time_s[-1])
        if len(time_s) < 2 or not self._rising:
            return
        steps_s = np.diff(time_s)
        least_s, most_s = float(steps_s.min()), float(steps_s.max())
        if not least_s > 0:
            self._rising = False
            return
        self._intervals.feed(steps_s, least_s, most_s)
        if most_s <= self._reach_s:
            overlap_s = min(time_s[-1], self._end_s) - max(time_s[0], self._start_s)
            self._covered_s += max(0.0, float(overlap_s))
        else:
            parts_s = np.minimum(time_s[1:], self._end_s) - np.maximum(time_s[:-1], self._start_s)
            self._covered_s += float(parts_s[steps_s <= self._reach_s].clip(min=0).sum())

    def _feed_values(self, power_w: Floats) -> None:
        if power_w.min() > 0 and power_w.max() < np.inf:
            return
        bad = (~np.isfinite(power_w), power_w < 0, (power_w == 0) & self._under_load)
        for what, which in zip(self._values, bad, strict=True):
            self._values[what] += int(which.sum())

    def _feed_flags(self, codes: NDArray[np.int32], qualities: Sequence[str]) -> None:
        counts = np.bincount(codes, minlength=len(qualities))
        for quality, count in zip(qualities, counts.tolist(), strict=True):
            for flag in set(quality.split("|")) - REMARKS if count else ():
                self._flags[flag] = self._flags.get(flag, 0) + count

    def _feed_counter(self, energy_wh: Floats) -> None:
        known = energy_wh[np.isfinite(energy_wh)]
        if len(known):
            # A NaN, before the first value, compares as not less.
            self._went_back |= bool(known[0] < self._last_wh or (np.diff(known) < 0).any())
            self._last_wh = float(known[-1])

    def _timing_flaws(self) -> list[Flaw]:
        if self._count < 2:
            return [Flaw(13, "too-few", f"{self._count} readings in the phase")]
        if not self._rising:
            return [Flaw(13, "out-of-order", "times are not unique and rising")]
        flaws = []
        nominal_s, longest_s = self._interval_s, self._intervals.longest_s
        p95_s = self._intervals.percentile_95_s()
        if p95_s is not None:
            flaws.append(
                Flaw(13, "jitter", f"p95 interval {p95_s:.3g} s, nominal {nominal_s:.3g} s")
            )
        if longest_s > self._reach_s:
            flaws.append(Flaw(13, "gap", f"gap of {longest_s:.3g} s, nominal {nominal_s:.3g} s"))
        coverage = self._covered_s / (self._end_s - self._start_s)
        if coverage < MIN_COVERAGE:
            detail = f"readings cover {100 * coverage:.3g} % of the phase"
            flaws.append(Flaw(13, "coverage", detail))
        return flaws


class _Intervals:
    """Counts of intervals: those within the tolerance of rule 13 together, others by length."""

    def __init__(self, nominal_s: float) -> None:
        self._nominal_s = nominal_s
        self._low_s = (1 - P95_TOLERANCE) * nominal_s
        self._high_s = (1 + P95_TOLERANCE) * nominal_s
        self._within = 0
        self._least_within_s, self._most_within_s = float("inf"), 0.0
        self._beyond: dict[int, int] = {}
        self.longest_s = 0.0

    def feed(self, steps_s: Floats, least_s: float, most_s: float) -> None:
        """Count intervals, of which these are the shortest and the longest."""
        self.longest_s = max(self.longest_s, most_s)
        if least_s < self._low_s or most_s > self._high_s:
            inside = (steps_s >= self._low_s) & (steps_s <= self._high_s)
            keys, counts = np.unique(
                steps_s[~inside].view(np.int64) >> KEY_SHIFT, return_counts=True
            )
            for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
                self._beyond[key] = self._beyond.get(key, 0) + count
            steps_s = steps_s[inside]
            if len(steps_s) == 0:
                return
            least_s, most_s = float(steps_s.min()), float(steps_s.max())
        self._within += len(steps_s)
        self._least_within_s = min(self._least_within_s, least_s)
        self._most_within_s = max(self._most_within_s, most_s)

    def percentile_95_s(self) -> float | None:
        """Return the 95th percentile where it is beyond its tolerance, else None."""
        rank = 0.95 * (self._within + sum(self._beyond.values()) - 1)
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
        short = sorted(key for key in self._beyond if _length_s(key) < self._nominal_s)
        long = sorted(self._beyond.keys() - set(short))
        for key in short:
            rank -= self._beyond[key]
            if rank < 0:
                return _length_s(key)
        rank -= self._within
        for key in long if rank >= 0 else ():
            rank -= self._beyond[key]
            if rank < 0:
                return _length_s(key)
        return None


def _length_s(key: int) -> float:
    """Return the middle of the intervals that have a key."""
    bits = np.int64((key << KEY_SHIFT) + (1 << KEY_SHIFT - 1))
    return float(bits.view(np.float64))
