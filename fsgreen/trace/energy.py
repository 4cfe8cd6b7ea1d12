"""Energy of a span of a trace, by the trapezoid rule and by the meter's own counter."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fsgreen.trace.table import Array, check_units, columns, flawed, times

JOULES_PER_WH = 3600.0
MAX_UNCOVERED = 0.01
"""Fraction of a span that may lie beyond the trace (rule 13 wants 99 % covered)."""


def energy_j(readings: pd.DataFrame, start_s: float, end_s: float) -> float:
    """Integrate power from `start_s` to `end_s` by the trapezoid rule, in joules.

    Power at the two edges is interpolated between their neighbours. Raises FsgreenError if the
    trace is unordered, holds a reading without a value, lacks a unit or has a wrong one, or leaves
    more than 1 % uncovered.
    """
    time_s, power_w = columns(readings, "power_w")
    span = _reach(time_s, start_s, end_s)
    time_s, power_w = time_s[span], power_w[span]
    if not np.isfinite(power_w).all():
        raise flawed("the span holds a reading without a value")
    return integral_j(time_s, power_w, start_s, end_s)


def mean_power_w(readings: pd.DataFrame, start_s: float, end_s: float) -> float:
    """Energy over duration, in watts; raises as `energy_j`."""
    return energy_j(readings, start_s, end_s) / (end_s - start_s)


def counter_energy_j(readings: pd.DataFrame, start_s: float, end_s: float) -> float:
    """Energy by the meter's own counter, in joules; NaN where the meter has none.

    To be reported beside `energy_j`, never instead: a Watts Up counts in steps of 0.1 Wh (360 J).
    Raises FsgreenError if the counter went back.
    """
    if "energy_wh" not in check_units(readings):
        return float("nan")
    time_s, energy_wh = columns(readings, "energy_wh")
    span = _reach(time_s, start_s, end_s)
    time_s, energy_wh = time_s[span], energy_wh[span]
    if np.isnan(energy_wh).any():
        return float("nan")
    if (np.diff(energy_wh) < 0).any():
        raise flawed("the meter's energy counter went back (memory cleared or power lost)")
    first, last = np.interp([start_s, end_s], time_s, energy_wh)
    return float(last - first) * JOULES_PER_WH


def cut(readings: pd.DataFrame, start_s: float, end_s: float) -> pd.DataFrame:
    """Return what the energy of a span rests on: its readings and the neighbour beyond each edge.

    The energy of the span is the same in the part as in the whole. Raises as `energy_j`.
    """
    return readings[_reach(times(readings), start_s, end_s)]


def integral_j(time_s: Array, power_w: Array, start_s: float, end_s: float) -> float:
    """Integrate the line through the readings; beyond them the outermost is held."""
    inside = (time_s > start_s) & (time_s < end_s)
    grid = np.concatenate(([start_s], time_s[inside], [end_s]))
    return float(np.trapezoid(np.interp(grid, time_s, power_w), grid))


def _reach(time_s: Array, start_s: float, end_s: float) -> slice:
    """Return the places inside a span, with the neighbour beyond each edge.

    Less than 1 % of the span may lie beyond the trace; the outermost reading is held there.
    """
    if not end_s > start_s:
        raise flawed(f"the span from {start_s} s to {end_s} s has no length")
    outside_s = max(0.0, time_s[0] - start_s) + max(0.0, end_s - time_s[-1])
    if outside_s > MAX_UNCOVERED * (end_s - start_s):
        raise flawed(f"{outside_s:.3g} s of {end_s - start_s:.3g} s lie outside the trace")
    first = max(0, int(np.searchsorted(time_s, start_s, side="right")) - 1)
    last = int(np.searchsorted(time_s, end_s, side="left"))
    return slice(first, last + 1)
