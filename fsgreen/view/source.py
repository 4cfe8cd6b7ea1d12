"""What the live view looks at: meters, work and phases that may go on, such as a capture."""

from __future__ import annotations

import math
import threading
import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from fsgreen.meters import Capture, Readings
from fsgreen.meters.core.readings import Floats
from fsgreen.trace import MeterInfo
from fsgreen.trial import Phase

INTERVAL_S = 0.5
"""The least time that a rate of work is taken over."""


@dataclass(frozen=True)
class Work:
    """Rates of work in operations per second, each of the interval that ends at its time."""

    time_s: Floats
    throughput_ops_s: Floats


class Source(Protocol):
    """Something to look at. All times are on one clock, in seconds."""

    @property
    def meters(self) -> Mapping[str, MeterInfo]:
        """What the meters are, by name."""

    def running(self) -> bool:
        """Whether there may be more to come."""

    def now_s(self) -> float:
        """Return the time; once nothing more comes, that of the end."""

    def since(self, meter: str, time_s: float) -> Readings:
        """Return the readings of a meter that are later than `time_s`."""

    def work(self, time_s: float) -> Work:
        """Return the rates of work that are later than `time_s`; none where nobody tells."""

    def phases(self) -> Sequence[Phase]:
        """Return the phases so far; one that goes on ends at infinity."""


class Progress:
    """Phases and operations as told by whoever drives the work, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._phases: list[Phase] = []
        self._done = self._counted = 0
        self._counted_s = time.monotonic()
        self._time_s: list[float] = []
        self._throughput_ops_s: list[float] = []

    def begin(self, phase: str) -> None:
        """Begin a phase; the one before it ends."""
        with self._lock:
            now_s = self._end()
            if self._done == self._counted:
                self._counted_s = now_s
            self._phases.append(Phase(phase, now_s, math.inf))

    def end(self) -> None:
        """End the phase that goes on, if there is one."""
        with self._lock:
            self._end()

    def count(self, operations: int = 1) -> None:
        """Add operations that are done."""
        with self._lock:
            self._done += operations

    def phases(self) -> list[Phase]:
        """Return the phases so far; one that goes on ends at infinity."""
        with self._lock:
            return list(self._phases)

    def work(self, time_s: float) -> Work:
        """Return the rates of the intervals that end later than `time_s`.

        An interval ends with its phase, or when this is called, unless it is shorter than
        `INTERVAL_S`. There is none where no phase goes on and nothing is done.
        """
        now_s = time.monotonic()
        with self._lock:
            has_work = self._goes_on() or self._done > self._counted
            if has_work and now_s - self._counted_s >= INTERVAL_S:
                self._rate(now_s)
            first = bisect_right(self._time_s, time_s)
            return Work(np.array(self._time_s[first:]), np.array(self._throughput_ops_s[first:]))

    def _goes_on(self) -> bool:
        return bool(self._phases) and self._phases[-1].end_s == math.inf

    def _end(self) -> float:
        now_s = time.monotonic()
        if self._goes_on():
            self._phases[-1] = replace(self._phases[-1], end_s=now_s)
            self._rate(now_s)
        return now_s

    def _rate(self, now_s: float) -> None:
        if now_s > self._counted_s:
            self._time_s.append(now_s)
            rate_ops_s = (self._done - self._counted) / (now_s - self._counted_s)
            self._throughput_ops_s.append(rate_ops_s)
            self._counted, self._counted_s = self._done, now_s


class CaptureSource:
    """The meters of a capture, with the work and phases that `progress` is told of."""

    def __init__(self, capture: Capture, progress: Progress) -> None:
        self._capture = capture
        self._progress = progress
        self._now_s = time.monotonic()

    @property
    def meters(self) -> Mapping[str, MeterInfo]:
        """What the meters are, by name."""
        return self._capture.infos

    def running(self) -> bool:
        """Whether the capture still records."""
        return self._capture.running

    def now_s(self) -> float:
        """Return the host's monotonic time, at most that of the end of the capture."""
        if self.running():
            self._now_s = time.monotonic()
        return self._now_s

    def since(self, meter: str, time_s: float) -> Readings:
        """Return the readings of a meter that are later than `time_s`."""
        return self._capture.since(meter, time_s)

    def work(self, time_s: float) -> Work:
        """Return the rates of work that are later than `time_s`."""
        return self._progress.work(time_s)

    def phases(self) -> list[Phase]:
        """Return the phases so far."""
        return self._progress.phases()
