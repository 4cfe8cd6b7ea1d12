"""The fleet file: which testbeds belong together, and where all of them meet, in TOML.

home = "192.0.2.7:8786"          # where `fsgreen measure --fleet` listens, on that machine
certificates = "certificates"    # the folder of `fsgreen fleet certificates`, as seen from here
testbeds = ["disk", "memory"]    # a worker for each, and a campaign: NAME.disk, NAME.memory
design = "replicate"             # every testbed measures all cells; "share": see shares.py
"""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from fsgreen import schema
from fsgreen.errors import FsgreenError, unknown
from fsgreen.schema import Declared

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")

LOCALHOST = "127.0.0.1"

Design: TypeAlias = Literal["replicate", "share"]


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"a testbed is named by letters, digits, '_' and '-', not '{name}'")
    return name


def _unique(names: tuple[str, ...]) -> tuple[str, ...]:
    if len({*names}) < len(names):
        raise ValueError("a testbed is named twice")
    return names


def _address(text: str) -> str:
    parts = urlsplit(f"//{text}")
    with suppress(ValueError):  # of a port that is none
        if parts.hostname and parts.port and parts.netloc == text and "@" not in text:
            return text
    raise ValueError(f"home is HOST:PORT, as 192.0.2.7:8786, not '{text}'")


class Table(Declared):
    """What a fleet file may say."""

    home: Annotated[str, AfterValidator(_address)]
    testbeds: Annotated[
        tuple[Annotated[str, AfterValidator(_name)], ...],
        Field(min_length=1),
        AfterValidator(_unique),
    ]
    certificates: str | None = None
    design: Design = "replicate"


@dataclass(frozen=True)
class Fleet:
    """Testbeds that measure one study side by side."""

    file: Path
    """The fleet file."""
    home: str
    """Where their trials are brought, HOST:PORT."""
    testbeds: tuple[str, ...]
    """Their names."""
    certificates: Path | None
    """The folder of what its members show each other; None where nobody asks, on one machine."""
    design: Design = "replicate"
    """Whether each testbed measures all cells, or they share the blocks of one plan."""

    @property
    def host(self) -> str:
        """Return the host of `home`, in figures where it is this machine itself."""
        host = urlsplit(f"//{self.home}").hostname or ""
        return LOCALHOST if host == "localhost" else host

    @property
    def port(self) -> int:
        """Return the port of `home`."""
        return urlsplit(f"//{self.home}").port or 0

    @property
    def is_local(self) -> bool:
        """Whether nobody on another machine can reach `home`."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:  # a name
            return False

    def check_testbed(self, name: str) -> None:
        """Raise FsgreenError if no testbed of the fleet has this name."""
        if name not in self.testbeds:
            raise unknown("testbed of the fleet", name, self.testbeds, where=self.file)


def read(file: Path) -> Fleet:
    """Read a fleet file.

    Raises FsgreenError if it says something else, would have others than this machine reach what
    has no certificates, or has one testbed share with nobody.
    """
    document = schema.read(file, "fleet file", "docs/fleet.md shows one")
    table = document.as_(Table)
    if table.design == "share" and len(table.testbeds) < 2:
        raise FsgreenError(
            "one testbed has nobody to share the blocks with",
            where=document.where(("design",)),
            next_step='name another testbed, or set design = "replicate"',
        )
    folder = None if table.certificates is None else file.parent / table.certificates
    fleet = Fleet(file, table.home, table.testbeds, folder, table.design)
    if folder is None and not fleet.is_local:
        raise FsgreenError(
            f"other machines could reach {fleet.home}, and nobody would ask them who they are",
            where=document.where(("home",)),
            next_step=f"fsgreen fleet certificates {file.parent / 'certificates'}, then add to the "
            'file: certificates = "certificates"',
        )
    return fleet
