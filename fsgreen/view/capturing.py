"""A capture as a source of the live view."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from fsgreen.meters import Capture, Readings
from fsgreen.trace import MeterInfo
from fsgreen.trial import Phase
from fsgreen.view.progress import Progress
from fsgreen.view.source import Work


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

    def phases(self) -> Sequence[Phase]:
        """Return the phases so far."""
        return self._progress.phases()
