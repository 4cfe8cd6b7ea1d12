"""The device `loop`: an image in a folder or in RAM behind a loop device.

The device does direct I/O, so that nothing is cached twice. The image is written in full once and
used by all trials, so that no trial pays for first touch. Caches of a hypervisor or of a host below
this machine are not visible.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from fsgreen import commands, paths
from fsgreen.devices import image, mounts
from fsgreen.devices.base import Availability, Settings, require_root
from fsgreen.devices.folders import claim
from fsgreen.devices.imagevolume import ImageVolume
from fsgreen.devices.queue import READ_AHEAD_KIB
from fsgreen.devices.real import RealDevice
from fsgreen.errors import FsgreenError


class LoopDevice(RealDevice):
    """A loop device on a private image. Needs root.

    Raises FsgreenError if the user is not root, the folder has too little space, no loop device is
    free, direct I/O does not work there, or the scheduler is unknown.
    """

    kind = "loop"

    def __init__(self, settings: Settings) -> None:
        require_root(self.kind)
        folder = settings.folder or (image.RAM if settings.in_memory else image.DISK)
        with ExitStack() as undone:
            work = claim(folder, self.kind)
            undone.callback(work.release)
            self._backing = mounts.holding(work.path).file_system
            if settings.in_memory and self._backing not in mounts.MEMORY_FILE_SYSTEMS:
                raise FsgreenError(
                    f"not in memory: this folder is on {self._backing}",
                    where=work.path.parent,
                    next_step="leave --folder out, or mount a tmpfs there",
                )
            file = work.path / "image"
            size_b = image.allocate(file, settings.size_b)
            volume = ImageVolume(attach(file, lock_fd=work.lock_fd), file, size_b, work.lock_fd)
            undone.callback(volume.close)
            volume.queue.set_number("read_ahead_kb", READ_AHEAD_KIB)
            super().__init__(work, volume, settings.scheduler)
            undone.pop_all()

    @staticmethod
    def available() -> Availability:
        """Return whether loop devices can be used here."""
        if os.geteuid() != 0:
            return Availability("loop", False, "needs root: run the same command with sudo")
        if not Path("/dev/loop-control").exists():
            return Availability("loop", False, "no loop devices in this kernel: modprobe loop")
        if paths.program("losetup") is None:
            return Availability("loop", False, commands.remedy("losetup"))
        return Availability("loop", True, "root and loop devices")

    def describe(self) -> dict[str, Any]:
        """Return the size, the file system below, and the queue of the device."""
        return {
            "size_b": self.volume.size_b,
            "in_memory": self._backing in mounts.MEMORY_FILE_SYSTEMS,
            "backing": self._backing,
            "direct_io": True,
            "device": self.name,
            **self._queue.describe(),
        }


def attach(file: Path, *, lock_fd: int, offset_b: int = 0, size_b: int | None = None) -> Path:
    """Attach an image, or `size_b` bytes of it from `offset_b`, to a free loop device.

    Return the node of the device, which does direct I/O.

    Raises FsgreenError if no device is free, or direct I/O does not work on the image.
    """
    try:
        part = [f"--offset={offset_b}", *([] if size_b is None else [f"--sizelimit={size_b}"])]
        device = commands.run(
            ["losetup", "--direct-io=on", *part, "--find", "--show", str(file)], lock_fd=lock_fd
        ).strip()
    except FsgreenError as error:
        raise FsgreenError(
            f"no loop device could be set up ({error.what})",
            where=file,
            next_step="losetup -l shows those in use; detach one with losetup -d, or modprobe loop",
        ) from error
    columns = "NAME,BACK-FILE,DIO"
    table = commands.run(
        ["losetup", "--list", "--json", "--output", columns, device], lock_fd=lock_fd
    )
    (entry,) = json.loads(table)["loopdevices"]
    if not Path(entry["back-file"]).samefile(file) or not entry["dio"]:
        raise FsgreenError(
            "the loop device does no direct I/O on this image",
            where=f"{device} on {mounts.holding(file).file_system}",
            next_step="name a folder on another file system with --folder",
        )
    return Path(device)
