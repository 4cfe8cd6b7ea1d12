"""The queue of a disk: scheduler, depth, read-ahead, and the disk's counters.

The kernel documents them in Documentation/ABI/stable/sysfs-block and Documentation/block/stat.rst.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsgreen.devices import kept
from fsgreen.errors import FsgreenError, unknown
from fsgreen.units import SECTOR_B

KEPT = "queue.json"
"""The file of a work folder that keeps the original settings of a real disk's queue."""

DISCARD_S = 30.0
"""Longest wait for discards. ext4 discards in the background, and skips blocks that were written
again meanwhile."""

LEAST_REQUESTS = 4
"""The kernel's minimum of requests in a queue (block/blk.h, BLKDEV_MIN_RQ)."""

DRIVERS_DEPTH = "../device/queue_depth"
"""The path, from the folder of the queue, to the driver's own number of commands."""

LOOP_REQUESTS = Path("/sys/module/loop/parameters/hw_queue_depth")
LOOP_REQUESTS_DEFAULT = 128
"""The most requests that a loop device takes at once (drivers/block/loop.c)."""

READ_AHEAD_KIB = 128
"""The kernel's default for a disk. A loop device gets 2560 behind FUSE, and keeps its value when it
gets another file."""

NONE = "none"

MODULES = ("mq-deadline", "kyber", "bfq")
"""Schedulers of the kernel. Each is in a module NAME-iosched, unless it is built in."""


@dataclass(frozen=True)
class QueueState:
    """The settings of a device's queue at one time, for the record of a `stacks.base.Mount`."""

    scheduler: str | None = None
    queue_depth: int | None = None
    read_ahead_b: int | None = None
    simulated: dict[str, Any] | None = None
    nvme: dict[str, int | str] | None = None


