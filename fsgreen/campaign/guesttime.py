"""What a guest takes of this machine while a workload runs in it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from fsgreen.trial import Phase

PERIOD_S = 0.1


class GuestTime:
    """The processor time of a guest in user mode, read ten times a second."""

    def __init__(self, processor_s: Callable[[], tuple[float, float] | None]) -> None:
        self._processor_s = processor_s
        self._times_s: list[float] = []
        self._user_s: list[float] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Read it as long as the block lasts."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(PERIOD_S):
                self._read()

        self._read()
        watch_thread = threading.Thread(target=watch, daemon=True)
        watch_thread.start()
        try:
            yield
        finally:
            ended.set()
            watch_thread.join()
            self._read()

    def _read(self) -> None:
        spent_s = self._processor_s()
        if spent_s is not None:
            self._times_s.append(time.monotonic())
            self._user_s.append(spent_s[0])

    def user_s(
        self, host_times_s: npt.NDArray[np.float64], measured: Sequence[Phase]
    ) -> float | None:
        """Return the seconds taken in the phases, None where no guest was watched.

        The machine's own counters are known at `host_times_s` alone, and taken to grow evenly in
        between; so is this, or what differs at the edges of a phase would pass for others' work.
        """
        if not self._times_s:
            return None
        known_s = np.interp(host_times_s, self._times_s, self._user_s)
        edges_s = [np.interp(phase.span_s, host_times_s, known_s) for phase in measured]
        return float(sum(end_s - start_s for start_s, end_s in edges_s))
