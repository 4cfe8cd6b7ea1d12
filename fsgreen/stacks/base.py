"""What every stack is: what makes a directory of a device, or of several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from fsgreen.devices.base import Availability, Device, Levels
from fsgreen.devices.volume import DeviceState

DISK, REMOTE = "disk", "remote"
"""What devices are to a cell, beside its flash: that of the testbed, and a server's."""


@dataclass(frozen=True)
class Mount:
    """A file system as it is mounted, read back from the kernel and from the disk.

    Attributes
    ----------
    directory : Path
        Where the workload may write.
    device : str or None
        The block device (`/dev/loop3`), None where there is none.
    file_system, option : str
        The cell's words.
    mkfs : tuple of str
        The command that made the file system, empty where nothing was made.
    mount_options : tuple of str
        As mounted. `strictatime` and `data=...` are named even where the kernel leaves them out.
    scheduler : str or None
        The I/O scheduler of the device.
    queue_depth : int or None
        Requests that the device's queue holds (`nr_requests`), or commands that a simulated disk
        takes at once.
    geometry : dict of str to int
        As on the disk: `block_b`, `inode_b`, `blocks_per_group`, `agcount`, `read_ahead_b`, ...;
        and of a zoned disk what `zones.of` tells.
    driver : str or None
        The kernel's driver: ext2 and ext3 are commonly served by `ext4`.
    state : DeviceState or None
        The device's state as it was made for this trial, None where the testbed makes none.
    fragmentation : dict of str to float, or None
        Of an aged file system, what was measured on it: see `aging.ager.age`.
    stacked : dict, or None
        Of a file system that a program serves, the `program`, its `sha256`, and what it was told.
    below : Path, or None
        Where the file system is mounted on which such a program keeps its files.
    guest : dict, or None
        Of a virtual machine, its `clock` and what its times compare with (`compares`).
    simulated : dict, or None
        Of a simulated disk, what it is and where the file system lies: `disk`, the `disk_sha256`
        of its parameters, `model`, `sectors`, `offset_b`, `depth`, `policy`, its own `scheduler`,
        the `kernel_scheduler` and `kernel_requests` of the loop device before it.
    """

    directory: Path
    device: str | None
    file_system: str
    option: str
    mkfs: tuple[str, ...] = ()
    mount_options: tuple[str, ...] = ()
    scheduler: str | None = None
    queue_depth: int | None = None
    geometry: dict[str, int] = field(default_factory=dict)
    driver: str | None = None
    state: DeviceState | None = None
    fragmentation: dict[str, float] | None = None
    simulated: dict[str, Any] | None = None
    guest: dict[str, Any] | None = None
    stacked: dict[str, Any] | None = None
    below: Path | None = None


class Stack(Protocol):
    """What stands on a device, which it is made with; one over several opens the others itself.

    Every method may be called again, in any order, without harm.
    """

    def __init__(self, device: Any) -> None:
        """Stand on a device."""

    @staticmethod
    def available() -> Availability:
        """Return whether such a stack can be had on this machine."""

    def describe(self) -> dict[str, Any]:
        """Return what it is, for the record of a campaign; `cold_cache` says what can be cold."""

    def only_file_system(self) -> str | None:
        """Return the one file system that can be measured here, None where any can be made."""

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` if `file_system` and `option` cannot be had. Touches nothing."""

    def prepare(self, levels: Levels, seed: int) -> Mount:
        """Bring the device into its state, then make, mount and verify the file system, anew.

        The device was loaded for these levels, and nothing of it is mounted.
        """

    def remount(self) -> Mount:
        """Return the same file system with a cold cache, the data kept."""

    def resident_share(self) -> float:
        """Measure the share of the bytes of all files that is in the page cache, 0 to 1.

        The files that the ager left do not count: they would hide whether the workload's are
        cached. Where nothing is cached, names and inodes are as cold afterwards as before.
        """

    def warm(self) -> float:
        """Read every file but the ager's, and return `resident_share`."""

    def unmount(self) -> None:
        """Take away what `prepare` made, so that the device is at rest."""


@runtime_checkable
class KeepsCopies(Protocol):
    """A stack that may keep the files in several places, on devices of their own."""

    def beside(self) -> Mapping[str, Device]:
        """Return the devices in use beside that of the testbed, by what they are to the cell."""

    def rest(self) -> None:
        """Put to sleep what only has copies; may raise `FsgreenError`."""

    def lacking(self) -> str | None:
        """Bring all copies up; return what one of them then lacks, None where none does."""
