"""The stack `guest`: a file system that a guest makes at the request of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fsgreen.devices.base import Availability
from fsgreen.devices.names import Levels
from fsgreen.devices.queue import QueueState
from fsgreen.devices.vm.device import VmDevice
from fsgreen.devices.volume import DeviceState
from fsgreen.stacks import filesystems
from fsgreen.stacks.base import Mount


class GuestStack:
    """A file system of the guest's kernel."""

    def __init__(self, device: VmDevice) -> None:
        self._device = device

    @staticmethod
    def available() -> Availability:
        """Return the file systems of the guest's kernel."""
        names = "ext2 to ext4, xfs, btrfs, f2fs, nilfs2, reiserfs, jfs, nfs"
        return Availability("guest", True, names)

    def describe(self) -> dict[str, Any]:
        """Return that caches can be cold."""
        return {"cold_cache": True}

    def only_file_system(self) -> None:
        """Return None: any of the guest's file systems can be made."""

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` if a cell is unknown. The device checks the rest in the guest."""
        filesystems.recipe(levels["file_system"], levels["option"])

    def prepare(self, levels: Levels, seed: int) -> Mount:
        """Make, mount and verify a new file system."""
        return self._mount(
            self._device.ask("prepare", levels=self._device.in_guest(levels), seed=seed)
        )

    def remount(self) -> Mount:
        """Mount the same file system again, with a cold cache."""
        return self._mount(self._device.ask("remount"))

    def resident_share(self) -> float:
        """Measure the share of all files' bytes in the guest's page cache."""
        return float(self._device.ask("resident_share"))

    def warm(self) -> float:
        """Read every file, and return `resident_share`."""
        return float(self._device.ask("warm"))

    def unmount(self) -> None:
        """Unmount everything in the guest."""
        self._device.rest()

    def _mount(self, said: dict[str, Any]) -> Mount:
        state, geometry, below = said.pop("state"), said["geometry"], said["below"]
        kernel = QueueState(said["scheduler"], said["queue_depth"], geometry["read_ahead_b"])
        queue = self._device.queue_of(kernel)
        return Mount(
            **{
                **said,
                "directory": Path(said["directory"]),
                "below": None if below is None else Path(below),
                "mkfs": tuple(said["mkfs"]),
                "mount_options": tuple(said["mount_options"]),
                "state": None if state is None else DeviceState(**state),
                "guest": self._device.guest(),
                "scheduler": queue.scheduler,
                "queue_depth": queue.queue_depth,
                "simulated": queue.simulated,
            }
        )
