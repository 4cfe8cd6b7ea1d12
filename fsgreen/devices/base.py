"""The interface of every device, and what devices share."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from fsgreen.devices.folders import WorkFolder
from fsgreen.devices.guard import ListedDisk
from fsgreen.devices.image import DISK
from fsgreen.devices.names import Levels
from fsgreen.devices.queue import QueueState
from fsgreen.devices.volume import Volume
from fsgreen.errors import FsgreenError
from fsgreen.simdisk import Control, Disk


class Availability(NamedTuple):
    """Whether something can be used on this machine, and why; if not, how to mend it."""

    name: str
    usable: bool
    why: str


@dataclass(frozen=True)
class GuestAsked:
    """The settings of the guest of a virtual machine."""

    clock: Literal["auto", "kvm", "tcg"] = "auto"
    """The processor: this machine's (kvm), an emulated one (tcg), or this machine's if that works
    (auto)."""
    drive: Literal["virtio", "nvme", "null"] = "virtio"
    """The disk: an image behind virtio, an image behind NVMe, or a null block device in the guest's
    memory."""
    memory_mib: int = 1024
    """The memory of the guest."""
    dirty_mib: int | None = None
    """The limit of its dirty pages. The default is its kernel's own limit."""
    drive_mib_s: int | None = None
    drive_iops: int | None = None
    """The limits that QEMU sets for the image of its disk: MiB per second, requests per second."""
    drive_zone_mib: int | None = None
    """The size of a zone if the disk is zoned: NVMe or null."""


@dataclass(frozen=True)
class Settings:
    """The settings of a device for all cells. None leaves a setting to the device."""

    size_b: int
    """The size of the file system in bytes; for a directory, the free space that it needs."""
    folder: Path | None = None
    """The folder of images, mount points or files."""
    in_memory: bool = False
    """Whether an image is in RAM."""
    scheduler: str | None = None
    """The I/O scheduler of cells that name none."""
    simulated: Disk | None = None
    """The simulated disk of cells that name none."""
    queue_depth: int | None = None
    """The most commands that the disk takes at once, for cells that name no depth."""
    partition: int | None = None
    """The partition of the real disk, for cells that name none. Without it, they get the whole
    disk."""
    listed: ListedDisk | None = None
    """The real disk that the testbed file names."""
    guest: GuestAsked | None = None
    """The settings of the guest of a virtual machine."""
    before: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """What the host had before its settings were changed for the campaign, by setting and disk."""


class Device(Protocol):
    """What a stack is built on. Every method may be called again, in any order, without harm."""

    kind: str
    """The name of its kind of testbed."""
    work: WorkFolder
    """The folder in which the device and its stack keep their files."""

    def __init__(self, settings: Settings) -> None:
        """Make or find the device. Raises `FsgreenError` if that is not possible."""

    @staticmethod
    def available() -> Availability:
        """Return whether such a device can be used on this machine."""

    @staticmethod
    def default_folder() -> Path:
        """Return the folder of its files if none is named."""

    @property
    def name(self) -> str | None:
        """The kernel's name in /proc/diskstats (`loop3`); None without one."""

    def describe(self) -> dict[str, Any]:
        """Return the description of the device, for the record of a campaign."""

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` if the device cannot have these levels. It changes nothing."""

    def load(self, levels: Levels) -> None:
        """Set disk, partition, queue depth and scheduler to these levels; the device is at rest.

        Nothing of the device may be mounted.
        """

    def queue_state(self) -> QueueState:
        """Return the queue as it is now."""

    def untimed(self, *, stay: bool = False) -> AbstractContextManager[None]:
        """Let a simulated disk take no time in the `with` block; with `stay`, afterwards too.

        Without `stay`, the disk is at rest afterwards, with empty caches. A real disk does nothing.
        """

    def simulator(self) -> Control | None:
        """Return the control socket of a simulated disk; None if the device is real."""

    def entered(self) -> AbstractContextManager[None]:
        """Run programs where the device is: in its guest, or on this machine."""

    def counters(self) -> dict[str, float] | None:
        """Return the cumulative counters of a disk that this machine's kernel does not know.

        The keys are columns of `host.parquet`. Any thread may call it. None if this kernel has the
        counters, or if nothing has them.
        """

    def processor_s(self) -> tuple[float, float] | None:
        """Return the user and system time in seconds of the guest in which workloads run.

        None if they run on this machine.
        """

    def probe(self, seed: int) -> dict[str, Any]:
        """Return the measurements of the bare device, from `probe.probe`."""

    def restore(self) -> None:
        """Set the scheduler that the device had. Nothing of the device may be mounted."""

    def close(self) -> None:
        """End the servers of the device. The caller releases the work folder afterwards."""


class OnThisMachine:
    """Shared by devices whose workloads run on this machine."""

    def entered(self) -> AbstractContextManager[None]:
        """Run programs on this machine."""
        return nullcontext()

    def counters(self) -> dict[str, float] | None:
        """Return None: the kernel of this machine has them."""
        return None

    def processor_s(self) -> tuple[float, float] | None:
        """Return None: workloads run on this machine."""
        return None


class InRealTime(OnThisMachine):
    """Shared by real devices: no time is simulated."""

    @staticmethod
    def default_folder() -> Path:
        """Return /var/tmp."""
        return DISK

    def untimed(self, *, stay: bool = False) -> AbstractContextManager[None]:
        """Do nothing."""
        return nullcontext()

    def simulator(self) -> None:
        """Return None."""


@runtime_checkable
class Sleeps(Protocol):
    """A disk that can be told to stop its platters."""

    def sleep(self) -> None:
        """Stop the platters and return once they stand still. The next request starts them.

        It may raise `FsgreenError`.
        """


@runtime_checkable
class LosesStates(Protocol):
    """A disk that a reset takes out of the states that a cell has set."""

    def require_states(self) -> None:
        """Raise `TrialFailed` if it is not as it was set."""


class FormattableDevice(Device, Protocol):
    """A device that can be overwritten and formatted."""

    @property
    def volume(self) -> Volume:
        """The sectors of the file system. Raises `FsgreenError` while there are none."""


def require_root(kind: str) -> None:
    """Raise `FsgreenError` unless the user is root, as this kind of device needs root."""
    if os.geteuid() != 0:
        raise FsgreenError(
            f"the testbed {kind} needs root: it makes and mounts file systems",
            next_step="run the same command with sudo, or take --testbed directory",
        )
