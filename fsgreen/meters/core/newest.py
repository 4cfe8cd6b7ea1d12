"""The newest readings of a meter that is being recorded, for those who look on."""

from __future__ import annotations

import threading
from collections import deque

import numpy as np

from fsgreen.meters.core.readings import Readings

KEPT = 1_000_000
"""Readings: 50 s at 20 kHz; with four quantities 40 MB."""
KEPT_CHUNKS = 10_000
"""The same for slow meters, whose chunks hold a reading each: almost three hours at 1 Hz."""


class Newest:
    """Written by one thread, read by any; both take time that does not grow with what is kept."""

    def __init__(self) -> None:
        self._chunks: deque[Readings] = deque()
        self._kept = 0
        self._lock = threading.Lock()
        self._sound = (float("-inf"), float("nan"))

    def add(self, readings: Readings) -> None:
        """Append what one chunk completed, and forget the oldest beyond `KEPT`."""
        if len(readings) == 0:
            return
        place = readings.newest_sound()
        with self._lock:
            if place is not None:
                self._sound = (float(readings.time_s[place]), float(readings.power_w[place]))
            self._chunks.append(readings)
            self._kept += len(readings)
            while len(self._chunks) > 1 and (self._kept > KEPT or len(self._chunks) > KEPT_CHUNKS):
                self._kept -= len(self._chunks.popleft())

    def latest_w(self, since_s: float) -> float | None:
        """Return the newest sound power in watts, None if there is none since then."""
        time_s, power_w = self._sound
        return power_w if time_s >= since_s and power_w == power_w else None

    def since(self, time_s: float) -> Readings:
        """Return what is kept and later than `time_s`, in columns."""
        later: list[Readings] = []
        with self._lock:
            for chunk in reversed(self._chunks):
                if not chunk.time_s[-1] > time_s:
                    break
                later.append(chunk)
        if later:
            later[-1] = later[-1].part(int(np.searchsorted(later[-1].time_s, time_s, "right")))
        return Readings.joined(reversed(later))
