"""Testbeds: where trials run. `open_testbed` gives one, `sweep` removes what a killed one left."""

from __future__ import annotations

import tempfile
from pathlib import Path

from fsgreen.errors import FsgreenError, unknown
from fsgreen.testbeds import cache, image, loop, mounts
from fsgreen.testbeds.base import Availability, Conditions, DeviceState, Mount, Testbed
from fsgreen.testbeds.directory import DirectoryTestbed
from fsgreen.testbeds.folders import sweep
from fsgreen.testbeds.loop import LoopTestbed
from fsgreen.testbeds.present import available, file_systems
from fsgreen.testbeds.simdisk import Disk, SimdiskTestbed

__all__ = [
    "KINDS",
    "Availability",
    "Conditions",
    "DeviceState",
    "Disk",
    "Mount",
    "Testbed",
    "available",
    "default_folder",
    "file_systems",
    "open_testbed",
    "sweep",
]

KINDS = ("loop", "directory", "simdisk")
"""The kinds of testbed. A simulated one is never chosen unless it is asked for."""

DEFAULT_SIZE_B = 2 << 30


def default_folder(kind: str) -> Path:
    """Return where a testbed of this kind keeps its files, unless that is named or `in_memory`.

    That of a directory is on a disk where there is a choice: in memory no cache is cold (rule 7).
    """
    if kind == "simdisk":
        return image.RAM
    temporary = Path(tempfile.gettempdir())
    if kind == "loop" or mounts.holding(temporary).file_system in cache.MEMORY_FILE_SYSTEMS:
        return loop.DISK
    return temporary


def open_testbed(
    kind: str = "auto",
    *,
    folder: Path | None = None,
    in_memory: bool = False,
    size_b: int = DEFAULT_SIZE_B,
    scheduler: str | None = None,
    disk: Disk | None = None,
    queue_depth: int | None = None,
) -> Testbed:
    """Open a testbed; use it in a `with` statement, or call its `close`.

    Parameters
    ----------
    kind : {"auto", "loop", "directory", "simdisk"}
        `auto` takes the best that works here; `describe()["why"]` says why.
    folder : Path, optional
        loop: where the image lies (default /var/tmp, in memory /dev/shm). directory: the existing
        directory (default: the folder for temporary files, /var/tmp where that is memory).
        simdisk: where the disk's data lie (default /dev/shm).
    in_memory : bool
        loop: the image lies in RAM.
    size_b : int
        loop: size of the image. directory: free space needed. simdisk: size of the file system at
        the begin of the disk. Bytes.
    scheduler : str, optional
        I/O scheduler, set by loop and simdisk, which has some that the kernel no longer has;
        directory changes nothing and records what it finds.
    disk, queue_depth : Disk, int, optional
        simdisk: which disk it is, and how many commands that takes at once.

    Raises
    ------
    FsgreenError
        If the kind is unknown, or cannot be had here; the error says how to mend it.
    """
    why = "asked for"
    if kind == "auto":
        best = next(entry for entry in available() if entry.usable)
        kind, why = best.name, f"auto: {best.why}"
    if kind == "simdisk":
        return SimdiskTestbed(
            folder,
            size_b=size_b,
            disk=disk,
            queue_depth=queue_depth,
            scheduler=scheduler,
            why=why,
        )
    if disk is not None or queue_depth is not None:
        raise FsgreenError(
            f"the testbed {kind} is not a simulated disk, and takes neither disk nor queue_depth",
            next_step="take --testbed simdisk, or leave them out",
        )
    if kind == "loop":
        return LoopTestbed(folder, in_memory=in_memory, size_b=size_b, scheduler=scheduler, why=why)
    if kind == "directory":
        return DirectoryTestbed(folder or default_folder(kind), size_b=size_b, why=why)
    raise unknown("testbed", kind, ["auto", *KINDS], next_step="fsgreen doctor")
