"""Testbed `loop`: real file systems on an image, in a folder or in RAM, behind a loop device.

The device does direct I/O, so that nothing is cached twice; the image is written in full once and
reused by all trials, so that no trial pays for first touch. Caches of a hypervisor or host below
this machine are out of sight.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import ager, cache, image, losetup, mounts
from fsgreen.testbeds.base import (
    Conditions,
    Mount,
    check_device_state,
    refuse_simulated,
    require_root,
)
from fsgreen.testbeds.folders import claim
from fsgreen.testbeds.states import LoopStates
from fsgreen.testbeds.volume import Volume, check_cell

DISK = Path("/var/tmp")


class LoopTestbed:
    """A loop device on a private image. Needs root.

    Parameters
    ----------
    folder : Path, optional
        Where the image lies; default /dev/shm with `in_memory`, else /var/tmp.
    in_memory : bool
        Whether the image lies in RAM.
    size_b : int
        Size of the image in bytes, rounded up to 4 MiB.
    scheduler : str, optional
        I/O scheduler of the loop device; default: as the kernel sets it.
    aging : ager.Aging, optional
        What an aged file system is to be.
    why : str
        Why this testbed was chosen, for the record.

    Raises
    ------
    FsgreenError
        If the user is not root, the place is too small, no loop device is free, direct I/O does
        not work there or the scheduler is unknown.
    """

    kind = "loop"

    def __init__(
        self,
        folder: Path | None = None,
        *,
        in_memory: bool = False,
        size_b: int,
        scheduler: str | None = None,
        aging: ager.Aging | None = None,
        why: str = "asked for",
    ) -> None:
        require_root(self.kind)
        self._why = why
        self._work = claim(folder or (image.RAM if in_memory else DISK), self.kind)
        try:
            file = self._work.path / "image"
            self._backing = mounts.holding(self._work.path).file_system
            if in_memory and self._backing not in cache.MEMORY_FILE_SYSTEMS:
                raise FsgreenError(
                    f"not in memory: this folder is on {self._backing}",
                    where=self._work.path.parent,
                    next_step="leave --folder out, or mount a tmpfs there",
                )
            self._size_b = image.allocate(file, size_b)
            device = losetup.attach(file, lock_fd=self._work.lock_fd)
            states = LoopStates(device, file, self._size_b)
            self._volume = Volume(self._work, device, file, self._size_b, states, aging)
            self._queue = self._volume.queue
            self._scheduler_before = self._queue.scheduler
            self._scheduler = scheduler
            if scheduler is not None:
                self._queue.set_scheduler(scheduler)
        except BaseException:
            self._work.release()
            raise

    def describe(self) -> dict[str, Any]:
        """Return kind, reason, size, what lies below, and the state of the device's queue."""
        return {
            "kind": self.kind,
            "why": self._why,
            "size_b": self._size_b,
            "in_memory": self._backing in cache.MEMORY_FILE_SYSTEMS,
            "backing": self._backing,
            "direct_io": True,
            "device": self._volume.device.name,
            "scheduler": self._queue.scheduler,
            "schedulers": self._queue.schedulers(),
            "queue_depth": self._queue.number("nr_requests"),
            "read_ahead_b": self._queue.number("read_ahead_kb") * 1024,
            "rotational": bool(self._queue.number("rotational")),
            "logical_block_b": self._queue.number("logical_block_size"),
            "physical_block_b": self._queue.number("physical_block_size"),
            "cold_cache": True,
        }

    def check(self, file_system: str, option: str, conditions: Conditions = Conditions()) -> None:
        """Raise `FsgreenError` if the cell is unknown, cannot be made here or does not fit."""
        check_device_state(conditions.device)
        refuse_simulated(self.kind, conditions)
        if conditions.scheduler is not None:
            self._queue.check_scheduler(conditions.scheduler)
        check_cell(file_system, option, self._size_b, self.kind)

    def prepare(
        self,
        file_system: str,
        option: str,
        conditions: Conditions = Conditions(),
        *,
        seed: int = 0,
    ) -> Mount:
        """Unmount what is there, restore the device, make, mount and verify the file system."""
        self.check(file_system, option, conditions)
        self._volume.unmount()
        wanted = conditions.scheduler or self._scheduler or self._scheduler_before
        if wanted is not None:
            self._queue.set_scheduler(wanted)
        return self._volume.prepare(file_system, option, conditions.device, seed)

    def load(self, conditions: Conditions) -> None:
        """Do nothing: there is one device."""

    def simulator(self) -> None:
        """Return None: nothing is simulated."""

    def remount(self) -> Mount:
        """Unmount and mount again: nothing of the file system stays cached."""
        return self._volume.remount()

    def resident_share(self) -> float:
        """Measure the share of all files' bytes in the page cache; see `Volume.resident_share`."""
        return self._volume.resident_share()

    def warm(self) -> float:
        """Read every file but the ager's, and return `resident_share`."""
        return self._volume.warm()

    def restore(self) -> None:
        """Unmount and set the scheduler that the device had."""
        if self._work.lock_fd < 0:
            return
        self._volume.unmount()
        if self._scheduler_before is not None:
            self._queue.set_scheduler(self._scheduler_before)

    def close(self) -> None:
        """Unmount (lazily if a process holds on), detach the device and delete the image."""
        self._work.release()

    def probe(self, seed: int) -> dict[str, Any]:
        """Return how the device behaves by itself; see `probe.probe`."""
        return self._volume.probe(seed)

    def only_file_system(self) -> str | None:
        """Return None: any file system can be made."""
        return None

    def device_name(self) -> str | None:
        """Return the loop device's name in /proc/diskstats."""
        return self._volume.device.name

    def __enter__(self) -> LoopTestbed:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
