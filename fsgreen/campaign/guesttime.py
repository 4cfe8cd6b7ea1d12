"""The processor time that a guest takes from this machine while a workload runs in it."""

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
    """The user time of a guest, sampled ten times a second.

    `processor_s` returns the guest's user and system time in seconds; None if there is no guest.
    """

    def __init__(self, processor_s: Callable[[], tuple[float, float] | None]) -> None:
        self._processor_s = processor_s
        self._times_s: list[float] = []
        self._user_s: list[float] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Sample as long as the `with` block lasts."""
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
        """Return the guest's user time in the phases, in seconds; None without a guest.

        The counters of the machine are known only at `host_times_s`, shape (samples,), and are
        interpolated in between. The guest's time is interpolated at the same times. Otherwise the
        difference at the edges of a phase would look like the work of other programs.
        """
        if not self._times_s:
            return None
        known_s = np.interp(host_times_s, self._times_s, self._user_s)
        edges_s = [np.interp(phase.span_s, host_times_s, known_s) for phase in measured]
        return float(sum(end_s - start_s for start_s, end_s in edges_s))
