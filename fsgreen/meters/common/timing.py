"""Times of a meter: host times of samples that are even on its own clock, and its refresh period.

A meter may answer faster than it measures. Then it repeats the same value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.core.readings import NAN, Floats

MAX_SLEW = 1e-3
"""Largest relative error of the clock's rate. Crystals are within 1e-4, and NTP slews by 5e-4."""

MAX_DRIFT = 5e-4
PROPORTIONAL, INTEGRAL = 0.3, 0.05
"""Gains of the loop: the shares of a window's error that the next window corrects, and that go into
the drift. They give a pair of poles at 0.84, so that a drift of 100 ppm is followed within about
ten windows."""

LOW = 0.1
"""The quantile of the times between changes that stands for one period in `refresh_s`."""

MIN_CHANGES = 4


class SampleClock:
    """Turns sample numbers into host times, given the arrival times of some samples.

    An arrival is late by the delay between meter and host. The least late arrival in a window of
    `window_s` gives the time. A loop with a proportional and an integral part follows it by
    changing the rate, never by a step. So times rise with the sample numbers, and are evenly
    spaced.
    """

    def __init__(self, interval_s: float, window_s: float) -> None:
        self._interval_s = self._step_s = interval_s
        self._window_s = window_s
        self._drift = 0.0
        self._number = 0
        self._time_s: float | None = None
        self.forget()

    def forget(self) -> None:
        """Forget recent arrivals, after samples were renumbered."""
        self._opened_s: float | None = None
        self._least_s = float("inf")
        self._least_before_s = self.late_s = 0.0
        """The lateness of the least late arrival in the last two windows, in seconds."""

    def lateness_s(self, number: int, arrived_s: float) -> float:
        """Return how much later than expected a sample arrived, in seconds; 0 for the first one."""
        if self._time_s is None:
            return 0.0
        return arrived_s - self._time_s - (number - self._number) * self._step_s

    def times_s(self, numbers: NDArray[np.int64], arrived_s: float | None) -> Floats:
        """Return the host times of the samples `numbers`, which follow those of the last call.

        `arrived_s` is the arrival time of the last sample; None if it tells nothing. The first call
        needs it.
        """
        last = int(numbers[-1])
        if self._time_s is None:
            assert arrived_s is not None
            self._number, self._time_s = last, arrived_s
        times_s = np.asarray(self._time_s + (numbers - self._number) * self._step_s, dtype=float)
        self._number, self._time_s = last, float(times_s[-1])
        if arrived_s is not None:
            self._learn(arrived_s - self._time_s, arrived_s)
        return times_s

    def _learn(self, late_s: float, arrived_s: float) -> None:
        self._least_s = min(self._least_s, late_s)
        if self._opened_s is None:
            self._opened_s = arrived_s
        elapsed_s = arrived_s - self._opened_s
        if elapsed_s < self._window_s:
            return
        pull = PROPORTIONAL * self._least_s / elapsed_s
        if abs(self._drift + pull) < MAX_SLEW:
            learned = self._drift + INTEGRAL * self._least_s / elapsed_s
            self._drift = max(-MAX_DRIFT, min(MAX_DRIFT, learned))
        slew = max(-MAX_SLEW, min(MAX_SLEW, self._drift + pull))
        self._step_s = self._interval_s * (1 + slew)
        self.late_s = min(self._least_s, self._least_before_s)
        self._least_before_s, self._least_s = self._least_s, float("inf")
        self._opened_s = arrived_s


def refresh_s(time_s: Sequence[float], values: Sequence[float]) -> float:
    """Estimate the refresh period of a meter in seconds, from the changes of its value.

    The value changes only with a new measurement. So the time between two changes is a whole number
    of periods, seen at most one request late. A low quantile of these times stands for one period,
    and gives the number of periods in each. The period is the sum of the times over the sum of
    these numbers. So two measurements with the same value count as two periods; a plain mean of the
    times would count them as one.

    NaN if the value changes too rarely: vary the load, and watch for longer. A period that is
    shorter than the time between two requests cannot be seen. The result is then that time.
    """
    changes_s = [
        t for (_, before), (t, now) in pairwise(zip(time_s, values, strict=True)) if now != before
    ]
    between_s = np.diff(changes_s)
    if len(between_s) < MIN_CHANGES:
        return NAN
    periods = np.maximum(1, np.rint(between_s / np.quantile(between_s, LOW)))
    return float(between_s.sum() / periods.sum())
