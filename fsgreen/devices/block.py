"""The device `block`: a real disk that a testbed file names and confirms by its serial number.

The disk, or a partition of it, is formatted again and again: its data are lost. While nothing of it
is mounted, it is held open exclusively, so that nobody else mounts or formats it during a campaign.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fsgreen.devices import blockdev, guard, image
from fsgreen.devices.base import Availability, Settings, require_root
from fsgreen.devices.folders import WorkFolder, claim
from fsgreen.devices.names import READ_AHEAD, Levels
from fsgreen.devices.powerstates import PowerStates
from fsgreen.devices.queue import NONE, Queue, QueueState
from fsgreen.devices.real import RealDevice
from fsgreen.devices.volume import DeviceState, Volume, cannot_forget
from fsgreen.errors import FsgreenError

SETTLE_S = 5.0
"""Longest wait for a program that reads each new file system, such as udev's."""

LIST = "lsblk -o NAME,SERIAL,SIZE,FSTYPE,LABEL,MOUNTPOINTS; ls -l /dev/disk/by-id"


class DiskVolume(Volume):
    """A disk or a partition, and its states: initial and steady.

    A rotating disk remembers no writes. A solid-state disk that takes discards is discarded and
    written once; for the steady state, it is written once more (as in `imagevolume`). A solid-state
    disk that takes no discards is left as it is, and the record says that it remembers writes.
    """

    _fd = -1

    def initial(self) -> DeviceState:
        """Discard the whole disk, if it takes discards, and write it once."""
        reason = cannot_forget(self.queue)
        if reason is not None:
            return DeviceState("initial", 0, 0, self.size_b, *reason)
        discarded_b = self._discard()
        return DeviceState("initial", self.fill(), discarded_b, self.size_b)

    def _discard(self) -> int:
        before_b = self.queue.discarded_b()
        with self.overwriting() as fd:
            image.discard(fd, self.size_b)
        return self.queue.await_discarded_b(before_b, self.size_b)

    def hold(self) -> None:
        """Open the disk exclusively. Raises `FsgreenError` if it stays in use for `SETTLE_S`."""
        if self._fd >= 0:
            return
        deadline_s = time.monotonic() + SETTLE_S
        while True:
            try:
                self._fd = guard.open_alone(self.node)
                return
            except FsgreenError:
                if time.monotonic() > deadline_s:
                    raise
            time.sleep(0.05)

    def close(self) -> None:
        """Release the disk for good."""
        self.release()
        super().close()

    def release(self) -> None:
        """Release the disk, so that it can be mounted."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def format(self, command: Sequence[str]) -> tuple[str, ...]:
        """Run mkfs, which opens the disk exclusively itself; return the whole command."""
        with self._lent():
            return super().format(command)

    @contextmanager
    def overwriting(self) -> Iterator[int]:
        """Yield an exclusive descriptor for direct reads and writes."""
        with self._lent(), super().overwriting() as fd:
            yield fd

    @contextmanager
    def _lent(self) -> Iterator[None]:
        self.release()
        try:
            yield
        finally:
            self.hold()


class BlockDevice(RealDevice):
    """A disk of the testbed file, or the partition of it that a cell names. Needs root.

    Raises FsgreenError if the user is not root; if the file names no disk, or does not confirm it;
    if the disk is missing, is a partition, has another serial number, is in use, or is too small.
    """

    kind = "block"
    no_choice_of = ("disk",)

    def __init__(self, settings: Settings) -> None:
        require_root(self.kind)
        self._listed = replace(_confirmed(settings.listed), partition=settings.partition)
        self._partition = settings.partition
        self._least_b = settings.size_b
        self._depth = settings.queue_depth
        self._limited = False
        self._depth_now = 0
        self._whole_disk: bool | None = None
        guard.check_destructive(self._listed.node(), self._listed)
        self._size_of(self._listed)
        with ExitStack() as undone:
            work = claim(settings.folder or image.DISK, self.kind)
            undone.callback(work.release)
            volume = self._hold(self._listed, work)
            undone.callback(volume.close)
            self._before = {
                setting: value
                for (setting, disk), value in settings.before.items()
                if disk == volume.queue.name
            }
            self._requests = self._requests_of_scheduler(volume.queue)
            volume.queue.keep(
                work.path,
                scheduler=self._before.get("scheduler", volume.queue.scheduler),
                requests=self._requests,
            )
            self._most = volume.queue.depth()
            self._check_depth(self._depth, volume.queue)
            self._power_states = PowerStates(volume.queue.name, work.path, work.lock_fd)
            super().__init__(work, volume, settings.scheduler)
            self._described = self._describe()
            undone.pop_all()

    @staticmethod
    def available() -> Availability:
        """Return whether disks can be formatted here. Only a disk that is named is used."""
        if os.geteuid() != 0:
            return Availability("block", False, "needs root: run the same command with sudo")
        return Availability("block", True, "a disk that a testbed file names")

    def describe(self) -> dict[str, Any]:
        """Return the disk, its size, and its queue at the start."""
        return self._described

    def _describe(self) -> dict[str, Any]:
        return {
            "size_b": self.volume.size_b,
            "in_memory": False,
            "by_id": str(self._listed.by_id),
            "serial": self._listed.serial,
            **({} if self._partition is None else {"partition": self._partition}),
            "device": self.name,
            **self._queue.describe(),
        }

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` for an unknown state, scheduler, partition, depth or power state.

        It also does if some cells get a partition and others the whole disk, as these would
        overwrite the partition table.
        """
        super().check(levels)
        partition = levels.get("partition") or self._partition
        self._size_of(replace(self._listed, partition=partition))
        whole_disk = partition is None
        if self._whole_disk not in (None, whole_disk):
            raise FsgreenError(
                "some cells name a partition, and others would format the whole disk with it",
                where=self._listed.by_id,
                next_step="name a partition in each cell, or partition = N in [testbed]",
            )
        self._whole_disk = whole_disk
        self._check_depth(levels.get("queue_depth"), self._queue)
        self._power_states.check(levels)

    def load(self, levels: Levels) -> None:
        """Open the partition, and set queue, scheduler, read-ahead, and states of an NVMe drive."""
        listed = replace(self._listed, partition=levels.get("partition") or self._partition)
        if listed != self._listed:
            self.volume.close()
            self.volume = self._hold(listed, self.work)
            self._listed = listed
        depth = levels.get("queue_depth") or self._depth
        if depth is not None and not self._limited:
            self._queue.keep(self.work.path, depth=self._most)
            self._limited = True
        if levels.get(READ_AHEAD) is not None:
            before_kib = int(self._before.get("read-ahead", self._read_ahead_before_kib))
            self._queue.keep(self.work.path, read_ahead_kb=before_kib)
        if self._limited:
            self._depth_now = depth or self._most
            self._queue.set_depth(self._depth_now)
        self._power_states.load(levels)
        super().load(levels)

    def queue_state(self) -> QueueState:
        """Return the present queue, with the depth that was set and read back.

        Raises `TrialFailed` if an NVMe drive has left its states.
        """
        state = replace(self._queue.state(), nvme=self._power_states.now())
        return replace(state, queue_depth=self._depth_now) if self._limited else state

    def require_states(self) -> None:
        """Raise `TrialFailed` if an NVMe drive has left its states."""
        self._power_states.now()

    def restore(self) -> None:
        """Set the depth, the scheduler, its requests and the states that the disk had."""
        self._power_states.restore()
        if self._limited:
            self._queue.set_depth(self._most)
        super().restore()
        self._queue.set_requests(self._requests)

    def _requests_of_scheduler(self, queue: Queue) -> int | None:
        """Return how many requests the scheduler sorts, which the kernel forgets with it.

        None where the disk has no scheduler, or got the present one from somebody else.
        """
        if "scheduler" in self._before or queue.scheduler in (None, NONE):
            return None
        return queue.number("nr_requests")

    def _size_of(self, listed: guard.ListedDisk) -> int:
        """Return the bytes of the file system. Raises `FsgreenError` if they are too few."""
        size_b = size_of(listed.node()) // image.CHUNK_B * image.CHUNK_B
        if size_b < self._least_b:
            raise FsgreenError(
                f"disk too small: the profile asks for {self._least_b >> 20} MiB, "
                f"it has {size_b >> 20} MiB",
                where=listed.by_id if listed.partition is None else listed.node(),
                next_step="a smaller image_mib in the profile, or another disk",
            )
        return size_b

    def _hold(self, listed: guard.ListedDisk, work: WorkFolder) -> DiskVolume:
        volume = DiskVolume(listed.node(), listed, self._size_of(listed), work.lock_fd)
        try:
            volume.hold()
        except BaseException:
            volume.close()
            raise
        return volume

    def _check_depth(self, depth: int | None, queue: Queue) -> None:
        if depth is not None and not queue.least_depth() <= depth <= self._most:
            raise FsgreenError(
                f"this disk takes {queue.least_depth()} to {self._most} commands at once, "
                f"not {depth}",
                where=f"{queue.name}, queue_depth",
                next_step="another queue_depth in the study or the testbed file",
            )


