"""For how long a trace was above a power: with many readings a second, when a device worked."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from fsgreen.trace.powerfile import PowerFile


def time_above_s(file: Path, meter: str, start_s: float, end_s: float, limit_w: float) -> float:
    """Return for how long a meter's power in a `power.parquet` was above a limit, within a span.

    A reading counts for the time since the one before it. NaN if one without a value is among them,
    or if the trace does not cover the span. Raises FsgreenError if the file cannot be read.
    """
    above_s, first_s, last_s = 0.0, math.inf, math.nan
    with PowerFile(file) as power:
        for piece in power.pieces(meter):
            first_s = min(first_s, float(piece.time_s[0]))
            before_s = first_s if math.isnan(last_s) else last_s
            times_s = np.clip(np.append(before_s, piece.time_s), start_s, end_s)
            is_above = np.where(np.isnan(piece.power_w), math.nan, piece.power_w > limit_w)
            steps_s = np.diff(times_s)
            above_s += float(np.sum(steps_s[steps_s > 0] * is_above[steps_s > 0]))
            last_s = float(piece.time_s[-1])
    return above_s if first_s <= start_s and end_s <= last_s else math.nan
