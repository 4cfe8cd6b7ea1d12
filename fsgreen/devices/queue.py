"""A disk by its kernel name: scheduler, depth and read-ahead of its queue, and its counters.

Documented in the kernel's Documentation/ABI/stable/sysfs-block and Documentation/block/stat.rst.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsgreen import durable
from fsgreen.devices import blockdev, mounts
from fsgreen.errors import FsgreenError, unknown

SECTOR_B = 512

KEPT = "queue.json"
"""The file of a work folder that says how the queue of a real disk was."""

DISCARD_S = 30.0
"""How long a disk is given: ext4 discards in the background, and leaves out what was written again
meanwhile."""

LEAST_REQUESTS = 4
"""The kernel lets no queue have fewer (block/blk.h, BLKDEV_MIN_RQ)."""

DRIVERS_DEPTH = "../device/queue_depth"
"""The driver's own number of commands, beside the folder of the queue."""

LOOP_REQUESTS = Path("/sys/module/loop/parameters/hw_queue_depth")
LOOP_REQUESTS_DEFAULT = 128
"""How many requests a loop device can take at once (drivers/block/loop.c)."""

READ_AHEAD_KIB = 128
"""The kernel's default for a disk. A loop device gets 2560 behind FUSE, and keeps what it had from
one file to the next."""

NONE = "none"

MODULES = ("mq-deadline", "kyber", "bfq")
"""Schedulers of the kernel, each in a module NAME-iosched where it is not built in."""


@dataclass(frozen=True)
class QueueState:
    """The queue of a device at a moment, for the record of a mount: see `stacks.base.Mount`."""

    scheduler: str | None = None
    queue_depth: int | None = None
    read_ahead_b: int | None = None
    simulated: dict[str, Any] | None = None


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
        """The scheduler in use, None where the disk has no choice."""
        match = re.search(r"\[([\w-]+)\]", (self.folder / "scheduler").read_text())
        return match[1] if match else None

    def check_scheduler(self, name: str) -> None:
        """Raise `FsgreenError` if the kernel does not offer this scheduler here."""
        if name not in self.schedulers():
            remedy = (
                f"modprobe {name}-iosched"
                if name in MODULES
                else "take --testbed simdisk, which has old kernels' too, or one of these"
            )
            raise unknown("scheduler", name, self.schedulers(), where=self.name, next_step=remedy)

    def set_scheduler(self, name: str) -> None:
        """Set the scheduler and read it back; raises `FsgreenError` if it does not hold."""
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
        """Set a numeric attribute and read it back; raises `FsgreenError` if it does not hold."""
        (self.folder / name).write_text(str(value))
        if self.number(name) != value:
            raise FsgreenError(
                f"{name} is {self.number(name)} although {value} was set",
                where=self.name,
                next_step=f"cat {self.folder}/{name}",
            )

    def limit_loop(self, requests: int | None = None) -> None:
        """Let a loop device take so many requests at once, as many as it can without a number.

        It is left without a scheduler.
        """
        most = LOOP_REQUESTS_DEFAULT
        if LOOP_REQUESTS.exists():
            most = int(LOOP_REQUESTS.read_text())
        self.set_depth(max(min(requests or most, most), LEAST_REQUESTS))

    def depth(self) -> int:
        """Return how many commands the disk takes at once while nobody limits it.

        Its driver says so where commands are queued in the disk (SCSI, SATA). Elsewhere it is the
        number of requests without a scheduler, which is therefore taken away for a moment; a limit
        that was set under one does not show then.
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
        """Return the smallest depth that can be set."""
        return 1 if (self.folder / DRIVERS_DEPTH).exists() else LEAST_REQUESTS

    def set_depth(self, commands: int) -> None:
        """Let the disk take so many commands at once; it may be left without a scheduler.

        A scheduler sorts only what the device does not take yet. The number of requests is that of
        the device while it has no scheduler, which would have a number of its own; the device keeps
        it, a loop device also from one file to the next, and does not show it any more once there
        was a scheduler. It is therefore written twice, with another between, so that the kernel
        does not pass it over.
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
        """Return scheduler, depth and read-ahead as they are now."""
        read_ahead_b = self.number("read_ahead_kb") * 1024
        return QueueState(self.scheduler, self.number("nr_requests"), read_ahead_b)

    def reads(self) -> int:
        """Return the reads that the disk completed since it appeared, as in /proc/diskstats."""
        return self._counters()[0]

    def written_b(self) -> int:
        """Return the bytes written to the disk since it appeared, as in /proc/diskstats."""
        return self._counters()[6] * SECTOR_B

    def discarded_b(self) -> int:
        """Return the bytes of the disk that were discarded, as in /proc/diskstats."""
        return self._counters()[13] * SECTOR_B

    def await_discarded_b(self, before_b: int, size_b: int) -> int:
        """Return the bytes discarded since the counter stood at `before_b`.

        `size_b` of them are waited for, for `DISCARD_S` at most.
        """
        deadline_s = time.monotonic() + DISCARD_S
        while self.discarded_b() < before_b + size_b and time.monotonic() < deadline_s:
            time.sleep(0.01)
        return self.discarded_b() - before_b

    def keep(self, folder: Path, **changed: int) -> None:
        """Write into a folder what `put_back` is to set: the scheduler, and what else is `changed`.

        `depth` and `read_ahead_kb` come when a cell is about to set another: what no cell sets is
        not put back, as others may have set it since.
        """
        file = folder / KEPT
        found = {"name": self.name, "scheduler": self.scheduler}
        kept = json.loads(file.read_text()) if file.exists() else found
        with durable.whole(file) as partial:
            partial.write_text(json.dumps({**kept, **changed}))

    def _counters(self) -> list[int]:
        return [int(word) for word in (self.folder.parent / "stat").read_text().split()]


