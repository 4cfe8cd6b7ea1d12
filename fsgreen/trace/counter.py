"""The meter's own energy counter: wraps, resets, and whether it agrees with the power."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fsgreen.trace.flaw import Flaw
from fsgreen.trace.table import Array

JOULES_PER_WH = 3600.0

AGREEMENT = 0.03
AGREEMENT_W = 2.4
"""How far a sound meter's counter strays from its power: Watts Up logs show 3 % at 42 W and up to
47 % (2.35 W) below 5 W. Beyond both together, counter or power is wrong."""


def counter_flaws(
    time_s: Array, power_w: Array, energy_wh: Array, *, timed: bool
) -> Iterator[Flaw]:
    """List where counter and power contradict each other (rules 14 and 21).

    `timed`: the times are sound, so that power times time can be held against the counter. Names:
    reset, counter (their energies differ), stale (a reading is repeated, power and counter alike,
    for longer than that power leaves the counter where it is).
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
    tolerance_j = _tolerance_j(power_j, float(time_s[-1] - time_s[0]), step_j)
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
    """Smallest step seen of a counter, in joules; NaN where it never moves.

    The counter's own step is this or a whole fraction of it.
    """
    rises = np.diff(energy_wh)
    rises = rises[rises > 0]
    return JOULES_PER_WH * float(rises.min()) if len(rises) else float("nan")


def _tolerance_j(power_j: float, duration_s: float, step_j: float) -> float:
    return AGREEMENT * abs(power_j) + AGREEMENT_W * duration_s + 2 * step_j