class Queue:
    """The queue of one whole disk, by its kernel name (`loop3`)."""

    def __init__(self, device_name: str) -> None:
        self.name = device_name
        self.folder = Path("/sys/block") / device_name / "queue"

    def schedulers(self) -> list[str]:
        """Return the schedulers that the kernel offers for this disk."""
        return re.findall(r"[\w-]+", (self.folder / "scheduler").read_text())

    @property
    def scheduler(self) -> str | None:
        """The scheduler in use; None if the disk has none to choose."""
        match = re.search(r"\[([\w-]+)\]", (self.folder / "scheduler").read_text())
        return match[1] if match else None

    def check_scheduler(self, name: str) -> None:
        """Raise `FsgreenError` if the kernel does not offer this scheduler for the disk."""
        if name not in self.schedulers():
            remedy = (
                f"modprobe {name}-iosched"
                if name in MODULES
                else "take --testbed simdisk, which has old kernels' too, or one of these"
            )
            raise unknown("scheduler", name, self.schedulers(), where=self.name, next_step=remedy)

    def set_scheduler(self, name: str) -> None:
        """Set the scheduler and read it back. Raises `FsgreenError` if they differ."""
        self.check_scheduler(name)
        if self.scheduler != name:
            (self.folder / "scheduler").write_text(name)
        if self.scheduler != name:
            raise FsgreenError(
                f"the scheduler is {self.scheduler} although {name} was set",
                where=self.name,
                next_step=f"cat {self.folder}/scheduler",
            )

    def number(self, name: str) -> int:
        """Return a numeric attribute (`nr_requests`, `read_ahead_kb`, `logical_block_size`)."""
        return int((self.folder / name).read_text())

    def set_number(self, name: str, value: int) -> None:
        """Set a numeric attribute and read it back. Raises `FsgreenError` if they differ."""
        (self.folder / name).write_text(str(value))
        if self.number(name) != value:
            raise FsgreenError(
                f"{name} is {self.number(name)} although {value} was set",
                where=self.name,
                next_step=f"cat {self.folder}/{name}",
            )

    def set_requests(self, requests: int | None) -> None:
        """Set how many requests a scheduler sorts, unless that is None or the number already."""
        if requests is not None and requests != self.number("nr_requests"):
            self.set_number("nr_requests", requests)

    def limit_loop(self, requests: int | None = None) -> None:
        """Limit the requests that a loop device takes at once; None means as many as it can.

        Afterwards the device has no scheduler.
        """
        most = LOOP_REQUESTS_DEFAULT
        if LOOP_REQUESTS.exists():
            most = int(LOOP_REQUESTS.read_text())
        self.set_depth(max(min(requests or most, most), LEAST_REQUESTS))

    def depth(self) -> int:
        """Return how many commands the disk takes at once without a limit.

        If the disk has a queue of commands (SCSI, SATA), its driver has the number. Otherwise it is
        the number of requests without a scheduler, so the scheduler is removed for a moment. A
        limit that was set under a scheduler does not show then.
        """
        if (self.folder / DRIVERS_DEPTH).exists():
            return self.number(DRIVERS_DEPTH)
        scheduler = self.scheduler
        if scheduler not in (None, NONE):
            self.set_scheduler(NONE)
        try:
            return self.number("nr_requests")
        finally:
            if scheduler is not None:
                self.set_scheduler(scheduler)

    def least_depth(self) -> int:
        """Return the least depth that can be set."""
        return 1 if (self.folder / DRIVERS_DEPTH).exists() else LEAST_REQUESTS

    def set_depth(self, commands: int) -> None:
        """Limit the commands that the disk takes at once. The disk may lose its scheduler.

        A scheduler sorts only requests that the device has not taken yet. Without a scheduler, the
        number of requests is that of the device; a scheduler has its own number. The device keeps
        its number, and a loop device even keeps it when it gets another file. But after a scheduler
        was set, the number is no longer shown. So another number is written first, as the kernel
        would ignore a number that it takes for unchanged.
        """
        if (self.folder / DRIVERS_DEPTH).exists():
            self.set_number(DRIVERS_DEPTH, commands)
            return
        if self.scheduler is not None:
            self.set_scheduler(NONE)
        other = commands - 1 if commands > LEAST_REQUESTS else commands + 1
        for number in (other, commands):
            self.set_number("nr_requests", number)

    def describe(self) -> dict[str, Any]:
        """Return scheduler, depth, read-ahead and block sizes, for the record of a campaign."""
        return {
            "scheduler": self.scheduler,
            "schedulers": self.schedulers(),
            "queue_depth": self.number("nr_requests"),
            "read_ahead_b": self.number("read_ahead_kb") * 1024,
            "rotational": bool(self.number("rotational")),
            "logical_block_b": self.number("logical_block_size"),
            "physical_block_b": self.number("physical_block_size"),
        }

    def state(self) -> QueueState:
        """Return the present scheduler, depth and read-ahead."""
        read_ahead_b = self.number("read_ahead_kb") * 1024
        return QueueState(self.scheduler, self.number("nr_requests"), read_ahead_b)

    def reads(self) -> int:
        """Return the number of reads that the disk has completed, as in /proc/diskstats."""
        return self._counters()[0]

    def written_b(self) -> int:
        """Return the bytes that have been written to the disk, as in /proc/diskstats."""
        return self._counters()[6] * SECTOR_B

    def discarded_b(self) -> int:
        """Return the bytes of the disk that have been discarded, as in /proc/diskstats."""
        return self._counters()[13] * SECTOR_B

    def await_discarded_b(self, before_b: int, size_b: int) -> int:
        """Return the bytes discarded since the counter was `before_b`.

        It waits until they reach `size_b`, at most `DISCARD_S`.
        """
        deadline_s = time.monotonic() + DISCARD_S
        while self.discarded_b() < before_b + size_b and time.monotonic() < deadline_s:
            time.sleep(0.01)
        return self.discarded_b() - before_b

    def keep(self, folder: Path, **before: int | str | None) -> None:
        """Save what `put_back` restores: values of `SETTINGS`; None for what the disk lacks."""
        found = {name: value for name, value in before.items() if value is not None}
        kept.keep(folder / KEPT, self.name, found)

    def _counters(self) -> list[int]:
        return [int(word) for word in (self.folder.parent / "stat").read_text().split()]


def known_schedulers() -> set[str]:
    """Return the schedulers of all kernels, and those that this kernel offers for its disks."""
    choices = Path("/sys/block").glob("*/queue/scheduler")
    here = (Queue(choice.parents[1].name) for choice in choices)
    return {NONE, *MODULES}.union(*(queue.schedulers() for queue in here))


SETTINGS = {
    "depth": "the queue depth {}",
    "scheduler": "the scheduler {}",
    "requests": "the {} requests of the scheduler",
    "read_ahead_kb": "the read-ahead of {} KiB",
}
"""What is put back, in this order: a scheduler goes with a depth, and its requests with it."""


def put_back(folder: Path) -> list[str]:
    """Restore the queue of a disk from what `Queue.keep` saved; see `kept.put_back`."""
    return kept.put_back(folder / KEPT, SETTINGS, _put)


def _put(disk: str, name: str, value: Any) -> bool:
    """Set one of `SETTINGS`; return whether it was otherwise, as far as it shows."""
    queue = Queue(disk)
    if name == "depth":
        queue.set_depth(value)
        return True
    if name == "scheduler":
        changes = queue.scheduler != value
        if changes:
            queue.set_scheduler(value)
        return changes
    number = "nr_requests" if name == "requests" else name
    changes = queue.number(number) != value
    if changes:
        queue.set_number(number, value)
    return changes
