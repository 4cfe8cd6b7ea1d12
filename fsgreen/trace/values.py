"""Rule 14: whether each reading of a trace is a true value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd

from fsgreen.trace.flaw import REMARKS, Flaw, rule_of
from fsgreen.trace.meter import MeterInfo
from fsgreen.trace.table import Array, flags, numbers

HUGE = 9e36
"""Instruments say "over range" and "not a number" by 9.9e37 and 9.91e37 (SCPI-99, 7.2.1.4)."""

MAX_QUANTISATION_SHARE = 0.02
"""Half a step of the meter may be this share of the mean power (the target of rule 16)."""

STUCK_READINGS = 10
FINE_SHARE = 1e-4
"""So many equal readings in a row are a stuck meter where a step is below this share of them."""


def value_flaws(near: pd.DataFrame, info: MeterInfo | None, under_load: bool) -> Iterator[Flaw]:
    """List readings whose value or flag breaks rule 14 (flags: also 13 and 21).

    Names: no-value, sentinel, zero, over-range, underflow, stuck, or the flag of the reading.
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
    """Yield that a load draws too little for the steps of a meter."""
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
