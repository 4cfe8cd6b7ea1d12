"""The device `loop`: an image in a folder or in RAM behind a loop device.

The device does direct I/O, so that nothing is cached twice; the image is written in full once and
reused by all trials, so that no trial pays for first touch. Caches of a hypervisor or host below
this machine are out of sight.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fsgreen import commands, paths
from fsgreen.devices import image, losetup, mounts
from fsgreen.devices.base import Availability, Settings, require_root
from fsgreen.devices.folders import claim
from fsgreen.devices.imagevolume import ImageVolume
from fsgreen.devices.queue import READ_AHEAD_KIB
from fsgreen.devices.real import RealDevice
from fsgreen.errors import FsgreenError

DISK = Path("/var/tmp")


class LoopDevice(RealDevice):
    """A loop device on a private image. Needs root.

    Raises
    ------
    FsgreenError
        If the user is not root, the place is too small, no loop device is free, direct I/O does
        not work there or the scheduler is unknown.
    """

    kind = "loop"

    def __init__(self, settings: Settings) -> None:
        require_root(self.kind)
        folder = settings.folder or (image.RAM if settings.in_memory else DISK)
        work = claim(folder, self.kind)
        try:
            self._backing = mounts.holding(work.path).file_system
            if settings.in_memory and self._backing not in mounts.MEMORY_FILE_SYSTEMS:
                raise FsgreenError(
                    f"not in memory: this folder is on {self._backing}",
                    where=work.path.parent,
                    next_step="leave --folder out, or mount a tmpfs there",
                )
            file = work.path / "image"
            size_b = image.allocate(file, settings.size_b)
            node = losetup.attach(file, lock_fd=work.lock_fd)
            volume = ImageVolume(node, file, size_b, work.lock_fd)
            try:
                volume.queue.set_number("read_ahead_kb", READ_AHEAD_KIB)
                super().__init__(work, volume, settings.scheduler)
            except BaseException:
                volume.close()
                raise
        except BaseException:
            work.release()
            raise

    @staticmethod
    def available() -> Availability:
        """Return whether loop devices can be had here."""
        if os.geteuid() != 0:
            return Availability("loop", False, "needs root: run the same command with sudo")
        if not Path("/dev/loop-control").exists():
            return Availability("loop", False, "no loop devices in this kernel: modprobe loop")
        if paths.program("losetup") is None:
            return Availability("loop", False, commands.remedy("losetup"))
        return Availability("loop", True, "root and loop devices")

    @staticmethod
    def default_folder() -> Path:
        """Return /var/tmp."""
        return DISK

    def describe(self) -> dict[str, Any]:
        """Return size, what lies below, and the state of the device's queue."""
        return {
            "size_b": self.volume.size_b,
            "in_memory": self._backing in mounts.MEMORY_FILE_SYSTEMS,
            "backing": self._backing,
            "direct_io": True,
            "device": self.name,
            **self._queue.describe(),
        }
