"""The sectors of a simulated disk: their place on it, and their states, initial and steady."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fsgreen.devices import guard
from fsgreen.devices.image import CHUNK_B
from fsgreen.devices.served import ServedDisk
from fsgreen.devices.volume import DeviceState, Volume
from fsgreen.errors import FsgreenError

PARTITIONS = 4
"""The number of equal parts of a disk; 1 is the outermost."""


class SimulatedVolume(Volume):
    """A part of a simulated disk.

    A rotating disk remembers only what is in its caches, and the simulator empties these before
    each trial. So its steady state, after it was written in full, differs from the initial state
    only in name. The simulator brings an SSD into its state in no time. After that, the SSD keeps
    track of what is prepared on it.
    """

    def __init__(
        self, node: Path, proof: guard.Proof, size_b: int, lock_fd: int, served: ServedDisk
    ) -> None:
        super().__init__(node, proof, size_b, lock_fd)
        self._served = served

    def initial(self) -> DeviceState:
        """Erase an SSD. Do nothing to a rotating disk."""
        return self._brought("initial")

    def steady(self) -> DeviceState:
        """Overwrite an SSD until it is as slow as it gets, then write the whole volume once."""
        brought = self._brought("steady")
        return replace(brought, written_b=self.fill())

    def _brought(self, state: str) -> DeviceState:
        self._served.bring_into(state)
        return DeviceState(state, 0, 0, self.size_b, self._served.left_in(state))


def check_partition(partition: int | None) -> None:
    """Raise FsgreenError if there is no such partition. None stands for the whole disk."""
    if partition not in (None, *range(1, PARTITIONS + 1)):
        raise FsgreenError(
            f"a disk has the partitions 1 to {PARTITIONS}, not {partition}",
            where="testbed simdisk",
            next_step=f"1 is the outermost, {PARTITIONS} the innermost",
        )


def begin_of(partition: int | None, disk_b: int, size_b: int, *, disk: str) -> int:
    """Return the offset of a file system on a disk of `disk_b` bytes, a multiple of 4 MiB.

    Raises FsgreenError if a file system of `size_b` bytes does not fit there.
    """
    part_b = disk_b if partition is None else disk_b // PARTITIONS
    if part_b < size_b + CHUNK_B:
        raise FsgreenError(
            f"disk too small: the file system is to have {size_b >> 20} MiB, "
            f"{'the disk' if partition is None else 'a partition'} has {part_b >> 20} MiB",
            where=f"disk {disk}",
            next_step="a smaller image_mib in the profile, or another disk",
        )
    begin_b = 0 if partition is None else (partition - 1) * part_b
    return -(-begin_b // CHUNK_B) * CHUNK_B
