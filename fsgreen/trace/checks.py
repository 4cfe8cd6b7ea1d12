"""Rules 13, 14 and 21: what makes a trace unfit, and whether a meter is still the same."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from fsgreen.trace.meter import MeterInfo

MIN_COVERAGE = 0.99
MAX_GAP_INTERVALS = 1.5
P95_TOLERANCE = 0.20

REMARKS = frozenset({"ok", "retimed"})
"""Marks of a reading that leave it valid."""

IDENTITY_FLAGS = frozenset({"power-cycled", "inconsistent"})
"""Flags that break rule 21; every other flag breaks rule 14."""


@dataclass(frozen=True)
class Flaw:
    """One rule of `statistics.md` that a trace breaks, and how."""

    rule: int
    detail: str


def check_trace(
    readings: pd.DataFrame,
    phase_start_s: float,
    phase_end_s: float,
    rate_hz: float,
    *,
    under_load: bool = True,
) -> list[Flaw]:
    """List what makes a trace unfit for a phase, by rules 13, 14 and 21; empty if nothing does.

    `under_load`: a reading of 0 W is a flaw (rule 14). Pass False only for a part that may draw
    nothing, such as a disk that is spun down.
    """
    interval_s = 1.0 / rate_hz
    reach_s = MAX_GAP_INTERVALS * interval_s
    near = readings[
        readings["time_s"].between(phase_start_s - reach_s, phase_end_s + reach_s)
        | readings["time_s"].isna()
    ]
    return _timing_flaws(
        near["time_s"].to_numpy(float), phase_start_s, phase_end_s, interval_s
    ) + _value_flaws(near, under_load)


def identity_flaws(before: MeterInfo, now: MeterInfo) -> list[Flaw]:
    """List what changed in a meter over a campaign (rule 21); empty if it is the same meter."""
    return [
        Flaw(21, f"{f.name} of the meter changed from {old!r} to {new!r}")
        for f in fields(MeterInfo)
        if (old := getattr(before, f.name)) != (new := getattr(now, f.name))
    ]


def _timing_flaws(
    time_s: np.ndarray, start_s: float, end_s: float, interval_s: float
) -> list[Flaw]:
    if len(time_s) < 2:
        return [Flaw(13, f"{len(time_s)} readings in the phase")]
    steps_s = np.diff(time_s)
    if not (steps_s > 0).all():
        return [Flaw(13, "times are not unique and rising")]
    flaws = []
    p95_s = float(np.percentile(steps_s, 95))
    if abs(p95_s - interval_s) > P95_TOLERANCE * interval_s:
        flaws.append(Flaw(13, f"p95 interval {p95_s:.3g} s, nominal {interval_s:.3g} s"))
    longest_s = float(steps_s.max())
    if longest_s > MAX_GAP_INTERVALS * interval_s:
        flaws.append(Flaw(13, f"gap of {longest_s:.3g} s, nominal {interval_s:.3g} s"))
    whole = steps_s <= MAX_GAP_INTERVALS * interval_s
    overlap_s = np.minimum(time_s[1:], end_s) - np.maximum(time_s[:-1], start_s)
    coverage = float(overlap_s[whole].clip(min=0).sum() / (end_s - start_s))
    if coverage < MIN_COVERAGE:
        flaws.append(Flaw(13, f"readings cover {100 * coverage:.3g} % of the phase"))
    return flaws


def _value_flaws(near: pd.DataFrame, under_load: bool) -> list[Flaw]:
    power_w = near["power_w"].to_numpy(float)
    flaws = []
    for what, bad in (
        ("without a finite value", ~np.isfinite(power_w)),
        ("below 0 W", power_w < 0),
        ("of 0 W under load", (power_w == 0) & under_load),
    ):
        if bad.any():
            flaws.append(Flaw(14, f"{int(bad.sum())} readings {what}"))
    counts: dict[str, int] = {}
    for quality in near["quality"]:
        for flag in set(str(quality).split("|")) - REMARKS:
            counts[flag] = counts.get(flag, 0) + 1
    for flag, count in sorted(counts.items()):
        rule = 21 if flag in IDENTITY_FLAGS else 14
        flaws.append(Flaw(rule, f"{count} readings marked {flag}"))
    energy_wh = near["energy_wh"].to_numpy(float)
    if (np.diff(energy_wh[np.isfinite(energy_wh)]) < 0).any():
        flaws.append(Flaw(21, "the meter's energy counter went back"))
    return flaws
