"""The interface of every stack: it makes a directory from a device, or from several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from fsgreen.devices.base import Availability, Device
from fsgreen.devices.names import Levels
from fsgreen.devices.volume import DeviceState

DISK, REMOTE = "disk", "remote"
"""Roles of devices in a cell, besides its flash: the testbed's disk, and a server's."""


@dataclass(frozen=True)
class Mount:
    """A mounted file system, as the kernel and the disk report it."""

    directory: Path
    """The directory of the workload."""
    device: str | None
    """The block device (`/dev/loop3`); None if there is none."""
    file_system: str
    option: str
    """The levels of the cell."""
    mkfs: tuple[str, ...] = ()
    """The command that made the file system; empty if nothing was made."""
    mount_options: tuple[str, ...] = ()
    """The options as mounted, including `strictatime` and `data=...` if the kernel omits them."""
    scheduler: str | None = None
    """The I/O scheduler of the device."""
    queue_depth: int | None = None
    """The requests in the queue of the device (`nr_requests`), or the commands that a simulated
    disk takes at once."""
    geometry: dict[str, int] = field(default_factory=dict)
    """The geometry on the disk: `block_b`, `inode_b`, `blocks_per_group`, `agcount`, `read_ahead_b`
    and others. For a zoned disk, also what `zones.of` returns."""
    driver: str | None = None
    """The kernel's driver. For ext2 and ext3, it is usually `ext4`."""
    state: DeviceState | None = None
    """The device state that was made for this trial; None if the testbed makes none."""
    fragmentation: dict[str, float] | None = None
    """The measurements of an aged file system, from `aging.ager.age`."""
    simulated: dict[str, Any] | None = None
    """For a simulated disk: `disk`, the `disk_sha256` of its parameters, `model`, `sectors`, the
    `offset_b` of the file system, `depth`, `policy`, its own `scheduler`, and the
    `kernel_scheduler` and `kernel_requests` of the loop device on it."""
    nvme: dict[str, int | str] | None = None
    """The levels of an NVMe drive, if a cell has named any: `nvme_power_state`, `apst_us`."""
    guest: dict[str, Any] | None = None
    """For a virtual machine: its `clock`, and what its times may be compared with (`compares`)."""
    stacked: dict[str, Any] | None = None
    """For a file system that a program serves: the `program`, its `sha256`, and its settings."""
    below: Path | None = None
    """For such a file system: the mount point of the file system below it."""


class Stack(Protocol):
    """What is built on a device. A stack over several devices opens the others itself.

    Every method may be called again, in any order, without harm.
    """

    def __init__(self, device: Any) -> None:
        """Make a stack on a device."""

    @staticmethod
    def available() -> Availability:
        """Return whether such a stack can be used on this machine."""

    def describe(self) -> dict[str, Any]:
        """Return the description of the stack, for the record of a campaign.

        `cold_cache` says whether a cache can be cold, or what of it can.
        """

    def only_file_system(self) -> str | None:
        """Return the only file system that can be measured here; None if others can be made."""

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` if the stack cannot make these levels. It changes nothing."""

    def prepare(self, levels: Levels, seed: int) -> Mount:
        """Bring the device into its state, then make, mount and verify a new file system.

        Before that, the device must be loaded for these levels. Nothing of it may be mounted.
        """

    def remount(self) -> Mount:
        """Mount the same file system again, with a cold cache; the data are kept."""

    def resident_share(self) -> float:
        """Measure the share of the bytes of all files that is in the page cache, 0 to 1.

        The files of the ager do not count, as they would hide whether the workload's are cached. If
        no byte is cached, names and inodes are as cold afterwards as before.
        """

    def warm(self) -> float:
        """Read every file except the ager's, and return `resident_share`."""

    def unmount(self) -> None:
        """Remove what `prepare` made, so that the device is at rest."""


@runtime_checkable
class KeepsCopies(Protocol):
    """A stack that may keep copies of the files on other devices."""

    def beside(self) -> Mapping[str, Device]:
        """Return the devices in use besides that of the testbed, by role in the cell."""

    def rest(self) -> None:
        """Put devices to sleep that have only copies. It may raise `FsgreenError`."""

    def lacking(self) -> str | None:
        """Bring all copies up to date; return what one of them still lacks, or None."""
