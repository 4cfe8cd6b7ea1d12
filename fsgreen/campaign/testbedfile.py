"""The testbed file: where a campaign runs and which meters watch it, in TOML.

[testbed]
kind = "loop"                 # auto, loop or directory
folder = "/var/tmp"           # for the image, or the directory itself
in_memory = false
pulses = false                # load pulses for meters with a clock of their own

[host]                        # for the time of the campaign: docs/host.md
apply = ["governor", "turbo", "scheduler=none"]
disks = ["sda"]

[[meter]]
name = "system"
driver = "wattsup"
port = "/dev/serial/by-id/usb-FTDI_..."
boundary = "wall"
covers = ["server"]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fsgreen.errors import FsgreenError, unknown

KINDS = ("auto", "loop", "directory")


@dataclass(frozen=True)
class TestbedFile:
    """What a testbed file says; the defaults are those of a machine without one."""

    kind: str = "auto"
    folder: Path | None = None
    in_memory: bool = False
    pulses: bool = False
    meters: tuple[Mapping[str, Any], ...] = field(default=())
    settings: tuple[str, ...] = ()
    disks: tuple[str, ...] = ()

    def over(self, *, folder: Path | None, in_memory: bool) -> TestbedFile:
        """Return the same with what the command line asks for instead."""
        return replace(self, folder=folder or self.folder, in_memory=in_memory or self.in_memory)


def read(choice: str) -> TestbedFile:
    """Return the testbed named by a kind (`loop`) or by a file (`lab.toml`).

    Raises
    ------
    FsgreenError
        If it is neither, or the file holds something else.
    """
    if not choice.endswith(".toml"):
        if choice not in KINDS:
            raise unknown("testbed", choice, KINDS, next_step="fsgreen doctor")
        return TestbedFile(kind=choice)
    file = Path(choice)
    try:
        text = tomllib.loads(file.read_text())
    except FileNotFoundError:
        raise FsgreenError("there is no such testbed file", where=file) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FsgreenError(f"not a testbed file: {error}", where=file) from error
    table, meters = text.get("testbed", {}), text.get("meter", [])
    host = text.get("host", {})
    tables = [table, host, *meters]
    if not all(isinstance(one, dict) for one in tables) or not all(map(_are_texts, host.values())):
        raise FsgreenError(
            "not a testbed file: it needs [testbed], [host] and [[meter]] tables, "
            "and lists of texts in [host]",
            where=file,
            next_step="docs/measuring.md shows one",
        )
    _check_keys("testbed key", table, ("kind", "folder", "in_memory", "pulses"), file)
    _check_keys("host key", host, ("apply", "disks"), file)
    if table.get("kind", "auto") not in KINDS:
        raise unknown("testbed", table["kind"], KINDS, where=file)
    return TestbedFile(
        kind=table.get("kind", "auto"),
        folder=Path(table["folder"]) if "folder" in table else None,
        in_memory=table.get("in_memory", False),
        pulses=table.get("pulses", False),
        meters=tuple(meters),
        settings=tuple(host.get("apply", ())),
        disks=tuple(host.get("disks", ())),
    )


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _check_keys(kind: str, table: Mapping[str, Any], known: tuple[str, ...], file: Path) -> None:
    for key in table:
        if key not in known:
            raise unknown(kind, key, known, where=file, next_step="docs/measuring.md shows one")
