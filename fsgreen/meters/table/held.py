"""A power that is written only where it changes, as readings at even times."""

from __future__ import annotations

import numpy as np

from fsgreen.meters.core.readings import NAN, Floats
from fsgreen.meters.files.checks import Flags
from fsgreen.meters.files.rows import Column
from fsgreen.meters.files.text import Report

ROUNDING = 1e-6
"""Share of a step by which sums of steps may be off."""


def held(
    time_s: Floats, columns: dict[str, Column], flags: Flags, step_s: float, report: Report
) -> tuple[Floats, dict[str, Column], Flags]:
    """Return even times, and the mean over each step of a power that holds until its next change.

    A step has no power where for some of it none is known, and the flags of the changes in it. What
    follows the last whole step is left out.
    """
    power = columns["power"]
    steps_count = int((time_s[-1] - time_s[0]) / step_s + ROUNDING)
    if steps_count < 1:
        report.refuse(
            f"the changes span {time_s[-1] - time_s[0]:g} s, and one mean takes {step_s:g} s",
            "set held_s to fewer seconds, or give a longer log",
        )
    grid_s = time_s[0] + step_s * np.arange(steps_count + 1)
    lasted_s = np.diff(time_s)
    known = np.isfinite(power.values[:-1])
    joules = np.append(0.0, np.cumsum(np.where(known, power.values[:-1], 0.0) * lasted_s))
    unknown_s = np.append(0.0, np.cumsum(np.where(known, 0.0, lasted_s)))
    power_w = np.diff(np.interp(grid_s, time_s, joules), prepend=NAN) / step_s
    power_w[0] = power.values[0]
    power_w[np.diff(np.interp(grid_s, time_s, unknown_s), prepend=0.0) > 0] = NAN
    ends = np.searchsorted(grid_s, time_s).clip(max=len(grid_s) - 1)
    moved = Flags()
    for flag in flags.counts():
        places = np.zeros(len(grid_s), dtype=bool)
        places[ends[flags.places(flag)]] = True
        moved.mark(places, flag)
    report.tell(
        f"Power is written where it changes: it is held until the next change, as means of "
        f"{step_s:g} s."
    )
    return grid_s, {"power": Column(power_w, power.step)}, moved
