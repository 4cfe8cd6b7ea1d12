"""What can be measured at all: programs, testbeds but for guests, file systems, space, meters."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from fsgreen import paths, testbeds
from fsgreen.audit import tools
from fsgreen.preflight import guest
from fsgreen.preflight.finding import Finding
from fsgreen.stacks import filesystems

IMAGE_B = 4 << 30
"""The image of the smaller profiles."""

TRACES_B = 1 << 30
"""What the raw traces of a campaign and its tables take at most, with meters of one reading a
second."""


def check(folder: Path | None, image_b: int = IMAGE_B) -> Iterator[Finding]:
    """Yield the findings; images would go to `folder`, or where the best testbed makes them."""
    yield from _programs()
    places = testbeds.available()
    best = next(entry for entry in places if entry.usable)
    on_this_machine = [entry for entry in places if entry.name != guest.TESTBED]
    yield from _usable("testbed", on_this_machine, None)
    yield from _usable("file system", filesystems.available(), "usable")
    place = folder or testbeds.default_folder(best.name)
    yield _space("images", place, image_b, "--folder ELSEWHERE")
    yield _space("traces", paths.data(), TRACES_B, "FSGREEN_DATA=ELSEWHERE")
    yield _meter_ports()


def _programs() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("Python", version, "ok")
    if paths.program("fsgreen-wml") is None:
        state = "not installed: you can analyse traces, but not measure"
        yield Finding("workload engine", state, "blocks", paths.BUILD)
    else:
        yield Finding("workload engine", dict(tools.versions())["fsgreen-wml"] or "installed", "ok")


def _usable(
    kind: str, listed: Iterable[testbeds.Availability], state: str | None
) -> Iterator[Finding]:
    for name, usable, why in listed:
        if usable:
            yield Finding(f"{kind} {name}", state or why, "ok")
        else:
            yield Finding(f"{kind} {name}", "not here", "note", why)


def _space(what: str, folder: Path, least_b: int, elsewhere: str) -> Finding:
    free_b = paths.free_b(folder)
    subject, state = f"space for {what}", f"{free_b / 2**30:.1f} GiB free in {folder}"
    if free_b > least_b:
        return Finding(subject, state, "ok")
    return Finding(subject, state, "warning", f"free some, or measure with {elsewhere}")


def _meter_ports() -> Finding:
    ports = Path("/dev/serial/by-id")
    names = sorted(os.listdir(ports)) if ports.is_dir() else []
    if names:
        return Finding(
            "power meter",
            f"serial ports: {', '.join(names)}",
            "ok",
            "name one in a testbed file: docs/measuring.md",
        )
    return Finding(
        "power meter",
        "none: power will be modelled, and marked as modelled",
        "note",
        "plug in a Watts Up and name its port in a testbed file: docs/measuring.md",
    )