def known_schedulers() -> set[str]:
    """Return the schedulers that kernels have, and those that this one offers for its disks."""
    choices = Path("/sys/block").glob("*/queue/scheduler")
    here = (Queue(choice.parents[1].name) for choice in choices)
    return {NONE, *MODULES}.union(*(queue.schedulers() for queue in here))


def put_back(folder: Path) -> list[str]:
    """Give the disk that a folder knows of back what it had; return a line for each thing done."""
    done = []
    try:
        kept = json.loads((folder / KEPT).read_text())
        queue, scheduler, depth = Queue(kept["name"]), kept["scheduler"], kept.get("depth")
        if depth is not None:
            queue.set_depth(depth)
            done.append(f"put back the queue depth {depth} of {queue.name}")
        if scheduler is not None and queue.scheduler != scheduler:
            queue.set_scheduler(scheduler)
            done.append(f"put back the scheduler {scheduler} of {queue.name}")
        read_ahead_kb = kept.get("read_ahead_kb")
        if read_ahead_kb is not None and queue.number("read_ahead_kb") != read_ahead_kb:
            queue.set_number("read_ahead_kb", read_ahead_kb)
            done.append(f"put back the read-ahead of {read_ahead_kb} KiB of {queue.name}")
    except FileNotFoundError:
        return done
    except (OSError, ValueError, LookupError, TypeError, FsgreenError) as error:
        done.append(f"could not put back the queue of a disk: {error}")
    return done


def disk_of(entry: mounts.MountEntry) -> str | None:
    """Return the whole disk below a mount, through its partition if there is one."""
    device = Path(entry.source)
    if device.is_absolute() and device.is_block_device():
        path = (blockdev.SYS_BLOCK / blockdev.kernel_name(device)).resolve()
    else:
        path = Path("/sys/dev/block", entry.device_number).resolve()
    if not path.exists():
        return None
    return path.parent.name if (path / "partition").exists() else path.name
