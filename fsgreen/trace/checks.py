"""Rules 13, 14 and 21: what makes a trace unfit, and whether a meter is still the same."""

from __future__ import annotations

from dataclasses import fields

import pandas as pd

from fsgreen.trace.counter import counter_flaws
from fsgreen.trace.flaw import Flaw
from fsgreen.trace.meter import MeterInfo
from fsgreen.trace.table import check_units, numbers
from fsgreen.trace.timing import MAX_GAP_INTERVALS, timing_flaws
from fsgreen.trace.values import value_flaws


def check_trace(
    readings: pd.DataFrame,
    phase_start_s: float,
    phase_end_s: float,
    rate_hz: float,
    *,
    under_load: bool = True,
    info: MeterInfo | None = None,
) -> list[Flaw]:
    """List what makes a trace unfit for a phase, by rules 13, 14 and 21; empty if nothing does.

    `under_load`: a reading of 0 W is a flaw (rule 14). Pass False only for a part that may draw
    nothing, such as a disk that is spun down. With the meter's `info`, its range and resolution
    are checked too. Raises FsgreenError where a column lacks a unit or has another one.
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
    """List what changed in a meter over a campaign (rule 21); empty if it is the same meter."""
    return [
        Flaw(21, f.name, f"{f.name} of the meter changed from {old!r} to {new!r}")
        for f in fields(MeterInfo)
        if (old := getattr(before, f.name)) != (new := getattr(now, f.name))
    ]
