"""The disk of a guest, seen from the host: an image, the guest's memory, or a simulated disk."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from fsgreen.devices import image as images
from fsgreen.devices import imagevolume
from fsgreen.devices.folders import WorkFolder
from fsgreen.devices.levels import refuse_levels, scheduler_of, state_of
from fsgreen.devices.names import FLASH, OF_DISKS, OF_NVME, Levels
from fsgreen.devices.queue import MODULES, NONE, QueueState
from fsgreen.devices.served import ServedDisk
from fsgreen.devices.simulatedvolume import begin_of
from fsgreen.devices.vm import boot
from fsgreen.errors import FsgreenError
from fsgreen.simdisk import Control, Disk
from fsgreen.simdisk.ssdstates import STATES

LEAST_ZONES = 16
"""Least number of zones of a zoned disk. btrfs alone needs seven: two for its superblock, one each
for data, metadata, chunk tree and log, and one for relocation."""


class OwnDrive:
    """An image in the work folder, or a null block device in the memory of the guest.

    The guest sees `size_b` bytes, and must bring up the disk `asked`, as `GuestDisk` takes it.
    """

    simulated_b: int | None = None
    """The same as `size_b` if it is the beginning of a simulated disk, else None."""

    def __init__(
        self,
        drive: boot.Drive,
        work: WorkFolder,
        size_b: int,
        scheduler: str | None,
        zone_mib: int | None = None,
    ) -> None:
        if zone_mib is not None:
            size_b = _in_zones(size_b, zone_mib << 20)
        if drive == "null":
            state = {"left": "in the guest's memory: made when it started", "remembers": False}
        else:
            file = work.path / boot.DISK
            size_b = images.allocate(file, size_b)
            disk, left, remembers = imagevolume.disk_below(file)
            if disk is not None:
                left = "not restored: the guest cannot reach the disk below its image"
                remembers = True
            state = {"left": left, "remembers": remembers}
        if zone_mib is not None:
            state["left"] = f"zones reset; {state['left']}"
        self.size_b = size_b
        self.asked: dict[str, Any] = {
            "drive": drive,
            "size_b": size_b,
            "states": {"initial": state},
            "scheduler": scheduler,
            "zone_mib": zone_mib,
        }

    @property
    def states(self) -> Collection[str]:
        """The levels of the factor `device` that it can be brought into."""
        states: Mapping[str, Any] = self.asked["states"]
        return states.keys()

    def up(self, disk: dict[str, Any]) -> dict[str, Any]:
        """Return the record of a disk, given the guest's description after it has brought it up."""
        return disk

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` if the levels name a disk, what it offers alone, or a flash."""
        refuse_levels("vm", levels, (*OF_DISKS, FLASH))

    def load(self, levels: Levels) -> None:
        """Do nothing: the disk below the guest stays as trials leave it."""

    def in_guest(self, levels: Levels) -> dict[str, Any]:
        """Return the levels that are set, as the guest is asked for them."""
        return {name: level for name, level in levels.items() if level is not None}

    def queue_of(self, kernel: QueueState) -> QueueState:
        """Return the queue for the record, given that of the guest's kernel."""
        return kernel

    def untimed(self, *, stay: bool = False) -> AbstractContextManager[None]:
        """Do nothing."""
        return nullcontext()

    def simulator(self) -> Control | None:
        """Return None: nothing is simulated."""
        return None

    def close(self) -> None:
        """Do nothing: the image is deleted with the work folder."""


def _in_zones(size_b: int, zone_b: int) -> int:
    """Return a size rounded up to whole zones. Raises `FsgreenError` if they are too few."""
    count = -(-size_b // zone_b)
    if count < LEAST_ZONES:
        raise FsgreenError(
            f"disk too small: {size_b >> 20} MiB are {count} zones of {zone_b >> 20} MiB, and a "
            f"file system keeps several open at once: {LEAST_ZONES} at least",
            where="drive_zone_mib in [testbed]",
            next_step=f"image_mib: {LEAST_ZONES * zone_b >> 20} in the profile, or smaller zones",
        )
    return count * zone_b


class SimulatedDrive(OwnDrive):
    """The beginning of a simulated disk, which each trial finds in the state of its cell.

    Raises FsgreenError if the disk cannot be served or is too small, if memory is short, or if the
    guest must have a null block device or zones.
    """

    def __init__(
        self,
        drive: boot.Drive,
        work: WorkFolder,
        size_b: int,
        scheduler: str | None,
        disk: Disk,
        zone_mib: int | None = None,
    ) -> None:
        if drive == "null":
            raise FsgreenError(
                f"the guest makes its null block device itself: it cannot be the disk {disk.name}",
                where="drive in [testbed]",
                next_step='drive = "virtio", or leave out the disk',
            )
        if zone_mib is not None:
            raise FsgreenError(
                f"the simulated disk {disk.name} has no zones that are reset",
                where="drive_zone_mib in [testbed]",
                next_step="leave one of the two out: drive_zone_mib, or the disk",
            )
        self.size_b = self.simulated_b = size_b // images.CHUNK_B * images.CHUNK_B
        images.require_space(work.path, self.size_b)
        self._served = ServedDisk(disk, work)
        try:
            begin_of(None, self._served.size_b, self.size_b, disk=disk.name)
        except FsgreenError:
            self._served.close()
            raise
        self._scheduler = scheduler or NONE
        self.asked = {
            "drive": drive,
            "size_b": self.size_b,
            "states": {
                state: {"left": self._served.left_in(state), "remembers": False} for state in STATES
            },
            "scheduler": NONE,
            "rotates": self._served.rotates,
        }

    def up(self, disk: dict[str, Any]) -> dict[str, Any]:
        """Return the record of the guest's disk and the simulated one; keep the guest's limits.

        These are the number of requests and the schedulers of the guest's kernel.
        """
        self._requests: int = disk["queue_depth"]
        self._kernels = {*MODULES, *disk["schedulers"]}
        return {**disk, **self._served.describe()}

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` for another disk, and for an unknown scheduler.

        A scheduler may be one of the guest's kernel or one of the simulator.
        """
        refuse_levels("vm", levels, ("partition", "queue_depth", FLASH, *OF_NVME))
        name = self._served.disk.name
        if levels.get("disk") not in (None, name):
            raise FsgreenError(
                f"the guest has the disk {name}, and a cell asks for {levels['disk']}",
                where="testbed vm",
                next_step="one disk for all cells (a constant of the study), or --testbed simdisk",
            )
        scheduler = self._of(levels)
        if scheduler not in self._kernels:
            self._served.check_scheduler(scheduler)

    def load(self, levels: Levels) -> None:
        """Set the scheduler and the state of the levels, and begin to take time."""
        scheduler = self._of(levels)
        self._served.set_queue(
            self._served.depth, None if scheduler in self._kernels else scheduler
        )
        self._served.bring_into(state_of(levels))
        self._served.keep_time()

    def in_guest(self, levels: Levels) -> dict[str, Any]:
        """Return the levels that are set, as the guest is asked for them.

        For a scheduler of the guest's kernel, the guest's disk takes no more requests than the
        simulated one, so that some are left to sort. For a scheduler of the simulator, it takes as
        many as it can.
        """
        told = super().in_guest(levels)
        told.pop("disk", None)
        scheduler = self._of(levels)
        if scheduler in self._kernels:
            return {**told, "scheduler": scheduler, "queue_depth": self._served.depth}
        return {**told, "scheduler": NONE, "queue_depth": self._requests}

    def queue_of(self, kernel: QueueState) -> QueueState:
        """Return the queue of the simulated disk. `simulated` has that of the guest's kernel."""
        return self._served.queue_state(kernel)

    def untimed(self, *, stay: bool = False) -> AbstractContextManager[None]:
        """Let the disk take no time in the `with` block."""
        return self._served.untimed(stay=stay)

    def simulator(self) -> Control | None:
        """Return the control socket of the disk."""
        return self._served.control

    def close(self) -> None:
        """End the server of the disk. The guest must have ended."""
        self._served.let_go()
        self._served.close()

    def _of(self, levels: Levels) -> str:
        return scheduler_of(levels) or self._scheduler
