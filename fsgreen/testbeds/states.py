"""The states of a device below a file system: initial and steady, made anew before each mkfs.

In every state the image behind the loop device is written in full: a trial must not pay for first
touch. An image in RAM, written twice when it was made, has no other state that a trial could change
(docs/state.md has the measurement). Nor has one on a rotating disk, which remembers nothing, but on
which a discarded image would come back in another zone (rule 39). An image on a solid-state disk
that takes discards, below a file system mounted with `discard`, is discarded and written once, so
that the disk forgets what trials before did. `steady` is written once more, in full: twice since
the discard, as SNIA's performance test specification asks of a solid-state disk before it is
measured. What was done is read from the kernel's counters of written and discarded sectors (those
of /proc/diskstats); where nothing was, the record says why, and whether the disk then remembers.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from dataclasses import replace
from pathlib import Path

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import cache, commands, guard, image, mounts
from fsgreen.testbeds.base import DeviceState
from fsgreen.testbeds.queue import Queue, disk_of

BLKDISCARD = 0x1277
DISCARD_S = 30.0
"""How long the disk below is given: ext4 discards in the background, and leaves out what was
written again meanwhile."""

IN_MEMORY = "no state to restore in memory"
ROTATING = (
    "no state to restore on a disk that calls itself rotating, as such a disk remembers no writes"
)
SIMULATED = "no state to restore on a simulated disk, which remembers no writes"
NEW = "nothing to restore yet: the image is new"


class Written:
    """A loop device that can be written in full, by the kernel's own count.

    Parameters
    ----------
    device : Path
        The loop device, not mounted whenever a method is called.
    image : Path
        The file behind it.
    size_b : int
        Its size in bytes.
    """

    def __init__(self, device: Path, image: Path, size_b: int) -> None:
        self._device = device
        self._image = image
        self._size_b = size_b
        self._counters = Queue(device.name)

    def require_written(self, since_b: int) -> int:
        """Return the bytes written since the counter stood at `since_b`.

        Raises
        ------
        FsgreenError
            If they are fewer than the device has.
        """
        written_b = self._counters.written_b() - since_b
        if written_b < self._size_b:
            raise FsgreenError(
                f"the kernel counted {written_b} B written of {self._size_b} B",
                where=self._device,
                next_step=f"echo 1 > /sys/block/{self._device.name}/queue/iostats",
            )
        return written_b

    def _fill(self) -> None:
        before_b = self._counters.written_b()
        fd = guard.open_to_overwrite(self._device, image=self._image)
        try:
            image.fill(fd, self._size_b)
        finally:
            os.close(fd)
        self.require_written(before_b)


class LoopStates(Written):
    """Makes the states of a loop device on an image that is written in full; see `Written`."""

    def __init__(self, device: Path, image: Path, size_b: int) -> None:
        super().__init__(device, image, size_b)
        self._untouched_b = self._counters.written_b()
        self._disk, self._left, self._remembers = _disk_below(image)

    def initial(self) -> DeviceState:
        """Bring the device into its initial state, as far as the disk below can be made to forget.

        Nothing is done where nothing was written.

        Raises
        ------
        FsgreenError
            If the image keeps holes, or the kernel did not do what it was told.
        """
        discarded_b, left = 0, self._left
        before_b = self._counters.written_b()
        if self._disk is not None and before_b == self._untouched_b:
            left = NEW
        elif self._disk is not None:
            discarded_b = self._discard(self._disk)
            self._fill()
        self.close_holes()
        self._untouched_b = self._counters.written_b()
        written_b = self._untouched_b - before_b
        return DeviceState("initial", written_b, discarded_b, self._size_b, left, self._remembers)

    def steady(self) -> DeviceState:
        """Bring the device into its initial state, then write it in full once more.

        Raises
        ------
        FsgreenError
            As `initial`.
        """
        before = self.initial()
        self._fill()
        written_b = self._counters.written_b() - self._untouched_b
        return replace(
            before, name="steady", written_b=before.written_b + written_b, remembers=False
        )

    def close_holes(self) -> None:
        """Write zeros where the image is not written, which reads as zeros already.

        mkfs lets the kernel zero the tables of ext and the log of xfs. A loop device does so by
        marking the blocks of its image as unwritten, where the file system below can: the first
        write there would be slower.

        Raises
        ------
        FsgreenError
            If holes remain, as on a file system that compresses.
        """
        found = list(image.holes(self._image, self._size_b))
        if not found:
            return
        fd = guard.open_to_overwrite(self._device, image=self._image)
        try:
            for begin_b, end_b in found:
                image.write_zeros(fd, begin_b, end_b)
            os.fsync(fd)
        finally:
            os.close(fd)
        for begin_b, _ in image.holes(self._image, self._size_b):
            raise FsgreenError(
                f"the image has a hole at byte {begin_b}: a trial would pay for its allocation",
                where=self._image,
                next_step="name a folder on another file system with --folder",
            )

    def _discard(self, disk: Queue) -> int:
        """Discard all of the device and return the bytes that the disk below discarded."""
        before_b = disk.discarded_b()
        fd = guard.open_to_overwrite(self._device, image=self._image)
        try:
            fcntl.ioctl(fd, BLKDISCARD, struct.pack("=QQ", 0, self._size_b))
        finally:
            os.close(fd)
        commands.run(["sync", "--file-system", str(self._image)])
        if list(image.holes(self._image, self._size_b)) != [(0, self._size_b)]:
            raise FsgreenError(
                "the image still holds data after it was discarded",
                where=self._image,
                next_step="name a folder on another file system with --folder",
            )
        deadline_s = time.monotonic() + DISCARD_S
        while disk.discarded_b() < before_b + self._size_b and time.monotonic() < deadline_s:
            time.sleep(0.01)
        return disk.discarded_b() - before_b


def _disk_below(file: Path) -> tuple[Queue | None, str | None, bool | None]:
    """Return the disk that can be made to forget a file's blocks: one that hears of those freed.

    None where there is none, with why, and whether what lies below remembers writes, if known.
    """
    below = mounts.holding(file)
    if below.file_system in cache.MEMORY_FILE_SYSTEMS:
        return None, IN_MEMORY, False
    disk = disk_of(below)
    if disk is None:
        return None, f"not restored: no disk is in sight below {below.file_system}", None
    queue = Queue(disk)
    if queue.number("rotational"):
        return None, ROTATING, False
    if not queue.number("discard_max_bytes"):
        return None, f"not restored: {disk} takes no discards", True
    if not any(option.split("=")[0] == "discard" for option in below.options):
        return None, f"not restored: {below.point} is mounted without discard", True
    if "discard=async" in below.options:
        return None, f"not restored: {below.point} discards later (discard=async)", True
    return queue, None, False
