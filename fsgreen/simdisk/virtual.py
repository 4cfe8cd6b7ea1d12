"""Disks in virtual time: the simulator that comes with the engine."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.simdisk.server import parameters

Request = tuple[str, int, int, float]
"""Action, first sector, sectors, and when it is issued, in seconds."""

COLUMNS = "stream,action,sector,sectors,issued_ns"


def engine() -> Any:
    """Return the module `fsgreen_engine`, which has the simulator.

    Raises FsgreenError if it is not installed, or older than this library.
    """
    try:
        import fsgreen_engine
    except ImportError as error:
        raise FsgreenError(
            "the simulator comes with the engine, which is not installed", next_step=paths.BUILD
        ) from error
    if not hasattr(fsgreen_engine, "decisions"):
        raise FsgreenError("the engine is older than this fsgreen", next_step=paths.BUILD)
    return fsgreen_engine


def replay(
    disk: str,
    requests: Iterable[Request],
    *,
    standby_after_s: float | None = None,
    overrides: Mapping[str, Any] = {},
    **asked: bool,
) -> dict[str, Any]:
    """Return the engine's report of requests that reach a disk in the order of their times.

    Nothing is measured. Times in the report are in ns, energies in fJ, power in microwatts. `disk`
    is one of `fsgreen-simdisk disks`, or a file like theirs; `overrides` are its `depth`, `policy`,
    `write`, `read_ahead_kib`. If nothing is asked for `standby_after_s`, the disk stops its
    platters; with 0 it never does, and without it neither, if it is one that ships. `asked` is
    `power`, the power drawn over time, or `log`: every request, where `stream` is its number.

    Raises FsgreenError if the engine is not installed, too old, or refuses: in its own words.
    """
    lines = [
        f"{number},{action},{sector},{sectors},{round(issued_s * 1e9)}"
        for number, (action, sector, sectors, issued_s) in enumerate(requests)
    ]
    with tempfile.TemporaryDirectory() as folder:
        trace, profile = Path(folder, "requests.csv"), disk
        trace.write_text("\n".join([COLUMNS, *lines, ""]))
        if standby_after_s is not None:
            timer = f"standby_after_s = {float(standby_after_s)}"
            text = re.sub(r"^standby_after_s = .*$", timer, parameters(disk), flags=re.MULTILINE)
            profile = str(Path(folder, f"{Path(disk).stem}.toml"))
            Path(profile).write_text(text)
        experiment = {
            "disk": profile,
            "overrides": dict(overrides),
            "work": {"replay": {"file": str(trace)}},
            **asked,
        }
        try:
            return dict(engine().simulate(json.dumps(experiment)))
        except ValueError as error:
            raise FsgreenError(
                f"cannot be simulated: {error}", where=disk, next_step="fsgreen-simdisk disks"
            ) from error
