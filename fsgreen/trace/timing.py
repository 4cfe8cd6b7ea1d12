"""Rule 13: readings come at regular times and cover a phase."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fsgreen.trace.table import Array, Flaw

MIN_COVERAGE = 0.99
MAX_GAP_INTERVALS = 1.5
P95_TOLERANCE = 0.20

STEP_READINGS = 8
"""Number of readings on either side of a suspected step of the clock. Jitter does not move their
median."""

MOST_SUSPECTS = 1000
"""Most irregular intervals that are examined. A trace with more is flawed by jitter anyway."""

LATE_READINGS = 2
"""Most places that a reading may be overtaken by. If it is more, the clock went back."""


def timing_flaws(time_s: Array, start_s: float, end_s: float, interval_s: float) -> list[Flaw]:
    """Return the flaws of a trace's times in and around a phase.

    Their names are too-few, no-time, duplicate, out-of-order, clock-step, interval-doubling,
    jitter, gap and coverage.
    """
    reach_s = MAX_GAP_INTERVALS * interval_s
    near = _within(time_s, start_s - reach_s, end_s + reach_s)
    if len(near) < 2:
        return [Flaw(13, "too-few", f"{len(near)} readings in the phase")]
    steps_s = np.diff(near)
    if not (steps_s > 0).all():
        return list(_disorder(near))
    flaws = list(_irregular(steps_s, interval_s))
    wide = _within(time_s, start_s - STEP_READINGS * interval_s, end_s + STEP_READINGS * interval_s)
    wide_steps_s = np.diff(wide)
    backward = ~(wide_steps_s > 0)
    flaws += _clock_steps(near if backward.any() else wide, start_s, end_s, interval_s)
    if _may_touch(wide, wide_steps_s - interval_s, start_s, end_s)[backward].any():
        flaws += _disorder(wide)
    whole = steps_s <= MAX_GAP_INTERVALS * interval_s
    overlap_s = np.minimum(near[1:], end_s) - np.maximum(near[:-1], start_s)
    return [*flaws, *coverage_flaws(float(overlap_s[whole].clip(min=0).sum()), end_s - start_s)]


def jitter_flaws(p95_s: float, interval_s: float) -> Iterator[Flaw]:
    """Yield a flaw if the 95th percentile of the intervals is too far from the nominal interval."""
    if abs(p95_s - interval_s) > P95_TOLERANCE * interval_s:
        yield Flaw(13, "jitter", f"p95 interval {p95_s:.3g} s, nominal {interval_s:.3g} s")


def coverage_flaws(covered_s: float, duration_s: float) -> Iterator[Flaw]:
    """Yield a flaw if too little of a phase is covered."""
    if covered_s < MIN_COVERAGE * duration_s:
        detail = f"readings cover {100 * covered_s / duration_s:.3g} % of the phase"
        yield Flaw(13, "coverage", detail)


def _within(time_s: Array, start_s: float, end_s: float) -> Array:
    """Return the times in a span, in order of arrival, including missing times (NaN)."""
    return time_s[~((time_s < start_s) | (time_s > end_s))]


def _disorder(time_s: Array) -> Iterator[Flaw]:
    if missing := int(np.isnan(time_s).sum()):
        yield Flaw(13, "no-time", f"{missing} readings without a time")
        time_s = time_s[~np.isnan(time_s)]
    steps_s = np.diff(time_s)
    if same := int((steps_s == 0).sum()):
        yield Flaw(13, "duplicate", f"{same} readings at the time of the one before")
    back = np.flatnonzero(steps_s < 0)
    overtaken = [
        int((time_s[place + 1 : place + 2 + LATE_READINGS] <= time_s[place]).sum()) <= LATE_READINGS
        for place in back
    ]
    for name, which in (("out-of-order", True), ("clock-step", False)):
        if places := [place for place, late in zip(back, overtaken, strict=True) if late is which]:
            first = places[0]
            detail = f"{len(places)} times time goes back, at first by {-steps_s[first]:.3g} s"
            yield Flaw(13, name, f"{detail} at {time_s[first]:.6g} s")


def _irregular(steps_s: Array, interval_s: float) -> Iterator[Flaw]:
    nominal = f"nominal {interval_s:.3g} s"
    doublings = np.round(np.log2(steps_s / interval_s))
    regular = np.abs(steps_s / (interval_s * 2**doublings) - 1) <= P95_TOLERANCE
    last = doublings[-1]
    tail = np.flatnonzero(~regular | (doublings != last))
    length = len(steps_s) - 1 - (int(tail[-1]) if len(tail) else -1)
    if last >= 1 and length >= min(3, len(steps_s)):
        detail = f"the last {length} intervals are {2**last:.0f} times as long; {nominal}"
        yield Flaw(13, "interval-doubling", detail)
    yield from jitter_flaws(float(np.percentile(steps_s, 95)), interval_s)
    longest_s = float(steps_s.max())
    if longest_s > MAX_GAP_INTERVALS * interval_s:
        yield Flaw(13, "gap", f"gap of {longest_s:.3g} s, {nominal}")


def _clock_steps(time_s: Array, start_s: float, end_s: float, interval_s: float) -> Iterator[Flaw]:
    """Yield a flaw if all later readings are shifted against the earlier ones, with none missing.

    A late arrival is irregular, too, but the readings after it are in place again. The pace is the
    median over `STEP_READINGS` intervals. It follows the meter's own rate, but not a step.
    """
    lag = min(STEP_READINGS, len(time_s) // 2)
    if lag < 3:
        return
    pace_s = float(np.median(time_s[lag:] - time_s[:-lag])) / lag
    steps_s = np.diff(time_s)
    limit_s = P95_TOLERANCE * interval_s
    suspect = (np.abs(steps_s - pace_s) > limit_s) & (steps_s <= MAX_GAP_INTERVALS * interval_s)
    suspect &= _may_touch(time_s, steps_s - pace_s, start_s, end_s)
    shifts = [
        (abs(shift_s), shift_s, time_s[place])
        for place in np.flatnonzero(suspect)[:MOST_SUSPECTS] + 1
        if abs(shift_s := _shift_s(time_s, place, lag, pace_s)) > limit_s
    ]
    if shifts:
        _, shift_s, moment_s = max(shifts)
        more = f", the largest of {len(shifts)} steps" if len(shifts) > 1 else ""
        detail = f"the clock steps by {shift_s:+.3g} s at {moment_s:.6g} s{more}"
        yield Flaw(13, "clock-step", detail)


def _may_touch(time_s: Array, shifts_s: Array, start_s: float, end_s: float) -> np.ndarray:
    """Return which intervals may overlap the phase if the clock was shifted in them.

    After a clock was set back, the next reading has an early time. A step just after the start
    moves that reading before the start. A step just before the end moves the end before the last
    reading.
    """
    back_s = np.minimum(shifts_s, 0.0)
    return (time_s[:-1] + back_s < end_s) & (time_s[1:] - back_s > start_s)


def _shift_s(time_s: Array, place: int, lag: int, pace_s: float) -> float:
    """Return the shift of the times from a place on, in seconds; NaN near the ends of a trace."""
    before, after = time_s[max(0, place - lag) : place], time_s[place : place + lag]
    if min(len(before), len(after)) < 3:
        return float("nan")
    before_s = before - pace_s * np.arange(-len(before), 0)
    after_s = after - pace_s * np.arange(len(after))
    return float(np.median(after_s) - np.median(before_s))
