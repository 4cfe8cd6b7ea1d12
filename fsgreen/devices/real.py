"""What real devices that are ours to format share."""

from __future__ import annotations

from typing import Any

from fsgreen.devices import probe
from fsgreen.devices.base import InRealTime
from fsgreen.devices.folders import WorkFolder
from fsgreen.devices.levels import (
    check_read_ahead,
    check_traffic,
    read_ahead_kib_of,
    refuse_levels,
    scheduler_of,
    state_of,
)
from fsgreen.devices.names import OF_DISKS, Levels
from fsgreen.devices.queue import QueueState
from fsgreen.devices.volume import Volume


class RealDevice(InRealTime):
    """One device, whose scheduler and read-ahead are set for each cell and restored at the end.

    Cells without a scheduler get `scheduler`, or else the original one of the device.
    """

    kind: str
    no_choice_of: tuple[str, ...] = OF_DISKS

    def __init__(self, work: WorkFolder, volume: Volume, scheduler: str | None) -> None:
        self.work = work
        self.volume = volume
        self._queue = volume.queue
        self._scheduler_before = self._queue.scheduler
        self._read_ahead_before_kib = self._queue.number("read_ahead_kb")
        self._scheduler = scheduler or self._scheduler_before
        self.load({})

    @property
    def name(self) -> str:
        """The kernel's name of the disk, as in /proc/diskstats."""
        return self._queue.name

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` for unknown levels, for another disk, and for impossible limits."""
        state_of(levels)
        check_read_ahead(levels)
        check_traffic(levels)
        refuse_levels(self.kind, levels, self.no_choice_of)
        scheduler = scheduler_of(levels)
        if scheduler is not None:
            self._queue.check_scheduler(scheduler)

    def load(self, levels: Levels) -> None:
        """Set scheduler and read-ahead. There is only one device."""
        self._set_scheduler(scheduler_of(levels) or self._scheduler)
        read_ahead_kib = read_ahead_kib_of(levels, self._read_ahead_before_kib)
        self._queue.set_number("read_ahead_kb", read_ahead_kib)

    def queue_state(self) -> QueueState:
        """Return the present queue."""
        return self._queue.state()

    def probe(self, seed: int) -> dict[str, Any]:
        """Return the measurements of the bare device, from `probe.probe`."""
        return probe.probe(
            self.volume.node, seed, queue=self._queue, overwriting=self.volume.overwriting
        )

    def restore(self) -> None:
        """Set the scheduler and the read-ahead that the device had."""
        self._set_scheduler(self._scheduler_before)
        self._queue.set_number("read_ahead_kb", self._read_ahead_before_kib)

    def close(self) -> None:
        """Release the device. Its files are deleted with the work folder."""
        self.volume.close()

    def _set_scheduler(self, name: str | None) -> None:
        if name is not None:
            self._queue.set_scheduler(name)
