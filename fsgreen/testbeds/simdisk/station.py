"""A simulated disk under a loop device: served, set up and timed as a cell asks for it."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.simdisk import PROGRAM, Control
from fsgreen.testbeds import ager, folders, image, losetup
from fsgreen.testbeds.base import Conditions, Mount
from fsgreen.testbeds.queue import MODULES, NONE, SECTOR_B
from fsgreen.testbeds.simdisk.server import Disk, Server, parameters
from fsgreen.testbeds.simdisk.states import SimulatedStates
from fsgreen.testbeds.volume import Volume

PARTITIONS = 4

FIFO = "fifo"
INSTANT = "instant"


class Station:
    """The disk that is served now, and the loop device on the part of it that a cell asks for.

    Parameters
    ----------
    work : folders.WorkFolder
        Holds the data of the disk, its mount and its socket.
    disk : Disk
        The disk of cells that name none.
    size_b : int
        Bytes of the file system, a multiple of 4 MiB.
    queue_depth : int, optional
        Commands that the disk takes at once; default: as many as it can.
    scheduler : str
        Of the kernel or of the simulator, for cells that name none.
    aging : ager.Aging, optional
        What an aged file system is to be.
    """

    def __init__(
        self,
        work: folders.WorkFolder,
        disk: Disk,
        size_b: int,
        queue_depth: int | None,
        scheduler: str,
        aging: ager.Aging | None,
    ) -> None:
        self._work = work
        self._disk = disk
        self._size_b = size_b
        self._own_depth = queue_depth
        self._own_scheduler = scheduler
        self._aging = aging
        self._server: Server | None = None
        self._volume: Volume | None = None
        self._begin_b = 0
        self._depth_of_disk = 0
        self.disk_sha256 = ""
        """Of the parameters of the disk that is served now."""

    @property
    def control(self) -> Control:
        """The control socket of the disk that is served now."""
        return self._serving().control

    @property
    def volume(self) -> Volume:
        """The loop device on it; raises `FsgreenError` where there is none."""
        if self._volume is None:
            raise _closed()
        return self._volume

    @property
    def device_name(self) -> str | None:
        """The loop device's name in /proc/diskstats, None while there is none."""
        return None if self._volume is None else self._volume.device.name

    def load(self, conditions: Conditions) -> None:
        """Serve the disk of these conditions, at rest and without a file system, in its time."""
        name = conditions.disk or self._disk.name
        if self._server is None or self._server.disk.name != name:
            self.stop()
            served = replace(self._disk, name=name)
            self._server = Server(served, self._work.path, lock_fd=self._work.lock_fd)
            said = self.control.ask("describe")
            if not said["zones"]:
                self.stop()
                raise FsgreenError(
                    f"{said['model']} is an SSD, whose state the testbed cannot make: "
                    "it would be neither initial nor steady",
                    where=f"disk {name}",
                    next_step=f"take a hard disk ({PROGRAM} disks), or replay a trace of requests "
                    f"on the SSD in virtual time ({PROGRAM} replay --help)",
                )
            self._depth_of_disk = said["depth"]
            self.disk_sha256 = hashlib.sha256(parameters(name).encode()).hexdigest()
        begin_b = self._begin_of(conditions.partition)
        if self._volume is None or self._begin_b != begin_b:
            self._detach()
            self._volume = self._attach(begin_b)
            self._begin_b = begin_b
        self._volume.unmount()
        self._set_queue(conditions)
        self.set_clock(self._disk.clock)

    def check_scheduler(self, name: str) -> None:
        """Raise `FsgreenError` if the kernel, or else the simulator, has no such scheduler."""
        if name == FIFO:
            raise FsgreenError(
                f"requests in the order of their arrival are the scheduler {NONE} here, not {FIFO}",
                where=f"disk {self._serving().disk.name}",
                next_step=f"name {NONE} in the study",
            )
        if self._is_kernels(name):
            self.volume.queue.check_scheduler(name)
        else:
            before = self.control.ask("describe")["scheduler"]
            self.control.ask("scheduler", to=name)
            self.control.ask("scheduler", to=before)

    def _is_kernels(self, scheduler: str) -> bool:
        """Return whether a name is one of the kernel's, also where its module is missing."""
        return scheduler in MODULES or scheduler in self.volume.queue.schedulers()

    def _begin_of(self, partition: int | None) -> int:
        """Return the first byte of the file system's place; raises FsgreenError if it is small."""
        whole_b = self.control.ask("describe")["sectors"] * SECTOR_B
        part_b = whole_b if partition is None else whole_b // PARTITIONS
        if part_b < self._size_b + image.CHUNK_B:
            raise FsgreenError(
                f"disk too small: the file system is to have {self._size_b >> 20} MiB, "
                f"{'the disk' if partition is None else 'a partition'} has {part_b >> 20} MiB",
                where=f"disk {self._serving().disk.name}",
                next_step="a smaller image_mib in the profile, or another disk",
            )
        begin_b = 0 if partition is None else (partition - 1) * part_b
        return -(-begin_b // image.CHUNK_B) * image.CHUNK_B

    def _attach(self, begin_b: int) -> Volume:
        file = self._serving().file
        device = losetup.attach(
            file, lock_fd=self._work.lock_fd, offset_b=begin_b, size_b=self._size_b
        )
        states = SimulatedStates(device, file, self._size_b)
        return Volume(self._work, device, file, self._size_b, states, self._aging)

    def _set_queue(self, conditions: Conditions) -> None:
        """Give the disk its depth, and let either the kernel or the simulator sort before it.

        The kernel's scheduler is given a device that takes no more than the disk, so that there is
        something to sort; for the simulator's, it takes all that it can.
        """
        queue, control = self.volume.queue, self.control
        depth = conditions.queue_depth or self._own_depth or self._depth_of_disk
        wanted = conditions.scheduler or self._own_scheduler
        by_kernel = self._is_kernels(wanted)
        control.ask("depth", to=depth)
        control.ask("scheduler", to=FIFO if by_kernel else wanted)
        queue.limit_loop(depth if by_kernel else None)
        if by_kernel:
            queue.set_scheduler(wanted)

    def completed(self, mount: Mount) -> Mount:
        """Return what is mounted with the queue of the disk in place of the loop device's."""
        said = self.control.ask("describe")
        names = ("model", "sectors", "depth", "policy", "scheduler")
        simulated: dict[str, Any] = {name: said[name] for name in names} | {
            "disk": self._serving().disk.name,
            "disk_sha256": self.disk_sha256,
            "offset_b": self._begin_b,
            "kernel_scheduler": mount.scheduler,
            "kernel_requests": mount.queue_depth,
        }
        return replace(
            mount,
            scheduler=mount.scheduler if said["scheduler"] == FIFO else said["scheduler"],
            queue_depth=said["depth"],
            simulated=simulated,
        )

    @contextlib.contextmanager
    def in_an_instant(self) -> Iterator[None]:
        """Let the disk take no time meanwhile; then it is at rest, with empty caches."""
        self.set_clock(INSTANT)
        try:
            with self.control.storing():
                yield
        finally:
            self.set_clock(self._disk.clock)

    def set_clock(self, to: str) -> None:
        """Choose whether the disk takes its time (`real`) or none (`instant`)."""
        self.control.ask("clock", to=to)

    def stop(self) -> None:
        """End the server, with nothing of its disk mounted or attached; harmless when repeated."""
        if self._server is None:
            return
        with contextlib.suppress(FsgreenError):  # one that does as if it were gone is ended too
            self.control.ask("fault", kind="none")
            self.set_clock(INSTANT)
        self._detach()
        self._server.stop()
        self._server = None

    def _detach(self) -> None:
        folders.free_devices(self._work.path, self._work.lock_fd)
        self._volume = None

    def _serving(self) -> Server:
        if self._server is None:
            raise _closed()
        return self._server


def _closed() -> FsgreenError:
    return FsgreenError(
        "no disk is served", where="testbed simdisk", next_step="open the testbed again"
    )
