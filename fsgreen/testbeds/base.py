"""What every testbed is: a place that gives a workload a freshly made, verified file system."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from fsgreen.design import factors
from fsgreen.errors import FsgreenError, unknown
from fsgreen.simdisk import Control


class Availability(NamedTuple):
    """Whether something can be used on this machine, and why, or how to mend it."""

    name: str
    usable: bool
    why: str


@dataclass(frozen=True)
class Conditions:
    """What a cell asks of the device below its file system; None leaves the testbed's own.

    Attributes
    ----------
    scheduler : str, optional
        I/O scheduler: one of the kernel's or, on a simulated disk, one of the simulator's.
    device : {"initial", "steady", "aged"}
        State of the device.
    disk : str, optional
        Name or file of a simulated disk.
    partition : int, optional
        Which of four equal parts of the disk, 1 the outermost (nfstricks03, section 4.1).
    queue_depth : int, optional
        Commands that the device takes at once.
    """

    scheduler: str | None = None
    device: str = "initial"
    disk: str | None = None
    partition: int | None = None
    queue_depth: int | None = None


def require_root(kind: str) -> None:
    """Raise `FsgreenError` unless the user is root, whom this kind of testbed needs."""
    if os.geteuid() != 0:
        raise FsgreenError(
            f"the testbed {kind} needs root: it makes and mounts file systems",
            next_step="run the same command with sudo, or take --testbed directory",
        )


def check_device_state(name: str) -> None:
    """Raise `FsgreenError` if this is no state of a device."""
    known = [str(level) for level in factors.get("device").levels]
    if name not in known:
        raise unknown("device state", name, known, next_step="docs/state.md lists them")


def refuse_simulated(kind: str, conditions: Conditions) -> None:
    """Raise `FsgreenError` if only a simulated disk could meet the conditions."""
    for name in ("disk", "partition", "queue_depth"):
        value = getattr(conditions, name)
        if value is not None:
            raise FsgreenError(
                f"the testbed {kind} cannot choose {name}: the cell asks for {value}",
                where=f"testbed {kind}",
                next_step=f"take --testbed simdisk, or leave {name} out of the study",
            )


@dataclass(frozen=True)
class DeviceState:
    """A state that a device was brought into before a trial, and the counters that show it.

    Attributes
    ----------
    name : str
        One of the levels of the factor `device`.
    written_b : int
        Bytes written to the device meanwhile, as the kernel counted them, mkfs not included.
    discarded_b : int
        Bytes discarded meanwhile on the disk below the image; 0 where none takes discards.
    size_b : int
        Bytes of the device, which each of both must reach where the disk was made to forget.
    left : str or None
        Why the disk below was not made to forget what was written before, None where it was, and
        where an aged image was put back.
    remembers : bool or None
        Whether the state thus rests on what trials before wrote, None where nobody can tell.
    """

    name: str
    written_b: int
    discarded_b: int
    size_b: int
    left: str | None = None
    remembers: bool | None = False


@dataclass(frozen=True)
class Mount:
    """A file system as it is mounted, read back from the kernel and from the disk.

    Attributes
    ----------
    directory : Path
        Where the workload may write.
    device : str or None
        The block device (`/dev/loop3`), None where the testbed has none.
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
        As on the disk: `block_b`, `inode_b`, `blocks_per_group`, `agcount`, `read_ahead_b`, ...
    driver : str or None
        The kernel's driver: ext2 and ext3 are commonly served by `ext4`.
    state : DeviceState or None
        The device's state as it was made for this trial, None where the testbed makes none.
    fragmentation : dict of str to float, or None
        Of an aged file system, what was measured on it: see `ager.age`.
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


class Testbed(Protocol):
    """Where trials run. Every method may be called again, in any order, without harm."""

    kind: str

    def describe(self) -> dict[str, Any]:
        """Return what the testbed is, for the record; `why` says why it was chosen."""

    def check(self, file_system: str, option: str, conditions: Conditions = Conditions()) -> None:
        """Raise `FsgreenError` if the cell cannot run here. Touches nothing."""

    def prepare(
        self,
        file_system: str,
        option: str,
        conditions: Conditions = Conditions(),
        *,
        seed: int = 0,
    ) -> Mount:
        """Bring the device into its state, then make, mount and verify the file system, anew.

        Parameters
        ----------
        file_system, option : str
            The cell's words.
        conditions : Conditions, optional
            What is asked of the device in this trial.
        seed : int
            Seed of the ager. One image is aged for each file system, option and seed, and put
            back for each trial until another seed is asked for: trials of a cell in a row share
            an image if they share the seed.

        Raises
        ------
        FsgreenError
            If the cell cannot run here, or what was made is not what was asked for.
        """

    def load(self, conditions: Conditions) -> None:
        """Bring the device of these conditions, at rest: nothing is mounted and nothing done to it.

        Does nothing where there is no choice of devices.
        """

    def simulator(self) -> Control | None:
        """Return the control socket of the simulated disk, None where the device is real."""

    def remount(self) -> Mount:
        """Return the same file system with a cold cache, the data kept."""

    def resident_share(self) -> float:
        """Measure the share of the bytes of all files that is in the page cache, 0 to 1.

        The files that the ager left do not count: they would hide whether the workload's are
        cached. Where nothing is cached, names and inodes are as cold afterwards as before.
        """

    def warm(self) -> float:
        """Read every file but the ager's, and return `resident_share`."""

    def restore(self) -> None:
        """Unmount and give the device back the state it had before `prepare`."""

    def close(self) -> None:
        """Remove everything that the testbed made."""

    def probe(self, seed: int) -> dict[str, Any]:
        """Return how the place behaves by itself, for the confound checks; takes seconds."""

    def only_file_system(self) -> str | None:
        """Return the one file system that can be measured here, None where any can be made."""

    def device_name(self) -> str | None:
        """Return the kernel's name of the disk in /proc/diskstats (`loop3`), None without one."""

    def __enter__(self) -> Testbed:
        """Return the testbed itself."""

    def __exit__(self, *exc: object) -> None:
        """Close the testbed."""
