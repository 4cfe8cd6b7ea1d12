"""Waits until the power is back in the idle band and stays there (rule 11)."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from fsgreen.campaign.checks import check_settled
from fsgreen.meters import Capture, Readings, silence_s
from fsgreen.trial import Check, Phase

POLL_S = 0.1

NEIGHBOURS = 2
"""Number of intervals before a span in which to look for the last reading before its edge."""


def settle(
    capture: Capture, meters: Sequence[str], band_w: float, idle_s: float, limit_s: float
) -> tuple[list[Phase], Check]:
    """Wait at most `limit_s` for an idle phase of `idle_s` whose mean power is in the band.

    One reading in the band begins an idle phase. If the mean of that phase turns out to be above
    the band, for example because a job of the system began in it, the phase becomes a part of
    `settle`, and the wait continues.

    The meters of the band have one boundary, and `band_w` is the upper end of the idle band of
    their sum. If the capture fails, the wait ends. Returns the phases, `settle` followed by `idle`
    if the power came down, and the check of rule 11, with the mean power of the last idle phase, or
    the last reading if none began.
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
    """Return the newest total power once it is in the band, or at the deadline; NaN if unknown."""
    while True:
        powers_w = [capture.latest_w(name, since_s) for name in meters]
        power_w = sum(np.nan if found_w is None else found_w for found_w in powers_w)
        if power_w <= band_w or capture.fault is not None or time.monotonic() > deadline_s:
            return power_w
        time.sleep(POLL_S)


def _mean_w(capture: Capture, meters: Sequence[str], idle: Phase) -> float:
    """Return the mean total power of an idle phase, in watts.

    It waits until each meter has a sound reading after the phase, so that the mean is the same as
    in the analysis. It is NaN if a meter has none for so long that it counts as silent. A meter
    that sends only flagged readings has no fault, so the wait would never end otherwise.
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
    """Return the integral of the line through the readings, in joules.

    Outside the readings, the first or the last one is repeated.
    """
    time_s = readings.time_s
    inside = (time_s > start_s) & (time_s < end_s)
    grid_s = np.concatenate(([start_s], time_s[inside], [end_s]))
    return float(np.trapezoid(np.interp(grid_s, time_s, readings.power_w), grid_s))
