"""Testbed `simdisk`: real file systems on a disk in software; docs/simdisk.md says what it models.

Files and file systems are made while the disk takes no time. From the last mount of the preparation
on it takes as long as the disk would, beginning at rest with empty caches.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.simdisk import Control
from fsgreen.testbeds import ager, cache, commands, folders, image, mounts
from fsgreen.testbeds.base import Conditions, Mount, check_device_state, require_root
from fsgreen.testbeds.queue import NONE, SECTOR_B
from fsgreen.testbeds.simdisk.server import DEFAULT_DISK, Disk, parameters, require
from fsgreen.testbeds.simdisk.station import INSTANT, PARTITIONS, Station
from fsgreen.testbeds.volume import check_cell

__all__ = ["DEFAULT_DISK", "Disk", "SimdiskTestbed"]


class SimdiskTestbed:
    """A loop device on the file of a simulated disk. Needs root, FUSE and the engine.

    Parameters
    ----------
    folder : Path, optional
        Where the disk's data lie: in RAM (/dev/shm) by default, since a disk below would be late.
    size_b : int
        Bytes of the file system, at the begin of the disk or of the partition of a cell; rounded
        down to 4 MiB.
    disk : Disk, optional
        The disk of cells that name none.
    queue_depth : int, optional
        Commands that the disk takes at once; default: as many as it can.
    scheduler : str, optional
        One of the kernel's I/O schedulers or of the simulator's; default: none.
    aging : ager.Aging, optional
        What an aged file system is to be.
    why : str
        Why this testbed was chosen, for the record.

    Raises
    ------
    FsgreenError
        If the user is not root, the engine is not installed, the place or the disk is too small, or
        the disk cannot be served.
    """

    kind = "simdisk"

    def __init__(
        self,
        folder: Path | None = None,
        *,
        size_b: int,
        disk: Disk | None = None,
        queue_depth: int | None = None,
        scheduler: str | None = None,
        aging: ager.Aging | None = None,
        why: str = "asked for",
    ) -> None:
        require_root(self.kind)
        require()
        self._disk = disk or Disk()
        self._size_b = size_b // image.CHUNK_B * image.CHUNK_B
        place = folder or image.RAM
        image.require_space(place, self._size_b)
        self._work = folders.claim(place, self.kind)
        self._station = Station(
            self._work, self._disk, self._size_b, queue_depth, scheduler or NONE, aging
        )
        try:
            self._station.load(Conditions())
            self._described = self._describe(scheduler or NONE, why)
        except BaseException:
            self.close()
            raise

    def describe(self) -> dict[str, Any]:
        """Return kind, reason, size, what lies below, and the disk of cells that name none."""
        return self._described

    def _describe(self, scheduler: str, why: str) -> dict[str, Any]:
        backing = mounts.holding(self._work.path).file_system
        said, queue = self._station.control.ask("describe"), self._station.volume.queue
        return {
            "kind": self.kind,
            "why": why,
            "size_b": self._size_b,
            "in_memory": backing in cache.MEMORY_FILE_SYSTEMS,
            "backing": backing,
            "direct_io": True,
            "device": self._station.device_name,
            "disk": self._disk.name,
            "disk_sha256": self._station.disk_sha256,
            "model": said["model"],
            "engine": commands.run([require(), "--version"]).strip(),
            "disk_size_b": said["sectors"] * SECTOR_B,
            "write": self._disk.write or "as the disk has it",
            "policy": said["policy"],
            "clock": self._disk.clock,
            "scheduler": scheduler,
            "queue_depth": said["depth"],
            "read_ahead_b": queue.number("read_ahead_kb") * 1024,
            "floor": said["floor"],
            "privileges": said["privileges"],
            "cold_cache": True,
        }

    def simulator(self) -> Control:
        """Return the control socket of the disk that is served now."""
        return self._station.control

    def check(self, file_system: str, option: str, conditions: Conditions = Conditions()) -> None:
        """Raise `FsgreenError` if the cell is unknown, cannot be made here or does not fit."""
        check_device_state(conditions.device)
        if conditions.scheduler is not None:
            self._station.check_scheduler(conditions.scheduler)
        if conditions.partition not in (None, *range(1, PARTITIONS + 1)):
            raise FsgreenError(
                f"a disk has the partitions 1 to {PARTITIONS}, not {conditions.partition}",
                where=f"testbed {self.kind}",
                next_step="1 is the outermost, 4 the innermost",
            )
        if conditions.queue_depth is not None and conditions.queue_depth < 1:
            raise FsgreenError(
                f"a disk takes one command at least, not {conditions.queue_depth}",
                where=f"testbed {self.kind}",
                next_step="a queue_depth from 1 up in the study",
            )
        if conditions.disk is not None:
            parameters(conditions.disk)
        check_cell(file_system, option, self._size_b, self.kind)

    def load(self, conditions: Conditions) -> None:
        """Serve the disk of these conditions, at rest and without a file system, in its time."""
        self._station.load(conditions)

    def prepare(
        self,
        file_system: str,
        option: str,
        conditions: Conditions = Conditions(),
        *,
        seed: int = 0,
    ) -> Mount:
        """Serve the disk of the cell, then make, mount and verify the file system.

        The disk takes no time from then on until `remount`.
        """
        self.check(file_system, option, conditions)
        self._station.load(conditions)
        self._station.set_clock(INSTANT)
        with self._station.control.storing():
            mount = self._station.volume.prepare(file_system, option, conditions.device, seed)
        return self._station.completed(mount)

    def remount(self) -> Mount:
        """Unmount and mount again; from then on the disk takes its time."""
        with self._station.in_an_instant():
            mount = self._station.volume.remount()
        return self._station.completed(mount)

    def resident_share(self) -> float:
        """Measure what is cached, in an instant; see `Volume.resident_share`."""
        with self._station.in_an_instant():
            return self._station.volume.resident_share()

    def warm(self) -> float:
        """Read every file but the ager's, in an instant, and return `resident_share`."""
        with self._station.in_an_instant():
            return self._station.volume.warm()

    def cut_power(self) -> Path:
        """Cut the disk's power, unmount what is left, restore it, and return the device.

        What only the disk's cache held is lost. The device can then be checked and mounted.
        """
        self._station.control.ask("power", to="cut")
        self._station.volume.unmount()
        self._station.control.ask("power", to="restore")
        return self._station.volume.device

    def restore(self) -> None:
        """Unmount, in an instant; the disk is then at rest."""
        if self._station.device_name is not None:
            with self._station.in_an_instant():
                self._station.volume.unmount()

    def close(self) -> None:
        """Unmount (lazily if a process holds on), end the server and delete its data."""
        if self._work.lock_fd >= 0:
            with commands.uninterrupted():
                self._station.stop()
                self._work.release()

    def probe(self, seed: int) -> dict[str, Any]:
        """Return how the device behaves by itself; see `probe.probe`."""
        return self._station.volume.probe(seed)

    def only_file_system(self) -> str | None:
        """Return None: any file system can be made."""
        return None

    def device_name(self) -> str | None:
        """Return the loop device's name in /proc/diskstats, None while there is none."""
        return self._station.device_name

    def __enter__(self) -> SimdiskTestbed:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
