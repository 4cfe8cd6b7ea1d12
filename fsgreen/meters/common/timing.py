"""Times of a meter: of samples that it takes evenly on its own clock, and of how often it measures.

A meter may answer faster than it measures: the same value again is no new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.core.readings import NAN, Floats

MAX_SLEW = 1e-3
"""How far the clock's rate may be from nominal: crystals are within 1e-4, NTP slews by 5e-4."""

MAX_DRIFT = 5e-4
PROPORTIONAL, INTEGRAL = 0.3, 0.05
"""Share of a window's error that the next window takes back, and that its drift learns: a pair of
poles at 0.84, so that a drift of 100 ppm is followed within some ten windows."""

LOW = 0.1
"""The quantile of the times between changes that is taken for one period: see `refresh_s`."""

MIN_CHANGES = 4


class SampleClock:
    """Turns sample numbers into host times, from the arrival of some of them.

    An arrival is late by what lies between meter and host, and the least late of a window of
    `window_s` tells the time. A loop with a proportional and an integral part follows it by
    changing the rate, never by a step: times rise with the numbers and are as even as they are.
    """

    def __init__(self, interval_s: float, window_s: float) -> None:
        self._interval_s = self._step_s = interval_s
        self._window_s = window_s
        self._drift = 0.0
        self._number = 0
        self._time_s: float | None = None
        self.forget()

    def forget(self) -> None:
        """Forget the arrivals of late, after samples were renumbered."""
        self._opened_s: float | None = None
        self._least_s = float("inf")
        self._least_before_s = self.late_s = 0.0
        """By how much the least late arrival of two windows together was late."""

    def lateness_s(self, number: int, arrived_s: float) -> float:
        """Return how much later than expected a sample arrived; 0 for the first of all."""
        if self._time_s is None:
            return 0.0
        return arrived_s - self._time_s - (number - self._number) * self._step_s

    def times_s(self, numbers: NDArray[np.int64], arrived_s: float | None) -> Floats:
        """Return the host's time of the samples `numbers`, which follow those of the last call.

        `arrived_s`: when the last of them came; None where that tells nothing, which the first
        call cannot do without.
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
    """Estimate how often a meter measures anew from when its value changes, in seconds.

    A change can only come with a new measurement, so the times between changes are whole numbers
    of periods, each seen up to one question late. The low quantile of them stands for one period,
    tells how many each is, and their sum over that number is the period. Two measurements that
    give the same value are then two periods, where the plain mean of the runs would count one.

    NaN where the value changes too seldom to tell: vary the load, and watch for longer. A period
    below the time between two questions cannot be seen, and comes out as that time.
    """
    changes_s = [
        t for (_, before), (t, now) in pairwise(zip(time_s, values, strict=True)) if now != before
    ]
    between_s = np.diff(changes_s)
    if len(between_s) < MIN_CHANGES:
        return NAN
    periods = np.maximum(1, np.rint(between_s / np.quantile(between_s, LOW)))
    return float(between_s.sum() / periods.sum())
