"""The device `simdisk`: a loop device on a disk in software. docs/simdisk.md describes the model.

While files and file systems are made, the disk takes no time. After the last mount of the
preparation, it takes as long as the real disk would. It begins at rest, with empty caches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from fsgreen import commands, paths
from fsgreen.devices import folders, image, loop, mounts, probe, removal
from fsgreen.devices.base import Availability, OnThisMachine, Settings, require_root
from fsgreen.devices.levels import (
    check_read_ahead,
    check_traffic,
    read_ahead_kib_of,
    refuse_levels,
    scheduler_of,
    state_of,
)
from fsgreen.devices.names import OF_NVME, Levels
from fsgreen.devices.queue import MODULES, NONE, READ_AHEAD_KIB, QueueState
from fsgreen.devices.served import ServedDisk
from fsgreen.devices.simulatedvolume import SimulatedVolume, begin_of, check_partition
from fsgreen.devices.volume import Volume
from fsgreen.errors import FsgreenError
from fsgreen.simdisk import PROGRAM, Control, Disk, parameters, require


class SimulatedDevice(OnThisMachine):
    """The served disk, and the loop device on the part of it that a cell uses.

    It needs root, FUSE and the engine. The file system begins at the start of the disk, or of the
    cell's partition. Its size is rounded down to 4 MiB.

    Raises FsgreenError if the user is not root, the engine is not built, the folder or the disk is
    too small, or the disk cannot be served.
    """

    kind = "simdisk"

    def __init__(self, settings: Settings) -> None:
        require_root(self.kind)
        require()
        self._disk = settings.simulated or Disk()
        self._size_b = settings.size_b // image.CHUNK_B * image.CHUNK_B
        self._depth = settings.queue_depth
        self._scheduler = settings.scheduler or NONE
        self._served: ServedDisk | None = None
        self._volume: Volume | None = None
        self._begin_b = 0
        folder = settings.folder or image.RAM
        image.require_space(folder, self._size_b)
        self.work = folders.claim(folder, self.kind)
        try:
            self.load({})
            self._described = self._describe()
        except BaseException:
            with commands.uninterrupted():
                self.close()
                self.work.release()
            raise

    @staticmethod
    def available() -> Availability:
        """Return whether a simulated disk can be served here."""
        loops = loop.LoopDevice.available()
        if not loops.usable:
            return Availability("simdisk", False, loops.why)
        if not Path("/dev/fuse").exists():
            return Availability("simdisk", False, "no FUSE in this kernel: modprobe fuse")
        if paths.program(PROGRAM) is None:
            return Availability("simdisk", False, f"the engine is not built: {paths.BUILD}")
        return Availability("simdisk", True, "a disk in software, where it is asked for")

    @staticmethod
    def default_folder() -> Path:
        """Return the folder in RAM. On a disk, the simulated disk would answer too late."""
        return image.RAM

    @property
    def name(self) -> str | None:
        """The name of the loop device in /proc/diskstats; None while there is none."""
        return None if self._volume is None else self._volume.node.name

    @property
    def volume(self) -> Volume:
        """The loop device on the disk. Raises `FsgreenError` if there is none."""
        if self._volume is None:
            raise _closed()
        return self._volume

    def simulator(self) -> Control:
        """Return the control socket of the served disk."""
        return self._serving().control

    def describe(self) -> dict[str, Any]:
        """Return the size, the file system below, and the disk of cells that name none."""
        return self._described

    def _describe(self) -> dict[str, Any]:
        backing = mounts.holding(self.work.path).file_system
        served = self._serving()
        return {
            **served.describe(),
            "size_b": self._size_b,
            "in_memory": backing in mounts.MEMORY_FILE_SYSTEMS,
            "backing": backing,
            "direct_io": True,
            "device": self.name,
            "scheduler": self._scheduler,
            "read_ahead_b": self.volume.queue.number("read_ahead_kb") * 1024,
        }

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` for levels that are unknown or that disk or kernel cannot have."""
        state_of(levels)
        check_read_ahead(levels)
        check_traffic(levels)
        scheduler = scheduler_of(levels)
        if scheduler is not None:
            self._check_scheduler(scheduler)
        check_partition(levels.get("partition"))
        refuse_levels(self.kind, levels, OF_NVME)
        depth = levels.get("queue_depth")
        if depth is not None and depth < 1:
            raise FsgreenError(
                f"a disk takes one command at least, not {depth}",
                where=f"testbed {self.kind}",
                next_step="a queue_depth from 1 up in the study",
            )
        if levels.get("disk") is not None:
            parameters(levels["disk"])

    def load(self, levels: Levels) -> None:
        """Serve the disk of these levels, at rest, without a file system, and with its clock."""
        name = levels.get("disk") or self._disk.name
        if self._served is None or self._served.disk.name != name:
            self.close()
            self._served = ServedDisk(replace(self._disk, name=name), self.work)
        served = self._served
        begin_b = begin_of(levels.get("partition"), served.size_b, self._size_b, disk=name)
        if self._volume is None or self._begin_b != begin_b:
            self._detach()
            self._volume = self._attach(begin_b)
            self._begin_b = begin_b
        self._set_queue(levels)
        served.keep_time()

    def _attach(self, begin_b: int) -> Volume:
        served, lock_fd = self._serving(), self.work.lock_fd
        node = loop.attach(served.file, lock_fd=lock_fd, offset_b=begin_b, size_b=self._size_b)
        return SimulatedVolume(node, served.file, self._size_b, lock_fd, served)

    def _detach(self) -> None:
        if self._volume is not None:
            self._volume.close()
        removal.free_devices(self.work.path, self.work.lock_fd)
        self._volume = None

    def _check_scheduler(self, name: str) -> None:
        """Raise `FsgreenError` if neither the kernel nor the simulator has this scheduler."""
        if self._is_kernels(name):
            self.volume.queue.check_scheduler(name)
        else:
            self._serving().check_scheduler(name)

    def _is_kernels(self, scheduler: str) -> bool:
        """Return whether a scheduler is the kernel's, even if its module is missing here."""
        return scheduler in MODULES or scheduler in self.volume.queue.schedulers()

    def _set_queue(self, levels: Levels) -> None:
        """Set depth, read-ahead and scheduler; either the kernel or the disk sorts requests.

        For a scheduler of the kernel, the loop device takes no more requests than the disk, so that
        some are left to sort. For a scheduler of the simulator, it takes as many as it can.
        """
        queue, served = self.volume.queue, self._serving()
        depth = levels.get("queue_depth") or self._depth or served.depth
        scheduler = scheduler_of(levels) or self._scheduler
        by_kernel = self._is_kernels(scheduler)
        served.set_queue(depth, None if by_kernel else scheduler)
        queue.limit_loop(depth if by_kernel else None)
        if by_kernel:
            queue.set_scheduler(scheduler)
        queue.set_number("read_ahead_kb", read_ahead_kib_of(levels, READ_AHEAD_KIB))

    def queue_state(self) -> QueueState:
        """Return the queue of the disk. `simulated` has that of the loop device."""
        kernel = self.volume.queue.state()
        return self._serving().queue_state(kernel, offset_b=self._begin_b)

    def untimed(self, *, stay: bool = False) -> AbstractContextManager[None]:
        """Let the disk take no time in the `with` block; without `stay`, it is then at rest."""
        return nullcontext() if self._served is None else self._served.untimed(stay=stay)

    def sleep(self) -> None:
        """Stop the platters, and return once they stand still. The next request starts them.

        Nothing happens on a disk that takes no time. Raises `FsgreenError` if the disk has no
        platters, or if they do not stop.
        """
        if self._disk.clock == "real":
            self._serving().sleep()

    def events(self) -> Mapping[str, Callable[[], None]]:
        """Return the event `disk_asleep`: the disk sleeps until the next request."""
        return {"disk_asleep": lambda: self._serving().stand_by()}

    def probe(self, seed: int) -> dict[str, Any]:
        """Return the measurements of the bare device, from `probe.probe`."""
        volume = self.volume
        return probe.probe(volume.node, seed, queue=volume.queue, overwriting=volume.overwriting)

    def restore(self) -> None:
        """Do nothing: each `load` sets the queue."""

    def close(self) -> None:
        """Detach the disk and end its server. Nothing of it may be mounted."""
        if self._served is None:
            return
        self._served.let_go()
        self._detach()
        self._served.close()
        self._served = None

    def _serving(self) -> ServedDisk:
        if self._served is None:
            raise _closed()
        return self._served


def _closed() -> FsgreenError:
    return FsgreenError(
        "no disk is served", where="testbed simdisk", next_step="open the testbed again"
    )
