"""What a file system is here: how it is made, mounted, and verified on the disk."""

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
    """How one slot is set: mkfs arguments, mount options, and the geometry that must result.

    `branches` are what GreenFS keeps up beside the folder on flash.
    """

    slot: str
    meaning: str
    mkfs: tuple[str, ...] = ()
    mount: tuple[str, ...] = ()
    geometry: Mapping[str, int] = field(default_factory=dict)
    branches: tuple[str, ...] = ()


@dataclass(frozen=True)
class Inspection:
    """A command that tells, once a device is named, what is on it; and what its text means."""

    command: tuple[str, ...]
    parse: Callable[[str], dict[str, int]]


@dataclass(frozen=True)
class Zoned:
    """How a file system is made on a disk whose zones are written from their beginning on.

    Attributes
    ----------
    mkfs : tuple of str
        Arguments in place of those that every trial gets on other disks.
    on_conventional : bool
        Whether it keeps what it overwrites in zones that are written anywhere.
    needs, lacks : str
        The option without which, and the one with which, its driver does not mount it there.
    """

    mkfs: tuple[str, ...]
    on_conventional: bool = False
    needs: str = ""
    lacks: str = ""


@dataclass(frozen=True)
class FileSystem:
    """A file system: how it is made without first-touch effects, its defaults and its options.

    Attributes
    ----------
    name : str
        As studies call it, and the kernel, and mkfs, unless it is a program's.
    mkfs : tuple of str
        Arguments that every trial gets.
    minimum_b : int
        The smallest device that it accepts.
    defaults : tuple of Setting
        How the slots are set that no option of a cell fills.
    options : mapping of str to Setting
        By the names that studies use.
    inspections : tuple of Inspection
        What reads the geometry from an unmounted device.
    lacks : mapping of str to str
        For slots that it does not have, why, where `LACKS` does not say it.
    cleaner : str
        The program that mounting it starts, which frees what was overwritten.
    own_read_ahead : bool
        Whether it has a read-ahead of its own, which no setting of its device changes.
    history : str
        For kernels without it: when it came or went.
    program : str
        The program that serves it, where that is not the kernel.
    below : str
        The file system of the kernel on which such a program, or a server, keeps its files.
    exported : bool
        Whether the kernel serves it by NFS, and mounts it again: in a guest alone.
    zoned : Zoned, optional
        How it is made on a zoned disk; None where it overwrites in place, so that it cannot be.
    """

    name: str
    mkfs: tuple[str, ...]
    minimum_b: int
    defaults: tuple[Setting, ...]
    options: Mapping[str, Setting]
    inspections: tuple[Inspection, ...] = ()
    lacks: Mapping[str, str] = field(default_factory=dict)
    cleaner: str = ""
    own_read_ahead: bool = False
    history: str = ""
    program: str = ""
    below: str = ""
    exported: bool = False
    zoned: Zoned | None = None

    @property
    def served(self) -> bool:
        """Whether programs work in what is served from folders of what lies on the device."""
        return self.exported or bool(self.program)

    @property
    def on_device(self) -> str:
        """What the kernel calls what lies on the device."""
        return self.below or self.name

    @property
    def tool(self) -> str:
        """The name of the program that makes it."""
        return f"mkfs.{self.on_device}"

    @property
    def tools(self) -> tuple[str, ...]:
        """All programs that it takes."""
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
        """Return why it has no option for a slot."""
        return self.lacks.get(slot) or LACKS[slot]

    def geometry(self, device: Path, *, lock_fd: int | None = None) -> dict[str, int]:
        """Return the geometry on an unmounted device, by the file system's own tools.

        Raises
        ------
        FsgreenError
            If a tool is missing, or finds no such file system.
        """
        found: dict[str, int] = {}
        for inspection in self.inspections:
            found |= inspection.parse(
                commands.run([*inspection.command, str(device)], lock_fd=lock_fd)
            )
        return found


@dataclass(frozen=True)
class Recipe:
    """What a cell asks for: the arguments, and what must be read back afterwards."""

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
        """Return the same for a zoned disk, which its file system can be made on."""
        spec = self.file_system
        assert spec.zoned is not None, f"{spec.name} was not refused"
        return replace(self, mkfs=(*spec.zoned.mkfs, *self.mkfs[len(spec.mkfs) :]))

    @property
    def minimum_b(self) -> int:
        """The smallest device in bytes.

        XFS: 300 MiB, and 64.25 MiB for each allocation group that is asked for: the log of at
        least 64 MiB lies inside one of them, beside its headers (mkfs.xfs 5.19 and later).
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
"""On an image, discards would free its blocks."""

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
"""Why file systems have no option for a slot, as far as it is the same for most."""


def _runs(program: str, device: Path) -> bool:
    """Return whether a program runs that was told of a device."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = file.read_bytes().split(b"\0")
            if Path(os.fsdecode(words[0])).name == program and os.fsencode(device) in words:
                return True
    return False


def block(size_b: int, *mkfs: str) -> Setting:
    """Return the setting of a block size, by these arguments of mkfs."""
    return Setting("block", f"{size_b} B blocks", mkfs, (), {"block_b": size_b})


def numbers(patterns: Mapping[str, str]) -> Callable[[str], dict[str, int]]:
    """Return what reads the first group of each pattern, where it matches, as a whole number."""

    def parse(text: str) -> dict[str, int]:
        found = {name: re.search(pattern, text, re.M) for name, pattern in patterns.items()}
        return {name: int(match[1]) for name, match in found.items() if match}

    return parse
