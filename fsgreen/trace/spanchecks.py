"""What makes a trace unfit for a phase, found while its readings pass by once."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from fsgreen.trace.checks import check_trace
from fsgreen.trace.flaw import Flaw
from fsgreen.trace.intervals import Intervals
from fsgreen.trace.meter import MeterInfo
from fsgreen.trace.powerfile import Piece
from fsgreen.trace.slots import Segments
from fsgreen.trace.table import Array
from fsgreen.trace.timing import (
    MAX_GAP_INTERVALS,
    STEP_READINGS,
    coverage_flaws,
    jitter_flaws,
    timing_flaws,
)
from fsgreen.trace.values import FINE_SHARE, HUGE, underflow_flaws, value_flaws

TAIL = 2 * STEP_READINGS
"""Readings of the piece before that are looked at again, so that nothing hides between two."""

REGULAR = 0.1
"""Intervals this near to the nominal one can hold no flaw of timing: two differ by less than the
tolerance of rule 13."""

OF_THE_WHOLE = frozenset({"too-few", "jitter", "coverage", "underflow"})
"""Flaws that a part of a trace cannot show; they are judged at the end."""

DISORDER = frozenset({"no-time", "duplicate", "out-of-order"})
"""Flaws that leave no intervals to judge."""


class SpanChecks:
    """`check_trace` for one span, a piece at a time.

    A trace of one piece is given to the checks of whole traces. Of a longer one, a piece that is
    plainly sound is passed by; any other is given to those checks. What the whole alone can show
    is counted and judged at the end. Not looked at is whether a counter agrees with the power.
    """

    def __init__(self, start_s: float, end_s: float, info: MeterInfo, under_load: bool) -> None:
        self._start_s, self._end_s = start_s, end_s
        self._info = info
        self._interval_s = 1 / info.rate_hz
        self._reach_s = MAX_GAP_INTERVALS * self._interval_s
        self._under_load = under_load
        self._only: Piece | None = None
        self._tail: Piece | None = None
        self._intervals = Intervals(self._interval_s)
        self._last_s = self._last_wh = float("nan")
        self._count = 0
        self._covered_s = self._sum_w = 0.0
        self._details: dict[tuple[int, str], list[str]] = {}
        self._doubling: Flaw | None = None

    def feed(self, piece: Piece, segments: Segments | None) -> None:
        """Take the next readings, and what lies between them where their times rise."""
        self._only = piece if self._tail is None else None
        near = self._near(piece.time_s, rising=segments is not None)
        time_s, power_w = piece.time_s[near], piece.power_w[near]
        if len(time_s):
            if segments is None or len(time_s) < len(piece.time_s):
                segments = Segments.between(time_s, power_w)
            self._doubling = None
            begin_s = float(time_s[0])
            link_s = begin_s - self._last_s
            regular = [
                self._count == 0 or self._add(self._last_s, time_s[:1], link_s, link_s),
                self._add(begin_s, time_s[1:], segments.least_s, segments.most_s),
            ]
            self._count += len(time_s)
            self._last_s = float(time_s[-1])
            sum_w = float(power_w.sum())
            self._sum_w += sum_w
            plain = piece.codes is None and piece.voltage_v is None and piece.current_a is None
            valid = plain and math.isfinite(sum_w)
            if not (valid and all(regular) and self._is_sound(power_w, piece.bounds_w)):
                self._examine(piece)
            if piece.energy_wh is not None:
                self._follow_counter(piece.energy_wh[near])
        self._tail = piece.part(max(0, len(piece.time_s) - TAIL), len(piece.time_s))

    def flaws(self) -> list[Flaw]:
        """Return what was found: the first of each kind, and in how many more pieces it is."""
        if self._only is not None:
            span = self._start_s, self._end_s
            rate_hz, load = self._info.rate_hz, self._under_load
            return check_trace(self._only.frame(), *span, rate_hz, under_load=load, info=self._info)
        flaws = [
            Flaw(rule, name, details[0] + (f", and {len(details) - 1} more" * (len(details) > 1)))
            for (rule, name), details in self._details.items()
        ]
        if self._count < 2:
            flaws.append(Flaw(13, "too-few", f"{self._count} readings in the phase"))
        elif not DISORDER & {flaw.name for flaw in flaws}:
            flaws += [] if self._doubling is None else [self._doubling]
            p95_s = self._intervals.percentile_95_s()
            flaws += [] if p95_s is None else jitter_flaws(p95_s, self._interval_s)
            flaws += coverage_flaws(self._covered_s, self._end_s - self._start_s)
        if self._under_load:
            flaws += underflow_flaws(self._sum_w / max(self._count, 1), self._info)
        return sorted(flaws, key=lambda flaw: flaw.rule)

    def _near(self, time_s: Array, rising: bool) -> slice | Array:
        first_s, last_s = self._start_s - self._reach_s, self._end_s + self._reach_s
        if rising:
            first = int(np.searchsorted(time_s, first_s, side="left"))
            return slice(first, int(np.searchsorted(time_s, last_s, side="right")))
        near: Array = ~((time_s < first_s) | (time_s > last_s))
        return near

    def _is_sound(self, power_w: Array, bounds_w: tuple[float, float] | None) -> bool:
        """Return whether no power can be a flaw; what is known to bound it may tell that too."""
        in_range = bounds_w is not None and self._in_range(*bounds_w)
        return in_range or self._in_range(float(power_w.min()), float(power_w.max()))

    def _in_range(self, least_w: float, most_w: float) -> bool:
        info = self._info
        coarse = info.boundary == "modelled" or info.resolution_w > FINE_SHARE * most_w
        return coarse and least_w > 0 and most_w <= min(info.range_w, HUGE)

    def _examine(self, piece: Piece) -> None:
        """Give a piece, and the readings before it, to the checks of whole traces."""
        parts = [piece] if self._tail is None else [self._tail, piece]
        frame = pd.concat([part.frame() for part in parts], ignore_index=True)
        time_s = frame["time_s"].to_numpy(float)
        near = frame[np.asarray(self._near(time_s, rising=False))]
        flaws = timing_flaws(time_s, self._start_s, self._end_s, self._interval_s)
        flaws += value_flaws(near, self._info, self._under_load)
        for flaw in flaws:
            if flaw.name == "interval-doubling":
                self._doubling = flaw  # of the end of the trace, if another piece does not follow
            elif flaw.name not in OF_THE_WHOLE:
                details = self._details.setdefault((flaw.rule, flaw.name), [])
                details += [flaw.detail] * (flaw.detail not in details)

    def _add(self, begin_s: float, ends_s: Array, least_s: float, most_s: float) -> bool:
        """Add segments that follow each other, of which these are the shortest and the longest.

        Returns whether all are regular.
        """
        if len(ends_s) == 0:
            return True
        if not least_s > 0:
            return False
        if self._intervals.are_within(least_s, most_s):
            self._intervals.add(len(ends_s), least_s, most_s)
        else:
            self._intervals.feed(np.diff(ends_s, prepend=begin_s))
        if most_s <= self._reach_s:
            overlap_s = min(float(ends_s[-1]), self._end_s) - max(begin_s, self._start_s)
            self._covered_s += max(0.0, overlap_s)
        else:
            begins_s = np.append(begin_s, ends_s[:-1])
            parts_s = np.minimum(ends_s, self._end_s) - np.maximum(begins_s, self._start_s)
            self._covered_s += float(parts_s[ends_s - begins_s <= self._reach_s].clip(min=0).sum())
        low_s, high_s = (1 - REGULAR) * self._interval_s, (1 + REGULAR) * self._interval_s
        return least_s >= low_s and most_s <= high_s

    def _follow_counter(self, energy_wh: Array) -> None:
        known = energy_wh[np.isfinite(energy_wh)]
        if len(known):
            # Before the first value there is NaN, than which nothing is less.
            if known[0] < self._last_wh or (np.diff(known) < 0).any():
                self._details[21, "reset"] = ["the meter's energy counter went back"]
            self._last_wh = float(known[-1])
