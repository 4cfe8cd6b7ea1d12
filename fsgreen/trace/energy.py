"""Energy of a span of a trace, by the trapezoid rule and by the meter's own counter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from fsgreen.errors import FsgreenError
from fsgreen.trace.meter import MeterInfo

JOULES_PER_WH = 3600.0
MAX_UNCOVERED = 0.01
"""Fraction of a span that may lie beyond the trace (rule 13 wants 99 % covered)."""


def energy_j(readings: pd.DataFrame, start_s: float, end_s: float) -> float:
    """Integrate power from `start_s` to `end_s` by the trapezoid rule, in joules.

    Power at the two edges is interpolated between their neighbours. Raises FsgreenError if the
    trace is unordered, holds a reading without a value, or leaves more than 1 % uncovered.
    """
    return _integral(*_span(readings, start_s, end_s), start_s, end_s)


def mean_power_w(readings: pd.DataFrame, start_s: float, end_s: float) -> float:
    """Energy over duration, in watts; raises as `energy_j`."""
    return energy_j(readings, start_s, end_s) / (end_s - start_s)


def counter_energy_j(readings: pd.DataFrame, start_s: float, end_s: float) -> float:
    """Energy by the meter's own counter, in joules; NaN where the meter has none.

    To be reported beside `energy_j`, never instead: a Watts Up counts in steps of 0.1 Wh (360 J).
    Raises FsgreenError if the counter went back.
    """
    time_s, energy_wh = _span(readings, start_s, end_s, "energy_wh")
    if np.isnan(energy_wh).any():
        return float("nan")
    if (np.diff(energy_wh) < 0).any():
        raise _flawed("the meter's energy counter went back (memory cleared or power lost)")
    first, last = np.interp([start_s, end_s], time_s, energy_wh)
    return float(last - first) * JOULES_PER_WH


def phase_energies(
    readings: pd.DataFrame, phases: Iterable[tuple[str, float, float]]
) -> pd.DataFrame:
    """Split a trace by phase: one row per (name, start_s, end_s), in the order given.

    Columns: phase, start_s, end_s, duration_s, energy_j, counter_energy_j, power_w.
    """
    rows = []
    for name, start_s, end_s in phases:
        joules = energy_j(readings, start_s, end_s)
        rows.append(
            {
                "phase": name,
                "start_s": start_s,
                "end_s": end_s,
                "duration_s": end_s - start_s,
                "energy_j": joules,
                "counter_energy_j": counter_energy_j(readings, start_s, end_s),
                "power_w": joules / (end_s - start_s),
            }
        )
    return pd.DataFrame(rows)


def sum_meters(traces: Mapping[str, pd.DataFrame], infos: Mapping[str, MeterInfo]) -> pd.DataFrame:
    """Add the traces of several meters on the union of their times, within their common span.

    Power between readings is linear, so the energy of the sum is the sum of the energies. Returns
    time_s and power_w. Raises FsgreenError where boundaries differ (rule 19) or two meters cover
    the same part (it would count twice).
    """
    used = [infos[name] for name in traces]
    boundaries = {info.boundary for info in used}
    if len(boundaries) != 1:
        raise _flawed(f"power of different boundaries is never added: {sorted(boundaries)}")
    covered = [part for info in used for part in info.covers]
    if len(covered) != len(set(covered)):
        raise _flawed(f"two meters cover the same part: {sorted(covered)}")
    series = [columns(trace, "power_w") for trace in traces.values()]
    first_s = max(time_s[0] for time_s, _ in series)
    last_s = min(time_s[-1] for time_s, _ in series)
    grid = np.unique(np.concatenate([time_s for time_s, _ in series]))
    grid = grid[(grid >= first_s) & (grid <= last_s)]
    if len(grid) < 2:
        raise _flawed("the meters' traces do not overlap")
    return pd.DataFrame(
        {
            "time_s": grid,
            "power_w": np.sum([np.interp(grid, t, p) for t, p in series], axis=0),
        }
    )


def columns(readings: pd.DataFrame, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and one column as float arrays; refuses what no integral can be taken of."""
    for name in ("time_s", column):
        if name not in readings:
            raise _flawed(f"the trace has no column {name}")
    if "meter" in readings and readings["meter"].nunique() > 1:
        raise _flawed("readings of several meters in one trace: select one, or use sum_meters")
    time_s = readings["time_s"].to_numpy(float)
    if len(time_s) < 2 or not (np.diff(time_s) > 0).all():
        raise _flawed("the trace needs two readings or more with rising times")
    return time_s, readings[column].to_numpy(float)


def _span(
    readings: pd.DataFrame, start_s: float, end_s: float, column: str = "power_w"
) -> tuple[np.ndarray, np.ndarray]:
    """Readings inside the span and the neighbour beyond each edge.

    Less than 1 % of the span may lie beyond the trace; the outermost reading is held there.
    """
    if not end_s > start_s:
        raise _flawed(f"the span from {start_s} s to {end_s} s has no length")
    time_s, values = columns(readings, column)
    outside_s = max(0.0, time_s[0] - start_s) + max(0.0, end_s - time_s[-1])
    if outside_s > MAX_UNCOVERED * (end_s - start_s):
        raise _flawed(f"{outside_s:.3g} s of {end_s - start_s:.3g} s lie outside the trace")
    first = max(0, int(np.searchsorted(time_s, start_s, side="right")) - 1)
    last = int(np.searchsorted(time_s, end_s, side="left"))
    time_s, values = time_s[first : last + 1], values[first : last + 1]
    if column == "power_w" and not np.isfinite(values).all():
        raise _flawed("the span holds a reading without a value")
    return time_s, values


def _integral(time_s: np.ndarray, power_w: np.ndarray, start_s: float, end_s: float) -> float:
    inside = (time_s > start_s) & (time_s < end_s)
    grid = np.concatenate(([start_s], time_s[inside], [end_s]))
    return float(np.trapezoid(np.interp(grid, time_s, power_w), grid))


def _flawed(what: str) -> FsgreenError:
    return FsgreenError(
        what,
        where="power trace",
        next_step="list the trace's flaws with fsgreen.trace.check_trace, then measure again",
    )
