"""An image behind a loop device, and its states: initial and steady, made anew before each mkfs.

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

import os
from collections.abc import Sequence
from pathlib import Path

from fsgreen import commands
from fsgreen.devices import guard, image, mounts
from fsgreen.devices.queue import Queue, disk_of
from fsgreen.devices.volume import DeviceState, Volume, cannot_forget
from fsgreen.errors import FsgreenError

IN_MEMORY = "no state to restore in memory"
NEW = "nothing to restore yet: the image is new"


class ImageVolume(Volume):
    """A loop device on an image of ours that is written in full; see `Volume`."""

    def __init__(self, node: Path, file: Path, size_b: int, lock_fd: int) -> None:
        super().__init__(node, file, size_b, lock_fd)
        self._image = file
        self._untouched_b = self.queue.written_b()
        self._disk, self._left, self._remembers = disk_below(file)

    def format(self, command: Sequence[str]) -> tuple[str, ...]:
        """Run mkfs, and write what it left unwritten."""
        whole = super().format(command)
        self.close_holes()
        return whole

    def initial(self) -> DeviceState:
        """Bring the device into its initial state, as far as the disk below can be made to forget.

        Nothing is done where nothing was written.

        Raises
        ------
        FsgreenError
            If the image keeps holes, or the kernel did not do what it was told.
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
        """Write zeros where the image is not written, which reads as zeros already.

        mkfs lets the kernel zero the tables of ext and the log of xfs. A loop device does so by
        marking the blocks of its image as unwritten, where the file system below can: the first
        write there would be slower.

        Raises
        ------
        FsgreenError
            If holes remain, as on a file system that compresses.
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
        """Discard all of the device and return the bytes that the disk below discarded."""
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
    """Return the disk that can be made to forget a file's blocks: one that hears of those freed.

    None where there is none, with why, and whether what lies below remembers writes, if known.
    """
    below = mounts.holding(file)
    if below.file_system in mounts.MEMORY_FILE_SYSTEMS:
        return None, IN_MEMORY, False
    disk = disk_of(below)
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
