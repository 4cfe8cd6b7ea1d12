"""Rules 13, 14 and 21: the flaws of a trace, whole or in pieces, and the identity of a meter."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pandas as pd

from fsgreen.trace.intervals import Intervals
from fsgreen.trace.meter import MeterInfo
from fsgreen.trace.powerfile import PIECE_COUNT, Piece
from fsgreen.trace.slots import Segments
from fsgreen.trace.table import Array, Flaw, check_units, numbers
from fsgreen.trace.timing import (
    MAX_GAP_INTERVALS,
    STEP_READINGS,
    coverage_flaws,
    jitter_flaws,
    timing_flaws,
)
from fsgreen.trace.values import FINE_SHARE, HUGE, counter_flaws, underflow_flaws, value_flaws

HELD = PIECE_COUNT
"""Number of readings near a span that are held before they are checked; at least `TAIL`. For fewer
readings, the result does not depend on the pieces in which they come."""

TAIL = 4 * STEP_READINGS
"""Number of readings that are checked again with the next block, so that no flaw is missed between
two blocks. A step of the clock changes the pace over `STEP_READINGS` readings, and most readings
must show the meter's own pace."""

REGULAR = 0.1
"""Intervals within this share of the nominal one cannot have a flaw of timing, as any two of them
differ by less than the tolerance of rule 13."""

OF_THE_WHOLE = frozenset({"too-few", "jitter", "coverage", "underflow"})
"""Flaws that only a whole trace can show. They are judged at the end."""

DISORDER = frozenset({"no-time", "duplicate", "out-of-order"})
"""Flaws after which intervals cannot be judged."""


def check_trace(
    readings: pd.DataFrame,
    phase_start_s: float,
    phase_end_s: float,
    rate_hz: float,
    *,
    under_load: bool = True,
    info: MeterInfo | None = None,
) -> list[Flaw]:
    """Return the flaws that make a trace unfit for a phase, by rules 13, 14 and 21.

    `rate_hz` is the nominal rate of the meter. If `under_load`, a reading of 0 W is a flaw (rule
    14); it is not for a part that may draw nothing, such as a disk that is spun down. With `info`,
    the meter's range and resolution are checked, too. Raises FsgreenError if a column lacks a unit
    or has a wrong one.
    """
    time_s = numbers(check_units(readings), "time_s")
    reach_s = MAX_GAP_INTERVALS / rate_hz
    near = readings[~((time_s < phase_start_s - reach_s) | (time_s > phase_end_s + reach_s))]
    flaws = timing_flaws(time_s, phase_start_s, phase_end_s, 1 / rate_hz)
    timed = not flaws
    flaws += value_flaws(near, info, under_load)
    if "energy_wh" in near:
        counted = (numbers(near, name) for name in ("time_s", "power_w", "energy_wh"))
        flaws += counter_flaws(*counted, timed=timed)
    return flaws


def identity_flaws(before: MeterInfo, now: MeterInfo) -> list[Flaw]:
    """Return what changed in the description of a meter (rule 21); empty if it is the same."""
    return [
        Flaw(21, f.name, f"{f.name} of the meter changed from {old!r} to {new!r}")
        for f in fields(MeterInfo)
        if (old := getattr(before, f.name)) != (new := getattr(now, f.name))
    ]


