"""The device below an existing directory: it is recorded, and never changed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from fsgreen.devices import image, mounts, probe
from fsgreen.devices.base import Availability, InRealTime, Settings
from fsgreen.devices.blockdev import disk_of_mount
from fsgreen.devices.folders import claim
from fsgreen.devices.levels import refuse_levels, scheduler_of, state_of
from fsgreen.devices.names import FLASH, OF_DISKS, READ_AHEAD, TRAFFIC, Levels
from fsgreen.devices.probe.target import opened_to_rewrite
from fsgreen.devices.queue import Queue, QueueState
from fsgreen.errors import FsgreenError

PROBE_B = 256 << 20
"""Size of the file that stands for the disk when the directory is probed."""


class ExistingDevice(InRealTime):
    """The device of an existing, writable directory. `size_b` bytes must be free there.

    Raises FsgreenError if the directory is missing, not writable or too small.
    """

    kind = "directory"

    def __init__(self, settings: Settings) -> None:
        folder = settings.folder or self.default_folder()
        image.require_space(folder, settings.size_b)
        self.name = disk_of_mount(mounts.holding(folder))
        self._queue = Queue(self.name) if self.name is not None else None
        self.work = claim(folder, self.kind)

    @staticmethod
    def available() -> Availability:
        """Return that a directory can be used everywhere."""
        return Availability("directory", True, "works everywhere")

    @staticmethod
    def default_folder() -> Path:
        """Return the folder of temporary files, or /var/tmp if that is in memory (rule 7)."""
        temporary = Path(tempfile.gettempdir())
        return image.DISK if mounts.in_memory(temporary) else temporary

    def describe(self) -> dict[str, Any]:
        """Return the disk and its scheduler; None for each if no disk is visible."""
        return {
            "device": self.name,
            "scheduler": self._queue.scheduler if self._queue else None,
        }

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` unless the device has the levels already.

        The state `initial` is accepted. It means an empty folder.
        """
        state, scheduler = state_of(levels), scheduler_of(levels)
        refuse_levels(self.kind, levels, (*OF_DISKS, READ_AHEAD, TRAFFIC, FLASH))
        if state != "initial":
            raise FsgreenError(
                f"the testbed directory cannot make the device state {state}: "
                "the device holds other files",
                where=self.work.path.parent,
                next_step="leave device out of the study, or take --testbed loop as root",
            )
        present = self._queue.scheduler if self._queue else None
        if scheduler not in (None, present):
            raise FsgreenError(
                f"the testbed directory sets no scheduler: it is {present}, not {scheduler}",
                where=self.name or self.work.path.parent,
                next_step="leave scheduler out of the study, or take --testbed loop as root",
            )

    def load(self, levels: Levels) -> None:
        """Do nothing: there is only one device."""

    def queue_state(self) -> QueueState:
        """Return the present queue; all of its fields are None if no disk is visible."""
        return self._queue.state() if self._queue else QueueState()

    def probe(self, seed: int) -> dict[str, Any]:
        """Return the measurements of a file in the directory, from `probe.probe`."""
        target = self.work.path / "probe"
        image.allocate(target, PROBE_B, seed=seed)
        try:
            return probe.probe(target, seed, overwriting=lambda: opened_to_rewrite(target))
        finally:
            target.unlink()

    def restore(self) -> None:
        """Do nothing: no device state was changed."""

    def close(self) -> None:
        """Do nothing."""
