"""The sectors of a simulated disk: where they lie on it, and their states, initial and steady."""

from __future__ import annotations

from fsgreen.devices.image import CHUNK_B
from fsgreen.devices.volume import DeviceState, Volume
from fsgreen.errors import FsgreenError

PARTITIONS = 4
"""Equal parts of a disk, from the outermost to the innermost."""

SIMULATED = "no state to restore on a simulated disk, which remembers no writes"


class SimulatedVolume(Volume):
    """A part of a simulated disk, which has nothing that it could forget.

    A disk that rotates remembers only what is in its caches, which the simulator empties before
    each trial: steady, written in full, differs from initial in the label only.
    """

    def initial(self) -> DeviceState:
        """Do nothing."""
        return DeviceState("initial", 0, 0, self.size_b, SIMULATED)

    def steady(self) -> DeviceState:
        """Write all of it once."""
        before_b = self.queue.written_b()
        self.fill()
        return DeviceState("steady", self.require_written(before_b), 0, self.size_b, SIMULATED)


def check_partition(partition: int | None) -> None:
    """Raise FsgreenError if there is no such partition; None is the whole disk."""
    if partition not in (None, *range(1, PARTITIONS + 1)):
        raise FsgreenError(
            f"a disk has the partitions 1 to {PARTITIONS}, not {partition}",
            where="testbed simdisk",
            next_step=f"1 is the outermost, {PARTITIONS} the innermost",
        )


def begin_of(partition: int | None, disk_b: int, size_b: int, *, disk: str) -> int:
    """Return the first byte of a file system's place on a disk of `disk_b` bytes.

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
