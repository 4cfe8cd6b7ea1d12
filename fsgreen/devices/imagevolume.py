"""An image behind a loop device, and its states: initial and steady, made anew before each mkfs.

In every state, the image is written in full, as a trial must not pay for first touch. What else is
done depends on where the image is:

- In RAM, it is written twice when it is made. There is no other state that a trial could change
  (docs/state.md has the measurement).
- A rotating disk remembers nothing. There, a discarded image would even return in another zone
  (rule 39), so nothing is done.
- On a solid-state disk that takes discards, below a file system mounted with `discard`, the image
  is discarded and written once. So the disk forgets what earlier trials did.

For `steady`, it is written in full once more. That makes two writes since the discard, as the SNIA
performance test specification requires before a solid-state disk is measured. What was done is read
from the kernel's counters of written and discarded sectors (/proc/diskstats). If nothing was done,
the record says why, and whether the disk remembers writes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from fsgreen import commands
from fsgreen.devices import guard, image, mounts
from fsgreen.devices.blockdev import disk_of_mount
from fsgreen.devices.queue import Queue
from fsgreen.devices.volume import DeviceState, Volume, cannot_forget
from fsgreen.errors import FsgreenError

IN_MEMORY = "no state to restore in memory"
NEW = "nothing to restore yet: the image is new"


class ImageVolume(Volume):
    """A loop device on an image of ours that is written in full."""

    def __init__(self, node: Path, file: Path, size_b: int, lock_fd: int) -> None:
        super().__init__(node, file, size_b, lock_fd)
        self._image = file
        self._untouched_b = self.queue.written_b()
        self._disk, self._left, self._remembers = disk_below(file)

    def format(self, command: Sequence[str]) -> tuple[str, ...]:
        """Run mkfs, and write the blocks that it left unwritten; return the whole command."""
        whole = super().format(command)
        self.close_holes()
        return whole

    def initial(self) -> DeviceState:
        """Bring the device into its initial state, as far as the disk below can forget writes.

        Nothing is done if nothing was written since the last time.

        Raises FsgreenError if the image keeps holes, or if the kernel did not discard or write all
        of it.
        """
        discarded_b, left = 0, self._left
        before_b = self.queue.written_b()
        if self._disk is not None and before_b == self._untouched_b:
            left = NEW
        elif self._disk is not None:
            discarded_b = self._discard(self._disk)
            self.fill()
        self.close_holes()
        self._untouched_b = self.queue.written_b()
        written_b = self._untouched_b - before_b
        return DeviceState("initial", written_b, discarded_b, self.size_b, left, self._remembers)

    def close_holes(self) -> None:
        """Write zeros into the unwritten blocks of the image, which already read as zeros.

        mkfs lets the kernel zero the tables of ext and the log of xfs. The loop device then marks
        blocks of its image as unwritten, if the file system below supports that. The first write to
        these would be slower.

        Raises FsgreenError if holes remain, as on a file system that compresses.
        """
        unwritten = self._holes()
        if not unwritten:
            return
        with self.overwriting() as fd:
            for begin_b, end_b in unwritten:
                image.write_zeros(fd, begin_b, end_b)
            os.fsync(fd)
        for begin_b, _ in self._holes()[:1]:
            raise FsgreenError(
                f"the image has a hole at byte {begin_b}: a trial would pay for its allocation",
                where=self._image,
                next_step="name a folder on another file system with --folder",
            )

    def _holes(self) -> list[tuple[int, int]]:
        try:
            return list(image.holes(self._image, self.size_b))
        except FileNotFoundError as error:
            raise guard.image_gone(self._image, error) from error

    def _discard(self, disk: Queue) -> int:
        """Discard the whole device; return the bytes that the disk below discarded."""
        before_b = disk.discarded_b()
        with self.overwriting() as fd:
            image.discard(fd, self.size_b)
        commands.run(["sync", "--file-system", str(self._image)])
        if self._holes() != [(0, self.size_b)]:
            raise FsgreenError(
                "the image still holds data after it was discarded",
                where=self._image,
                next_step="name a folder on another file system with --folder",
            )
        return disk.await_discarded_b(before_b, self.size_b)


def disk_below(file: Path) -> tuple[Queue | None, str | None, bool | None]:
    """Return the queue of the disk below a file, if freed blocks are discarded there; else None.

    If it is None, the second item says why. The third item is whether the disk below remembers
    writes; None if that is unknown.
    """
    below = mounts.holding(file)
    if below.file_system in mounts.MEMORY_FILE_SYSTEMS:
        return None, IN_MEMORY, False
    disk = disk_of_mount(below)
    if disk is None:
        return None, f"not restored: no disk is in sight below {below.file_system}", None
    queue = Queue(disk)
    if (reason := cannot_forget(queue)) is not None:
        return None, *reason
    if not any(option.split("=")[0] == "discard" for option in below.options):
        return None, f"not restored: {below.point} is mounted without discard", True
    if "discard=async" in below.options:
        return None, f"not restored: {below.point} discards later (discard=async)", True
    return queue, None, False
