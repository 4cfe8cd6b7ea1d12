"""Rules 14 and 21: each reading is a true value, and the meter's counter agrees with the power."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

from fsgreen.trace.meter import MeterInfo
from fsgreen.trace.table import REMARKS, Array, Flaw, flags, numbers, rule_of
from fsgreen.units import JOULES_PER_WH

HUGE = 9e36
"""Larger values are marks: instruments send 9.9e37 for "over range" and 9.91e37 for "not a number"
(SCPI-99, 7.2.1.4)."""

MAX_QUANTISATION_SHARE = 0.02
"""Largest share of the mean power for half a step of the meter (the target of rule 16)."""

STUCK_READINGS = 10
FINE_SHARE = 1e-4
"""A meter is stuck if it gives `STUCK_READINGS` equal readings in a row although its step is below
this share of the power."""

AGREEMENT = 0.03
AGREEMENT_W = 2.4
"""Largest difference between the counter and the power of a sound meter, as a share and in watts.
Watts Up logs show 3 % at 42 W, and up to 47 % (2.35 W) below 5 W. Beyond the sum of both, counter
or power is wrong."""


def value_flaws(near: pd.DataFrame, info: MeterInfo | None, under_load: bool) -> Iterator[Flaw]:
    """Yield the flaws of readings whose value breaks rule 14, or whose flag breaks 13, 14 or 21.

    Their names are no-value, sentinel, zero, over-range, underflow, stuck, or the flag itself.
    """
    power_w = numbers(near, "power_w")
    range_w, slack_w = (HUGE, 0.0) if info is None else (info.range_w, info.constant_error_w)
    over = np.isfinite(power_w) & (power_w > min(range_w, HUGE))
    for name, what, bad in (
        ("no-value", "without a finite value", ~np.isfinite(power_w)),
        ("sentinel", "below 0 W", power_w < -slack_w),
        ("zero", "of 0 W under load", (power_w == 0) & under_load),
        ("over-range", f"above {min(range_w, HUGE):g} W", over),
    ):
        if bad.any():
            yield Flaw(14, name, f"{int(bad.sum())} readings {what}")
    for column in ("voltage_v", "current_a", "energy_wh"):
        if column in near and (huge := int((numbers(near, column) >= HUGE).sum())):
            yield Flaw(14, "over-range", f"{huge} readings with {column} over range")
    if info is not None and len(power_w) and np.isfinite(power_w).all():
        yield from _resolution(power_w, info, under_load)
    counts = Counter(flag for _, names in flags(near) for flag in names - REMARKS)
    for flag, count in sorted(counts.items()):
        yield Flaw(rule_of(flag), flag, f"{count} readings marked {flag}")


def underflow_flaws(mean_w: float, info: MeterInfo) -> Iterator[Flaw]:
    """Yield a flaw if a load draws too little power for the resolution of a meter."""
    if 0 < mean_w < info.resolution_w / 2 / MAX_QUANTISATION_SHARE:
        detail = f"a mean of {mean_w:.3g} W is too little for steps of {info.resolution_w:g} W"
        yield Flaw(14, "underflow", detail)


def _resolution(power_w: Array, info: MeterInfo, under_load: bool) -> Iterator[Flaw]:
    mean_w = float(power_w.mean())
    if under_load:
        yield from underflow_flaws(mean_w, info)
    if info.boundary == "modelled" or info.resolution_w > FINE_SHARE * mean_w:
        return
    changes = np.flatnonzero(np.diff(power_w) != 0)
    longest = int(np.diff(np.concatenate(([-1], changes, [len(power_w) - 1]))).max())
    if longest >= STUCK_READINGS:
        yield Flaw(14, "stuck", f"{longest} equal readings in steps of {info.resolution_w:g} W")


def counter_flaws(
    time_s: Array, power_w: Array, energy_wh: Array, *, timed: bool
) -> Iterator[Flaw]:
    """Yield the flaws where counter and power contradict each other (rules 14 and 21).

    `timed` says that the times are sound, so that power times time can be compared with the
    counter. The names are reset, counter (the two energies differ) and stale (power and counter are
    repeated for longer than the counter could stay at that power).
    """
    known = np.isfinite(energy_wh)
    time_s, power_w, energy_wh = time_s[known], power_w[known], energy_wh[known]
    if (np.diff(energy_wh) < 0).any():
        yield Flaw(21, "reset", "the meter's energy counter went back")
        return
    step_j = _step_j(energy_wh)
    if not (timed and np.isfinite(step_j) and np.isfinite(power_w).all()):
        return
    power_j = float(power_w[1:] @ np.diff(time_s))
    counter_j = JOULES_PER_WH * float(energy_wh[-1] - energy_wh[0])
    duration_s = float(time_s[-1] - time_s[0])
    tolerance_j = AGREEMENT * abs(power_j) + AGREEMENT_W * duration_s + 2 * step_j
    if abs(counter_j - power_j) > tolerance_j:
        detail = f"power adds up to {power_j:.6g} J, the meter's counter to {counter_j:.6g} J"
        yield Flaw(21, "counter", detail)
    changes = np.flatnonzero((np.diff(power_w) != 0) | (np.diff(energy_wh) != 0))
    first = np.concatenate(([0], changes + 1))
    last = np.concatenate((changes, [len(power_w) - 1]))
    repeated_s = time_s[last] - time_s[first]
    repeated_j = ((1 - AGREEMENT) * power_w[first] - AGREEMENT_W) * repeated_s
    if (repeated_j > step_j).any():
        longest = int(np.argmax(repeated_j))
        detail = (
            f"{power_w[first[longest]]:g} W is repeated for {repeated_s[longest]:.3g} s "
            "while the counter stands still"
        )
        yield Flaw(14, "stale", detail)


def _step_j(energy_wh: Array) -> float:
    """Return the smallest observed step of a counter in joules; NaN if it never moves.

    The counter's own step is this step or a whole fraction of it.
    """
    rises = np.diff(energy_wh)
    rises = rises[rises > 0]
    return JOULES_PER_WH * float(rises.min()) if len(rises) else float("nan")
