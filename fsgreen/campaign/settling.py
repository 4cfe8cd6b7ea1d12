"""Waiting until the power is back in the idle band, and stays there (rule 11)."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from fsgreen.campaign.checks import check_settled
from fsgreen.meters import Capture, Readings, silence_s
from fsgreen.trial import Check, Phase

POLL_S = 0.1

NEIGHBOURS = 2
"""Intervals before a span from which the reading before its edge is taken."""


def settle(
    capture: Capture, meters: Sequence[str], band_w: float, idle_s: float, limit_s: float
) -> tuple[list[Phase], Check]:
    """Wait for an idle phase of `idle_s` whose mean power is in the band, `limit_s` at most.

    A single reading in the band begins an idle phase. Where its mean turns out to lie above, as
    when a job of the system begins in it, it becomes a part of settling, and another is waited for.

    Parameters
    ----------
    capture : Capture
        It records; if it fails, the wait ends.
    meters : sequence of str
        Those that the band is of, by name; they have one boundary.
    band_w : float
        Upper end of the idle band of these meters together.
    idle_s, limit_s : float
        Length of the idle phase, and after what time none begins any more.

    Returns
    -------
    list of Phase
        `settle`, and `idle` behind it where the power had come down.
    Check
        Rule 11, with the mean power of the last idle phase, or the last reading where none began.
    """
    start_s = attempt_s = time.monotonic()
    deadline_s = start_s + limit_s
    while True:
        power_w = _come_down(capture, meters, band_w, attempt_s, deadline_s)
        end_s = time.monotonic()
        if power_w <= band_w and capture.fault is None:
            time.sleep(idle_s)
            idle = Phase("idle", end_s, time.monotonic())
            power_w = _mean_w(capture, meters, idle)
            if power_w <= band_w:
                check = check_settled(end_s - start_s, power_w, band_w)
                return [Phase("settle", start_s, end_s), idle], check
            attempt_s = end_s = idle.end_s
        if capture.fault is not None or time.monotonic() > deadline_s:
            return [Phase("settle", start_s, end_s)], check_settled(
                end_s - start_s, power_w, band_w
            )


def _come_down(
    capture: Capture, meters: Sequence[str], band_w: float, since_s: float, deadline_s: float
) -> float:
    """Return the newest total power once it is in the band, or at the deadline; NaN without any."""
    while True:
        powers_w = [capture.latest_w(name, since_s) for name in meters]
        power_w = sum(np.nan if found_w is None else found_w for found_w in powers_w)
        if power_w <= band_w or capture.fault is not None or time.monotonic() > deadline_s:
            return power_w
        time.sleep(POLL_S)


def _mean_w(capture: Capture, meters: Sequence[str], idle: Phase) -> float:
    """Return the mean total power of an idle phase, as far as the traces reach.

    It waits until each meter has a sound reading beyond the phase, so that the mean is the one that
    the analysis finds. NaN where there is none for so long that a meter counts as silent: one that
    goes on with flagged readings is no fault, and would be waited for without end.
    """
    total_w = 0.0
    infos = capture.infos
    for name in meters:
        info = infos[name]
        until_s = idle.end_s + silence_s(info)
        while capture.latest_w(name, idle.end_s) is None:
            if capture.fault is not None or time.monotonic() > until_s:
                return np.nan
            time.sleep(POLL_S)
        readings = capture.since(name, idle.start_s - NEIGHBOURS / info.rate_hz)
        start_s = max(idle.start_s, float(readings.time_s[0]))
        energy_j = _integral_j(readings, start_s, idle.end_s)
        total_w += energy_j / (idle.end_s - start_s)
    return total_w


def _integral_j(readings: Readings, start_s: float, end_s: float) -> float:
    """Integrate the line through the readings; beyond them the outermost is repeated."""
    time_s = readings.time_s
    inside = (time_s > start_s) & (time_s < end_s)
    grid_s = np.concatenate(([start_s], time_s[inside], [end_s]))
    return float(np.trapezoid(np.interp(grid_s, time_s, readings.power_w), grid_s))