class SpanChecks:
    """`check_trace` for one span, whose readings come in pieces.

    The readings are held, and checked as a whole trace at the end. If there are many, each block of
    `HELD` readings is checked, unless it and the previous block are plainly sound. Flaws that only
    the whole trace can show are counted, and judged at the end. Then the agreement of an energy
    counter with the power is not checked.
    """

    def __init__(self, start_s: float, end_s: float, info: MeterInfo) -> None:
        self._start_s, self._end_s = start_s, end_s
        self._info = info
        self._interval_s = 1 / info.rate_hz
        self._reach_s = MAX_GAP_INTERVALS * self._interval_s
        self._wide_reach_s = STEP_READINGS * self._interval_s
        self._held: list[Piece] = []
        self._held_count = 0
        self._is_whole = True
        self._is_suspect = self._was_suspect = False
        self._intervals = Intervals(self._interval_s)
        self._last_s = self._last_wh = float("nan")
        self._count = 0
        self._covered_s = self._sum_w = 0.0
        self._details: dict[tuple[int, str], list[str]] = {}
        self._doubling: Flaw | None = None

    def feed(self, piece: Piece, segments: Segments | None) -> None:
        """Add the next readings. `segments` are those between them; None if times do not rise."""
        rising = segments is not None
        wide = self._within(self._wide_reach_s, piece.time_s, rising)
        count = len(piece.time_s[wide])
        if count == 0:
            return
        if count < len(piece.time_s):
            piece, segments = piece.at(wide), None
        if segments is None:
            segments = Segments.between(piece.time_s, piece.power_w)
        is_regular = self._are_regular(segments.least_s, segments.most_s)
        if self._held:
            link_s = float(piece.time_s[0] - self._held[-1].time_s[-1])
            is_regular &= self._are_regular(link_s, link_s)
        near = self._within(self._reach_s, piece.time_s, rising)
        is_sound = self._count_near(piece, near, segments)
        self._is_suspect |= not (is_regular and is_sound)
        self._held.append(piece)
        self._held_count += count
        if self._held_count >= HELD:
            self._end_block()

    def flaws(self) -> list[Flaw]:
        """Return the flaws: the first of each kind, and the number of further blocks with it."""
        if self._is_whole and self._held:
            span = self._start_s, self._end_s
            return check_trace(self._frame(), *span, self._info.rate_hz, info=self._info)
        if self._held_count:
            self._end_block()
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
        flaws += underflow_flaws(self._sum_w / max(self._count, 1), self._info)
        return sorted(flaws, key=lambda flaw: flaw.rule)

    def _within(self, reach_s: float, time_s: Array, rising: bool) -> slice | Array:
        """Return the places of times within `reach_s` of the span, and of missing times."""
        first_s, last_s = self._start_s - reach_s, self._end_s + reach_s
        if rising:
            first = int(np.searchsorted(time_s, first_s, side="left"))
            return slice(first, int(np.searchsorted(time_s, last_s, side="right")))
        within: Array = ~((time_s < first_s) | (time_s > last_s))
        return within

    def _are_regular(self, least_s: float, most_s: float) -> bool:
        low_s, high_s = (1 - REGULAR) * self._interval_s, (1 + REGULAR) * self._interval_s
        return least_s >= low_s and most_s <= high_s

    def _count_near(self, piece: Piece, near: slice | Array, segments: Segments) -> bool:
        """Count the readings of a piece that rules 13 and 14 judge.

        Return whether their values are plainly sound.
        """
        time_s, power_w = piece.time_s[near], piece.power_w[near]
        if len(time_s) == 0:
            return True
        if len(time_s) < len(piece.time_s):
            segments = Segments.between(time_s, power_w)
        begin_s = float(time_s[0])
        if self._count:
            link_s = begin_s - self._last_s
            self._add(self._last_s, time_s[:1], link_s, link_s)
        self._add(begin_s, time_s[1:], segments.least_s, segments.most_s)
        self._count += len(time_s)
        self._last_s = float(time_s[-1])
        sum_w = float(power_w.sum())
        self._sum_w += sum_w
        if piece.energy_wh is not None:
            self._follow_counter(piece.energy_wh[near])
        plain = piece.codes is None and piece.voltage_v is None and piece.current_a is None
        return plain and math.isfinite(sum_w) and self._is_sound(power_w, piece.bounds_w)

    def _is_sound(self, power_w: Array, bounds_w: tuple[float, float] | None) -> bool:
        """Return whether no power can be a flaw, by its known bounds or by the values."""
        in_range = bounds_w is not None and self._in_range(*bounds_w)
        return in_range or self._in_range(float(power_w.min()), float(power_w.max()))

    def _in_range(self, least_w: float, most_w: float) -> bool:
        info = self._info
        coarse = info.boundary == "modelled" or info.resolution_w > FINE_SHARE * most_w
        return coarse and least_w > 0 and most_w <= min(info.range_w, HUGE)

    def _frame(self) -> pd.DataFrame:
        return pd.concat([piece.frame() for piece in self._held], ignore_index=True)

    def _end_block(self) -> None:
        """Check the held readings if they may have a flaw, and keep only the last ones."""
        self._doubling = None
        if self._is_suspect or self._was_suspect:
            self._examine(self._frame())
        self._was_suspect, self._is_suspect = self._is_suspect, False
        self._is_whole = False
        self._held_count = 0
        pieces, self._held = self._held, []
        missing = TAIL
        while pieces and missing:
            piece = pieces.pop()
            count = len(piece.time_s)
            self._held.insert(0, piece.part(max(0, count - missing), count))
            missing -= min(missing, count)

    def _examine(self, frame: pd.DataFrame) -> None:
        """Record the flaws that the checks of whole traces find in some readings."""
        time_s = frame["time_s"].to_numpy(float)
        near = frame[np.asarray(self._within(self._reach_s, time_s, rising=False))]
        flaws = timing_flaws(time_s, self._start_s, self._end_s, self._interval_s)
        flaws += value_flaws(near, self._info, under_load=True)
        for flaw in flaws:
            if flaw.name == "interval-doubling":
                self._doubling = flaw  # it counts only at the end of the trace
            elif flaw.name not in OF_THE_WHOLE:
                details = self._details.setdefault((flaw.rule, flaw.name), [])
                details += [flaw.detail] * (flaw.detail not in details)

    def _add(self, begin_s: float, ends_s: Array, least_s: float, most_s: float) -> None:
        """Add adjacent segments, with the lengths of the shortest and of the longest."""
        if len(ends_s) == 0 or not least_s > 0:
            return
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

    def _follow_counter(self, energy_wh: Array) -> None:
        known = energy_wh[np.isfinite(energy_wh)]
        if len(known):
            # Before the first value, `_last_wh` is NaN, and the comparison is False.
            if known[0] < self._last_wh or (np.diff(known) < 0).any():
                self._details[21, "reset"] = ["the meter's energy counter went back"]
            self._last_wh = float(known[-1])
