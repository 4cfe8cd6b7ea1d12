"""What the work is doing now: its phase, and how many operations it has done."""

from __future__ import annotations

import math
import threading
import time
from bisect import bisect_right
from dataclasses import replace

import numpy as np

from fsgreen.trial import Phase
from fsgreen.view.source import Work

INTERVAL_S = 0.5
"""The least time that a rate of work is taken over."""


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
