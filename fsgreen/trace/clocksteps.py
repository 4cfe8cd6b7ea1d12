"""Whether a clock was set between two patterns of pulses, which looks like drift."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fsgreen.trace.table import Array

FAR_OFF = 5.0
"""Edges that are more median deviations off the line belong to another load, and are left out."""

EXACT_S = 1e-9
"""Tolerance for rounding errors."""

CERTAIN = 5.0
"""A larger difference of two slopes, in standard errors, is no accident: less than one in a
thousand fits of 16 edges have it (Student's t)."""

WANDER_PPM = 10.0
"""Deviation of a quartz from its mean rate if its temperature changes by 15 K (-0.035 ppm/K^2,
tuning forks of 32 kHz)."""

Located = Sequence[tuple[Array, Array]]
"""The host's and the meter's times of the edges of each pattern."""


def line(host_s: Array, ahead_s: Array) -> tuple[float, float, float, Array]:
    """Fit a line by least squares, then once more without the points that are far off.

    Return its centre, its level at the centre, its slope, and a mask of the points of the fit.
    """
    kept = np.ones(len(host_s), bool)
    for _ in range(2):
        centre_s = float(host_s[kept].mean())
        slope, level_s = np.polyfit(host_s[kept] - centre_s, ahead_s[kept], 1)
        off_s = ahead_s - level_s - slope * (host_s - centre_s)
        kept = np.abs(off_s) <= FAR_OFF * np.median(np.abs(off_s[kept])) + EXACT_S
    return centre_s, float(level_s), float(slope), kept


def own_drift_ppm(located: Located) -> tuple[float, float]:
    """Return the mean drift within single patterns, and its standard error, in ppm."""
    slopes, weights = [], []
    for host_s, meter_s in located:
        ahead_s = meter_s - host_s
        centre_s, level_s, slope, kept = line(host_s, ahead_s)
        since_s = (host_s - centre_s)[kept]
        off_s = ahead_s[kept] - level_s - slope * since_s
        scatter_s = np.sqrt((off_s @ off_s) / max(1, len(off_s) - 2)) + EXACT_S
        slopes.append(slope)
        weights.append((since_s @ since_s) / scatter_s**2)
    mean = float(np.average(slopes, weights=weights))
    return 1e6 * mean, float(1e6 / np.sqrt(sum(weights)))


def set_between(located: Located, drift_ppm: float, off_s: Sequence[float]) -> str | None:
    """Return why the clock must have been set between the patterns; None if nothing shows that.

    `drift_ppm` is the drift of the line through all patterns. `off_s` is the median distance of
    each pattern from that line.
    """
    own_ppm, error_ppm = own_drift_ppm(located)
    if abs(drift_ppm - own_ppm) > CERTAIN * error_ppm + WANDER_PPM:
        return (
            f"the pulses of one pattern drift by {own_ppm:.0f} ppm, within {error_ppm:.0f}, and "
            f"from one pattern to the next by {drift_ppm:.0f} ppm"
        )
    length_s = located[-1][0][-1] - located[0][0][0]
    worst_s = max(map(abs, off_s))
    noise_s = np.sqrt(np.mean([np.var(meter_s - host_s) for host_s, meter_s in located]))
    if worst_s > 1e-6 * WANDER_PPM * length_s + CERTAIN * noise_s:
        return f"one of {len(located)} patterns is {worst_s:.3g} s off the line through all"
    return None


def suspected_step_s(time_s: Array, located: Located) -> float:
    """Return the largest step by which the clock may have been set where readings are missing.

    A clock that is set leaves a gap in the readings, as a lost reading does. If a gap explains a
    part of the change of offset between two patterns, all of that change is suspect. The step is 0
    if no gap does.
    """
    usual_s = float(np.median(np.diff(time_s)))
    suspected_s = 0.0
    for (host_s, meter_s), (next_host_s, next_meter_s) in pairwise(located):
        between_s = time_s[(time_s > meter_s[-1]) & (time_s < next_meter_s[0])]
        excess_s = np.diff(between_s) - usual_s
        excess_s = excess_s[np.abs(excess_s) > usual_s / 2]
        moved_s = float(np.median(next_meter_s - next_host_s) - np.median(meter_s - host_s))
        if (np.abs(moved_s - excess_s) < abs(moved_s)).any():
            suspected_s = max(suspected_s, abs(moved_s))
    return suspected_s
