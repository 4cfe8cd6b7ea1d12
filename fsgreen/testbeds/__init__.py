"""Testbeds: where trials run. `open_testbed` gives one, `sweep` removes what a killed one left."""

from __future__ import annotations

import tempfile
from pathlib import Path

from fsgreen.errors import unknown
from fsgreen.testbeds.base import Availability, Conditions, DeviceState, Mount, Testbed
from fsgreen.testbeds.directory import DirectoryTestbed
from fsgreen.testbeds.folders import sweep
from fsgreen.testbeds.loop import LoopTestbed
from fsgreen.testbeds.present import available, file_systems

__all__ = [
    "KINDS",
    "Availability",
    "Conditions",
    "DeviceState",
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
