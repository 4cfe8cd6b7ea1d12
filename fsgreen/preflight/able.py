"""What can be measured at all: programs, testbeds, file systems, space, meters."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from fsgreen import paths, testbeds
from fsgreen.audit import tools
from fsgreen.preflight.finding import Finding

SPACE_B = 4 << 30
"""What images and traces of the smaller profiles take at most."""


def check(folder: Path) -> Iterator[Finding]:
    """Yield the findings; images and traces would go to `folder`."""
    yield from _programs()
    yield from _usable("testbed", testbeds.available(), None)
    yield from _usable("file system", testbeds.file_systems(), "usable")
    yield _space(folder)
    yield _meter_ports()


def _programs() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("Python", version, "ok")
    if paths.program("fsgreen-wml") is None:
        yield Finding(
            "workload engine", "not built: shipped traces only", "warning", "./run engine"
        )
    else:
        yield Finding("workload engine", dict(tools.versions())["fsgreen-wml"] or "built", "ok")


def _usable(
    kind: str, found: Iterable[testbeds.Availability], state: str | None
) -> Iterator[Finding]:
    for name, usable, why in found:
        if usable:
            yield Finding(f"{kind} {name}", state or why, "ok")
        else:
            yield Finding(f"{kind} {name}", "not here", "note", why)


def _space(folder: Path) -> Finding:
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    free_b = shutil.disk_usage(existing).free
    state = f"{free_b / 2**30:.1f} GiB free for images and traces"
    if free_b > SPACE_B:
        return Finding("disk space", state, "ok")
    return Finding("disk space", state, "warning", "free some, or measure with --folder elsewhere")


def _meter_ports() -> Finding:
    ports = Path("/dev/serial/by-id")
    found = sorted(os.listdir(ports)) if ports.is_dir() else []
    if found:
        return Finding(
            "power meter",
            f"serial ports: {', '.join(found)}",
            "ok",
            "name one in a testbed file: docs/measuring.md",
        )
    return Finding(
        "power meter",
        "none: power will be modelled, and say so",
        "note",
        "plug in a Watts Up and name its port in a testbed file: docs/measuring.md",
    )
