"""A trace on other times, with the same energy."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fsgreen.trace.energy import energy_j
from fsgreen.trace.table import Array, carried_flags, columns, flawed, join_flags
from fsgreen.trace.timing import MAX_GAP_INTERVALS


def resample(readings: pd.DataFrame, time_s: ArrayLike, rate_hz: float) -> pd.DataFrame:
    """Return a trace at the times `time_s` whose energy from first to last is that of `readings`.

    Each new value is the mean of the line through the old readings, weighted by a triangle that
    falls from its own time to those of its neighbours. The triangles add up to one everywhere, and
    the integral of each is the weight of its point in the trapezoid rule: so `energy_j` over the
    whole is kept exactly, and over a part but for the steps across its edges.

    `rate_hz` is the nominal rate of `readings`: a point that rests on a gap in them is marked
    `lost`, and has the flags of all readings that it rests on. The counter is interpolated.
    Returns time_s, power_w, energy_wh, quality. Raises as `energy_j` over the new span.
    """
    grid = np.asarray(time_s, float)
    if grid.ndim != 1 or len(grid) < 2 or not (np.diff(grid) > 0).all():
        raise flawed("a trace is resampled at two times or more that rise")
    energy_j(readings, grid[0], grid[-1])
    old_s, power_w = columns(readings, "power_w")
    low_s = np.concatenate((grid[:1], grid[:-1]))
    high_s = np.concatenate((grid[1:], grid[-1:]))
    flags_at = carried_flags(readings, low_s, high_s)
    for gap in np.flatnonzero(np.diff(old_s) > MAX_GAP_INTERVALS / rate_hz):
        first = np.searchsorted(high_s, old_s[gap], side="right")
        last = np.searchsorted(low_s, old_s[gap + 1], side="left")
        for point in range(int(first), int(last)):
            flags_at.setdefault(point, set()).add("lost")
    counted = "energy_wh" in readings
    return pd.DataFrame(
        {
            "time_s": grid,
            "power_w": _triangle_means(old_s, power_w, grid),
            "energy_wh": np.interp(grid, *columns(readings, "energy_wh")) if counted else np.nan,
            "quality": join_flags(flags_at, len(grid)),
        }
    )


def _triangle_means(time_s: Array, power_w: Array, grid: Array) -> Array:
    """Weighted means, exactly: between all times power and weight are linear (Simpson's rule)."""
    joints = np.union1d(grid, time_s[(time_s > grid[0]) & (time_s < grid[-1])])
    step_s = np.diff(joints)
    middle_s = joints[:-1] + step_s / 2
    left = np.searchsorted(grid, middle_s) - 1  # the interval of the grid
    span_s = np.diff(grid)

    def rising(moment_s: Array) -> Array:
        return (moment_s - grid[left]) / span_s[left]

    ends_w, middle_w = np.interp(joints, time_s, power_w), np.interp(middle_s, time_s, power_w)
    whole_j = step_s * (ends_w[:-1] + ends_w[1:]) / 2
    right_j = (
        step_s
        * (
            ends_w[:-1] * rising(joints[:-1])
            + 4 * middle_w * rising(middle_s)
            + ends_w[1:] * rising(joints[1:])
        )
        / 6
    )
    points = len(grid)
    energy = np.bincount(left + 1, right_j, points) + np.bincount(left, whole_j - right_j, points)
    weight_s = np.concatenate(([0.0], span_s / 2)) + np.concatenate((span_s / 2, [0.0]))
    return energy / weight_s
