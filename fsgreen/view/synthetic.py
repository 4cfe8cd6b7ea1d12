"""What to look at where nothing is measured: power of a known course, and a little work to do."""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fsgreen.meters import Readings
from fsgreen.trace import MeterInfo
from fsgreen.trial import Phase
from fsgreen.view.source import Progress, Work

PERIOD_S = 10.0
"""One idle and one busy phase."""

SIZE_B = 16384
"""Of the file that `exercise` writes."""


class Synthetic:
    """A meter at `rate_hz` from now on, for `duration_s`: 214 W idle, 279 W busy (fast10's server).

    A reading stands at each whole interval. `spike_w`, if given, is the power of a single reading
    in the middle of each busy phase. Nothing is stored: readings are computed when asked for.
    """

    IDLE_W, BUSY_W, RIPPLE_W = 214.0, 279.0, 2.0
    THROUGHPUT_OPS_S = 1200.0

    def __init__(
        self, rate_hz: float, *, duration_s: float = math.inf, spike_w: float | None = None
    ) -> None:
        self._rate_hz = rate_hz
        offset_s = np.arange(round(PERIOD_S * rate_hz)) / rate_hz
        self._period_w = np.where(offset_s < PERIOD_S / 2, self.IDLE_W, self.BUSY_W)
        self._period_w += self.RIPPLE_W * np.sin(2 * np.pi * 3.7 * offset_s)
        if spike_w is not None:
            self._period_w[len(offset_s) * 3 // 4] = spike_w
        self.start_s = time.monotonic()
        self._end_s = self.start_s + duration_s
        self.meters: Mapping[str, MeterInfo] = {
            "system": MeterInfo(
                driver="synthetic",
                model=f"synthetic power at {rate_hz:g} Hz",
                serial="none",
                boundary="modelled",
                covers=("server",),
                rate_hz=rate_hz,
                range_w=1000.0,
                resolution_w=0.0,
                gain_error=0.0,
                constant_error_w=0.0,
                source="a computed course of power",
            )
        }

    def running(self) -> bool:
        """Whether the duration is not over."""
        return time.monotonic() < self._end_s

    def now_s(self) -> float:
        """Return the host's monotonic time, at most that of the end."""
        return min(time.monotonic(), self._end_s)

    def since(self, meter: str, time_s: float) -> Readings:
        """Return the readings that are later than `time_s`."""
        first = max(0, self._number(time_s)) + 1
        numbers = np.arange(first, self._number(self.now_s()) + 1)
        offset_s = numbers / self._rate_hz
        return Readings(self.start_s + offset_s, np.take(self._period_w, numbers, mode="wrap"))

    def work(self, time_s: float) -> Work:
        """Return one rate a second, none in the idle phases."""
        first = max(0, math.floor(time_s - self.start_s)) + 1
        offset_s = np.arange(first, math.floor(self.now_s() - self.start_s) + 1, dtype=float)
        idle = (offset_s - 1) % PERIOD_S < PERIOD_S / 2
        return Work(self.start_s + offset_s, np.where(idle, 0.0, self.THROUGHPUT_OPS_S))

    def phases(self) -> list[Phase]:
        """Return idle and busy phases by turns."""
        half_s = PERIOD_S / 2
        halves = math.ceil((self.now_s() - self.start_s) / half_s)
        return [
            Phase(
                "idle" if nth % 2 == 0 else "measure",
                self.start_s + nth * half_s,
                math.inf if nth == halves - 1 else self.start_s + (nth + 1) * half_s,
            )
            for nth in range(halves)
        ]

    def _number(self, time_s: float) -> int:
        """Return the number of the last reading at or before a time."""
        if time_s == -math.inf:
            return 0
        return math.floor((time_s - self.start_s) * self._rate_hz + 1e-6)


def exercise(progress: Progress, *, idle_s: float, work_s: float) -> None:
    """Do nothing, then write and sync small files below the temporary folder, then nothing again.

    `progress` is told of the phases `idle`, `measure` and `idle`, and of each file. It is no
    benchmark: a single file is written over and over.
    """
    data = os.urandom(SIZE_B)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        progress.begin("idle")
        time.sleep(idle_s)
        progress.begin("measure")
        end_s = time.monotonic() + work_s
        while time.monotonic() < end_s:
            with file.open("wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            progress.count()
        progress.begin("idle")
        time.sleep(idle_s)
        progress.end()
