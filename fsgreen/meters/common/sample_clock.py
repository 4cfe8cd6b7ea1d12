"""Host times of samples that a meter takes evenly on a clock of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.core.readings import Floats

MAX_SLEW = 1e-3
"""How far the clock's rate may be from nominal: crystals are within 1e-4, NTP slews by 5e-4."""

MAX_DRIFT = 5e-4
PROPORTIONAL, INTEGRAL = 0.3, 0.05
"""Share of a window's error that the next window takes back, and that its drift learns: a pair of
poles at 0.84, so that a drift of 100 ppm is followed within some ten windows."""


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
