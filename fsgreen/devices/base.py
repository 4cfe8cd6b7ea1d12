"""What every device is: something with a queue, that is brought as the levels of a cell ask."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from fsgreen.design import factors
from fsgreen.devices.folders import WorkFolder
from fsgreen.devices.guard import ListedDisk
from fsgreen.devices.image import DISK
from fsgreen.devices.queue import QueueState
from fsgreen.devices.volume import Volume
from fsgreen.errors import FsgreenError, unknown
from fsgreen.simdisk import Control, Disk

Levels = Mapping[str, Any]
"""Levels of factors by name, as `Plan.levels` gives them; what is missing or None is left open."""

OF_DISKS = ("disk", "partition", "queue_depth")
"""Factors of the device that only a disk of its own has a choice of, simulated or real."""

AS_FOUND = "as found"
"""The level of the factor `scheduler` that leaves it to the device."""

READ_AHEAD = "kernel_read_ahead_kib"
"""The factor that a study declares for what the kernel reads ahead on a device: `read_ahead_kb`."""

TRAFFIC = "disk_mib_s"
"""The factor that a study declares for what may pass between a workload and its disk each way."""

MEMORY = "memory_mib"
"""The factor that bounds the memory of a workload, its page cache included."""

FLASH = "flash"
"""The factor that a study declares for the flash which holds the files in place of the disk:
`memory` for an image in RAM, or the name of a simulated disk."""

PAGE_KIB = resource.getpagesize() >> 10


class Availability(NamedTuple):
    """Whether something can be used on this machine, and why, or how to mend it."""

    name: str
    usable: bool
    why: str


@dataclass(frozen=True)
class GuestAsked:
    """What is asked of the guest of a virtual machine.

    Attributes
    ----------
    clock : {"auto", "kvm", "tcg"}
        Whose processor it has: this machine's, an emulated one, or this machine's where that works.
    drive : {"virtio", "nvme", "null"}
        What its disk is to it: an image behind virtio, one behind NVMe, or a null block device in
        its own memory.
    memory_mib : int
        Its memory.
    dirty_mib : int, optional
        How much of its page cache may wait to be written; its kernel's own limit without it.
    drive_mib_s, drive_iops : int, optional
        What QEMU lets through to the image of its disk in a second: MiB, and requests.
    drive_zone_mib : int, optional
        The size of its zones, where its disk is a zoned one: NVMe or null.
    """

    clock: Literal["auto", "kvm", "tcg"] = "auto"
    drive: Literal["virtio", "nvme", "null"] = "virtio"
    memory_mib: int = 1024
    dirty_mib: int | None = None
    drive_mib_s: int | None = None
    drive_iops: int | None = None
    drive_zone_mib: int | None = None


@dataclass(frozen=True)
class Settings:
    """What is asked of a device for all cells; None leaves it to the device.

    Attributes
    ----------
    size_b : int
        Bytes of the file system, or of free space that a directory needs.
    folder : Path, optional
        Where images, mount points or files go.
    in_memory : bool
        Whether an image lies in RAM.
    scheduler : str, optional
        I/O scheduler of cells that name none.
    simulated : Disk, optional
        The simulated disk of cells that name none.
    queue_depth : int, optional
        Commands that the disk takes at once, for cells that do not say.
    partition : int, optional
        Of the real disk, for cells that do not say; without it, they get all of the disk.
    listed : ListedDisk, optional
        The real disk that the testbed file names.
    guest : GuestAsked, optional
        What the guest of a virtual machine is to be.
    """

    size_b: int
    folder: Path | None = None
    in_memory: bool = False
    scheduler: str | None = None
    simulated: Disk | None = None
    queue_depth: int | None = None
    partition: int | None = None
    listed: ListedDisk | None = None
    guest: GuestAsked | None = None


class Device(Protocol):
    """What a stack stands on. Every method may be called again, in any order, without harm.

    Attributes
    ----------
    kind : str
        Its name among the kinds of testbed.
    work : WorkFolder
        Where it and the stack on it keep what they make.
    """

    kind: str
    work: WorkFolder

    def __init__(self, settings: Settings) -> None:
        """Make or find the device; raises `FsgreenError` where that cannot be."""

    @staticmethod
    def available() -> Availability:
        """Return whether such a device can be had on this machine."""

    @staticmethod
    def default_folder() -> Path:
        """Return where its files go unless a folder is named."""

    @property
    def name(self) -> str | None:
        """The kernel's name in /proc/diskstats (`loop3`), None without one."""

    def describe(self) -> dict[str, Any]:
        """Return what the device is, for the record of a campaign."""

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` if the device cannot be as the levels ask. Touches nothing."""

    def load(self, levels: Levels) -> None:
        """Bring disk, partition, queue depth and scheduler of these levels, at rest.

        Nothing of the device is mounted.
        """

    def queue_state(self) -> QueueState:
        """Return the queue as it is now."""

    def untimed(self, *, stay: bool = False) -> AbstractContextManager[None]:
        """Let a simulated disk take no time meanwhile, and with `stay` afterwards too.

        Without it, the disk is at rest afterwards, with empty caches. Real ones do nothing.
        """

    def simulator(self) -> Control | None:
        """Return the control socket of a simulated disk, None where the device is real."""

    def entered(self) -> AbstractContextManager[None]:
        """Run programs where the device is: in its guest, or on this machine."""

    def counters(self) -> dict[str, float] | None:
        """Return the cumulative counters of a disk that this machine's kernel does not know.

        By columns of `host.parquet`, from any thread; None where that kernel has them, or nobody.
        """

    def processor_s(self) -> tuple[float, float] | None:
        """Return the seconds in user and system mode of the guest that workloads run in.

        None where they run on this machine.
        """

    def probe(self, seed: int) -> dict[str, Any]:
        """Return how the device behaves by itself; see `probe.probe`."""

    def restore(self) -> None:
        """Give the device back its scheduler; nothing of it is mounted."""

    def close(self) -> None:
        """End what serves the device; the work folder is released afterwards."""


class OnThisMachine:
    """What devices have in common whose workloads run on this machine."""

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
    """What devices have in common that take the time that they take: nothing is simulated."""

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
        """Return once they stand still; a request starts them again. May raise `FsgreenError`."""


class FormattableDevice(Device, Protocol):
    """A device that can be overwritten and formatted."""

    @property
    def volume(self) -> Volume:
        """The sectors that a file system gets; raises `FsgreenError` while there are none."""


def require_root(kind: str) -> None:
    """Raise `FsgreenError` unless the user is root, whom this kind of device needs."""
    if os.geteuid() != 0:
        raise FsgreenError(
            f"the testbed {kind} needs root: it makes and mounts file systems",
            next_step="run the same command with sudo, or take --testbed directory",
        )


def scheduler_of(levels: Levels) -> str | None:
    """Return the I/O scheduler that the levels name, None where they leave it to the device."""
    scheduler: str | None = levels.get("scheduler")
    return None if scheduler == AS_FOUND else scheduler


def read_ahead_kib_of(levels: Levels, usual_kib: int) -> int:
    """Return what the kernel is to read ahead at most: as the levels ask, else as usual."""
    asked_kib = levels.get(READ_AHEAD)
    return usual_kib if asked_kib is None else int(asked_kib)


def check_read_ahead(levels: Levels) -> None:
    """Raise `FsgreenError` where the levels ask for what the kernel cannot read ahead."""
    asked_kib = levels.get(READ_AHEAD)
    if asked_kib is not None and (asked_kib < 0 or asked_kib % PAGE_KIB):
        raise FsgreenError(
            f"the kernel reads ahead whole pages of {PAGE_KIB} KiB, not {asked_kib:g} KiB",
            where=f"levels of {READ_AHEAD}",
            next_step=f"declare 0, {PAGE_KIB} or a multiple of it in the study",
        )


def check_traffic(levels: Levels) -> None:
    """Raise `FsgreenError` where the levels let nothing pass: the kernel takes 0 for no limit."""
    asked_mib_s = levels.get(TRAFFIC)
    if asked_mib_s is not None and asked_mib_s <= 0:
        raise FsgreenError(
            f"a limit of {asked_mib_s:g} MiB/s lets nothing pass",
            where=f"levels of {TRAFFIC}",
            next_step="declare more than 0 in the study, or null for no limit",
        )


def state_of(levels: Levels) -> str:
    """Return the device state that the levels name; raises `FsgreenError` if there is no such."""
    known = [str(level) for level in factors.get("device").levels]
    state: str = levels.get("device") or "initial"
    if state not in known:
        raise unknown("device state", state, known, next_step="docs/state.md lists them")
    return state


def refuse_levels(kind: str, levels: Levels, names: Sequence[str]) -> None:
    """Raise `FsgreenError` if the levels name something that this kind of device has no choice of.

    The simulated disk has a choice of all.
    """
    for name in names:
        if levels.get(name) is not None:
            raise FsgreenError(
                f"the testbed {kind} cannot choose {name}: the cell asks for {levels[name]}",
                where=f"testbed {kind}",
                next_step=f"take --testbed simdisk, or leave {name} out of the study",
            )
