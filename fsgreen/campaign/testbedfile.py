"""The testbed file: where a campaign runs and which meters watch it, in TOML.

[testbed]
kind = "loop"                 # auto, loop, directory or simdisk
folder = "/var/tmp"           # for the image, or the directory itself
in_memory = false
pulses = false                # load pulses for meters with a clock of their own
disk = "st4000nm0033"         # simdisk: one of `fsgreen-simdisk disks`, or a file like theirs
queue_depth = 32              # simdisk: commands that the disk takes at once
write = "back"                # simdisk: what its cache does with writes, back or through
clock = "real"                # simdisk: `instant` for a disk that takes no time

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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fsgreen import testbeds
from fsgreen.errors import FsgreenError, unknown
from fsgreen.testbeds import Disk

KINDS = ("auto", *testbeds.KINDS)
TEXT, SWITCH, COUNT = "a text", "true or false", "a whole number from 1 up"
SOUND: Mapping[str, Callable[[Any], bool]] = {
    TEXT: lambda value: isinstance(value, str),
    SWITCH: lambda value: isinstance(value, bool),
    COUNT: lambda value: type(value) is int and value > 0,
}

SIMULATED = {"disk": TEXT, "queue_depth": COUNT, "write": TEXT, "clock": TEXT}
"""Keys for a simulated disk, and what they take."""

KEYS = {"kind": TEXT, "folder": TEXT, "in_memory": SWITCH, "pulses": SWITCH, **SIMULATED}
"""Keys of a testbed, and what they take."""

CHOICES = {"write": ("back", "through"), "clock": ("real", "instant")}


@dataclass(frozen=True)
class TestbedFile:
    """What a testbed file says; the defaults are those of a machine without one."""

    kind: str = "auto"
    folder: Path | None = None
    in_memory: bool = False
    pulses: bool = False
    disk: str | None = None
    queue_depth: int | None = None
    write: str | None = None
    clock: str | None = None
    meters: tuple[Mapping[str, Any], ...] = field(default=())
    settings: tuple[str, ...] = ()
    disks: tuple[str, ...] = ()

    def over(
        self,
        *,
        folder: Path | None,
        in_memory: bool,
        disk: str | None = None,
        queue_depth: int | None = None,
    ) -> TestbedFile:
        """Return the same with what the command line asks for instead."""
        asked = {"disk": disk, "queue_depth": queue_depth}
        given: dict[str, Any] = {key: value for key, value in asked.items() if value is not None}
        _check_values(given, "the command line")
        return replace(
            self,
            folder=folder or self.folder,
            in_memory=in_memory or self.in_memory,
            **given,
        )

    def simulated(self) -> Disk | None:
        """Return the disk to simulate, None where nothing is said of one."""
        asked = {"name": self.disk, "write": self.write, "clock": self.clock}
        given = {key: value for key, value in asked.items() if value is not None}
        return Disk(**given) if given else None


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
    _check_keys("testbed key", table, tuple(KEYS), file)
    _check_values(table, file)
    _check_keys("host key", host, ("apply", "disks"), file)
    if table.get("kind", "auto") not in KINDS:
        raise unknown("testbed", table["kind"], KINDS, where=file)
    return TestbedFile(
        kind=table.get("kind", "auto"),
        folder=Path(table["folder"]) if "folder" in table else None,
        in_memory=table.get("in_memory", False),
        pulses=table.get("pulses", False),
        **{key: table[key] for key in SIMULATED if key in table},
        meters=tuple(meters),
        settings=tuple(host.get("apply", ())),
        disks=tuple(host.get("disks", ())),
    )


def _check_values(table: Mapping[str, Any], where: Path | str) -> None:
    for key, value in table.items():
        if not SOUND[KEYS[key]](value):
            page = "simdisk" if key in SIMULATED else "measuring"
            raise FsgreenError(
                f"{key} is {value!r}, not {KEYS[key]}",
                where=where,
                next_step=f"docs/{page}.md shows a testbed file",
            )
        if value not in CHOICES.get(key, (value,)):
            raise unknown(key, value, CHOICES[key], where=where)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _check_keys(kind: str, table: Mapping[str, Any], known: tuple[str, ...], file: Path) -> None:
    for key in table:
        if key not in known:
            raise unknown(kind, key, known, where=file, next_step="docs/measuring.md shows one")