def _confirmed(listed: guard.ListedDisk | None) -> guard.ListedDisk:
    """Return the disk of the testbed file, after checks that it is a whole disk and confirmed."""
    if listed is None:
        raise FsgreenError(
            "the testbed block needs a disk that a testbed file names",
            where="testbed block",
            next_step=f'in [testbed]: device = "/dev/disk/by-id/..." and serial = "..."; {LIST}',
        )
    if listed.serial is None:
        raise FsgreenError(
            "the testbed file does not confirm by its serial number that this disk may be erased",
            where=listed.by_id,
            next_step=f'{LIST}; then serial = "..." in [testbed]',
        )
    if not listed.by_id.is_block_device():
        raise FsgreenError("there is no such disk", where=listed.by_id, next_step=LIST)
    if (blockdev.SYS_BLOCK / blockdev.kernel_name(listed.by_id) / "partition").exists():
        raise FsgreenError(
            "this is a partition: the file names the whole disk",
            where=listed.by_id,
            next_step=f"{LIST}; then that device, and partition = N in [testbed] or the cells",
        )
    return listed


def size_of(node: Path) -> int:
    """Return the size of a block device in bytes."""
    fd = os.open(node, os.O_RDONLY)
    try:
        return os.lseek(fd, 0, os.SEEK_END)
    finally:
        os.close(fd)
