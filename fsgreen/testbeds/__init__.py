"""Testbeds: where trials run. `open_testbed` gives one, `sweep` removes what a killed one left."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from fsgreen.errors import unknown
from fsgreen.testbeds import commands, options
from fsgreen.testbeds.base import Availability, Mount, Testbed
from fsgreen.testbeds.directory import DirectoryTestbed
from fsgreen.testbeds.folders import sweep
from fsgreen.testbeds.loop import LoopTestbed, usable_here

__all__ = [
    "KINDS",
    "Availability",
    "Mount",
    "Testbed",
    "available",
    "file_systems",
    "open_testbed",
    "sweep",
]

KINDS = ("loop", "directory")
"""The kinds of testbed, the best first."""

DEFAULT_SIZE_B = 2 << 30


def open_testbed(
    kind: str = "auto",
    *,
    folder: Path | None = None,
    in_memory: bool = False,
    size_b: int = DEFAULT_SIZE_B,
    scheduler: str | None = None,
) -> Testbed:
    """Open a testbed; use it in a `with` statement, or call its `close`.

    Parameters
    ----------
    kind : {"auto", "loop", "directory"}
        `auto` takes the best that works here; `describe()["why"]` says why.
    folder : Path, optional
        loop: where the image lies (default /var/tmp, in memory /dev/shm). directory: the existing
        directory (default: the folder for temporary files).
    in_memory : bool
        loop: the image lies in RAM.
    size_b : int
        loop: size of the image. directory: free space needed. Bytes.
    scheduler : str, optional
        I/O scheduler, set by loop; directory changes nothing and records what it finds.

    Raises
    ------
    FsgreenError
        If the kind is unknown, or cannot be had here; the error says how to mend it.
    """
    why = "asked for"
    if kind == "auto":
        best = next(entry for entry in available() if entry.usable)
        kind, why = best.name, f"auto: {best.why}"
    if kind == "loop":
        return LoopTestbed(folder, in_memory=in_memory, size_b=size_b, scheduler=scheduler, why=why)
    if kind == "directory":
        place = folder or Path(tempfile.gettempdir())
        return DirectoryTestbed(place, size_b=size_b, why=why)
    raise unknown("testbed", kind, ["auto", *KINDS], next_step="fsgreen doctor")


def available() -> list[Availability]:
    """Return each kind of testbed, whether it works here, and why or how to mend it."""
    usable = [spec.name for spec in file_systems() if spec.usable]
    if os.geteuid() != 0:
        loop = Availability("loop", False, "needs root: run the same command with sudo")
    elif not Path("/dev/loop-control").exists():
        loop = Availability("loop", False, "no loop devices in this kernel: modprobe loop")
    elif commands.find("losetup") is None:
        loop = Availability("loop", False, commands.remedy("losetup"))
    elif not usable:
        loop = Availability("loop", False, "apt-get install e2fsprogs xfsprogs btrfs-progs")
    else:
        loop = Availability("loop", True, f"root and loop devices; {', '.join(usable)}")
    without = "" if loop.usable else f"; loop {loop.why}"
    return [
        loop,
        Availability("directory", True, f"works everywhere, on one file system{without}"),
    ]


def file_systems() -> list[Availability]:
    """Return each file system of fast10 and btrfs, whether this machine can make it, and why."""
    return [Availability(spec.name, *usable_here(spec)) for spec in options.FILE_SYSTEMS.values()]
