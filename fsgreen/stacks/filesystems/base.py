"""The description of a file system: how it is made, mounted, and verified on the disk."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fsgreen import commands
from fsgreen.errors import FsgreenError

MIB_B = 1 << 20


@dataclass(frozen=True)
class Setting:
    """How one slot is set: arguments of mkfs, mount options, and the geometry that must result.

    `branches` are the roles of the folders that GreenFS has besides the one on flash.
    """

    slot: str
    meaning: str
    mkfs: tuple[str, ...] = ()
    mount: tuple[str, ...] = ()
    geometry: Mapping[str, int] = field(default_factory=dict)
    branches: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inspection:
    """A command that inspects a device, its last argument, and the parser of its output."""

    command: tuple[str, ...]
    parse: Callable[[str], dict[str, int]]


@dataclass(frozen=True)
class Zoned:
    """How a file system is made on a disk whose zones are written in order.

    `mkfs` are its arguments in place of those on other disks. `on_conventional` says whether it
    needs conventional zones, which can be written in any order, for what it overwrites. Its driver
    requires the option `needs` there, and refuses the option `lacks`.
    """

    mkfs: tuple[str, ...]
    on_conventional: bool = False
    needs: str = ""
    lacks: str = ""


@dataclass(frozen=True)
class FileSystem:
    """A file system: how it is made without first-touch effects, its defaults and its options."""

    name: str
    """Its name in studies, in the kernel and in mkfs. A program's file system has only the
    first."""
    mkfs: tuple[str, ...]
    """The arguments of mkfs in every trial."""
    minimum_b: int
    """The smallest device that it accepts, in bytes."""
    defaults: tuple[Setting, ...]
    """The settings of slots that no option of a cell fills."""
    options: Mapping[str, Setting]
    """The settings by the names that studies use."""
    inspections: tuple[Inspection, ...] = ()
    """The commands that read the geometry from an unmounted device."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """Why it does not have a slot, by slot, if `LACKS` has no reason."""
    cleaner: str = ""
    """The program that mount starts, which frees overwritten blocks."""
    own_read_ahead: bool = False
    """Whether it has its own read-ahead, which settings of its device do not change."""
    history: str = ""
    """When the kernel got it or lost it, for kernels without it."""
    program: str = ""
    """The program that serves it, if the kernel does not."""
    below: str = ""
    """The file system of the kernel on which such a program, or a server, keeps its files."""
    exported: bool = False
    """Whether the kernel exports it by NFS and mounts it again; only in a guest."""
    zoned: Zoned | None = None
    """How it is made on a zoned disk; None if that is not possible, as it overwrites in place."""

    @property
    def served(self) -> bool:
        """Whether the workload uses a file system that is served from folders on the device."""
        return self.exported or bool(self.program)

    @property
    def on_device(self) -> str:
        """The kernel's name of the file system on the device."""
        return self.below or self.name

    @property
    def tool(self) -> str:
        """The name of its mkfs."""
        return f"mkfs.{self.on_device}"

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of all programs that it needs."""
        inspecting = dict.fromkeys(each.command[0] for each in self.inspections)
        return (self.tool, *inspecting, *([self.cleaner] if self.cleaner else []))

    def require_cleaner(self, device: Path) -> None:
        """Raise `FsgreenError` unless the cleaner of a mounted device runs, if it has one."""
        if self.cleaner and not _runs(self.cleaner, device):
            raise FsgreenError(
                f"{self.name} is mounted without its cleaner {self.cleaner}: overwritten data "
                "would fill it",
                where=device,
                next_step=commands.remedy(self.cleaner),
            )

    def why_lacking(self, slot: str) -> str:
        """Return why it has no option for a slot, in words."""
        return self.lacks.get(slot) or LACKS[slot]

    def geometry(self, device: Path, *, lock_fd: int | None = None) -> dict[str, int]:
        """Return the geometry on an unmounted device, from the file system's own tools.

        Raises FsgreenError if a tool is missing, or finds no such file system.
        """
        found: dict[str, int] = {}
        for inspection in self.inspections:
            found |= inspection.parse(
                commands.run([*inspection.command, str(device)], lock_fd=lock_fd)
            )
        return found


@dataclass(frozen=True)
class Recipe:
    """How a cell is made and mounted, and the geometry that must be read back afterwards."""

    file_system: FileSystem
    option: str
    mkfs: tuple[str, ...]
    mount: tuple[str, ...]
    geometry: dict[str, int]
    branches: tuple[str, ...] = ()

    @property
    def discards(self) -> bool:
        """Whether blocks are discarded as files are removed."""
        return DISCARD.mount[0] in self.mount

    def on_zones(self) -> Recipe:
        """Return the same for a zoned disk. Its file system must be possible there."""
        spec = self.file_system
        assert spec.zoned is not None, f"{spec.name} was not refused"
        return replace(self, mkfs=(*spec.zoned.mkfs, *self.mkfs[len(spec.mkfs) :]))

    @property
    def minimum_b(self) -> int:
        """The size in bytes of the smallest possible device.

        XFS needs 300 MiB, and 64.25 MiB for each requested allocation group, as the log of at least
        64 MiB is inside one group, beside its headers (mkfs.xfs 5.19 and later).
        """
        agcount = self.geometry.get("agcount", 0)
        return max(self.file_system.minimum_b, agcount * 257 * MIB_B // 4)


STRICTATIME = Setting(
    "atime", "access times always written (fast10's default)", (), ("strictatime",)
)
NOATIME = Setting("atime", "access times not written", (), ("noatime",))
RELATIME = Setting(
    "atime",
    "access times written once a day, or after a change (Linux's default)",
    (),
    ("relatime",),
)
ATIME_OPTIONS = {"noatime": NOATIME, "relatime": RELATIME}

JOURNAL = Setting("data", "data journalled", (), ("data=journal",))
WRITEBACK = Setting("data", "data not ordered before metadata", (), ("data=writeback",))
ORDERED = Setting("data", "data written before its metadata (default)", (), ("data=ordered",))
DATA_OPTIONS = {"dtlg": JOURNAL, "wrbck": WRITEBACK}

DISCARD = Setting("discard", "blocks discarded as files are removed", (), ("discard",))
NODISCARD = Setting("discard", "no discard", (), ("nodiscard",))
"""On an image, discards would free the blocks of the image."""

LACKS: Mapping[str, str] = {
    "block": "its blocks have no size to choose",
    "inode": "its inodes have no size to choose",
    "group": "it has no block groups",
    "agcount": "it has no allocation groups",
    "data": "its journal holds metadata only",
    "cow": "it overwrites in place",
    "discard": "its driver discards nothing while it is mounted",
    "log": "only reiserfs mounts without its log",
    "tail": "only reiserfs packs tails",
    "remote": "only greenfs keeps a remote folder up",
    "disk": "only greenfs keeps a copy on a disk that sleeps",
}
"""Why most file systems have no option for a slot, by slot."""


def _runs(program: str, device: Path) -> bool:
    """Return whether a program runs that has a device among its arguments."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = file.read_bytes().split(b"\0")
            if Path(os.fsdecode(words[0])).name == program and os.fsencode(device) in words:
                return True
    return False


def block(size_b: int, *mkfs: str) -> Setting:
    """Return the setting of a block size, given the arguments of mkfs for it."""
    return Setting("block", f"{size_b} B blocks", mkfs, (), {"block_b": size_b})


def numbers(patterns: Mapping[str, str]) -> Callable[[str], dict[str, int]]:
    """Return a parser of text: it reads the first group of each matching pattern as an int."""

    def parse(text: str) -> dict[str, int]:
        found = {name: re.search(pattern, text, re.M) for name, pattern in patterns.items()}
        return {name: int(match[1]) for name, match in found.items() if match}

    return parse
