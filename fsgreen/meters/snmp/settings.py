"""What to ask an SNMP agent for, and how it lets one in: presets, objects of one's own, secrets."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from fsgreen.errors import unknown
from fsgreen.meters.common.credentials import secret
from fsgreen.meters.core.settings import Settings
from fsgreen.meters.snmp.answers import QUANTITIES
from fsgreen.meters.snmp.session import AUTH, PRIV, VERSIONS, Access

OID = re.compile(r"\.?([0-9]+(\.[0-9]+)+)", re.ASCII)


@cache
def presets() -> Mapping[str, Any]:
    """Return the units of `pdus.toml`, by name."""
    return tomllib.loads(resources.files("fsgreen.meters.snmp").joinpath("pdus.toml").read_text())


def take_objects(settings: Settings) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """Take what to ask for: a preset, and objects of one's own over it."""
    name = settings.text("preset", "")
    facts: Mapping[str, Any] = {"source": "objects as set", "serial": "", "bits": 32}
    objects: dict[str, Any] = {}
    if name:
        if name not in presets():
            raise unknown("preset", name, presets(), where=f"meter {settings.name}")
        facts = presets()[name]
        index = settings.text("index", facts["index"])
        if not OID.fullmatch(f"1.{index}"):
            settings.refuse(f"index is {index!r}, not the number of an outlet such as 5 or 1.5")
        for quantity in QUANTITIES:
            if quantity in facts:
                objects[quantity] = {
                    key: value.format(index=index) if isinstance(value, str) else value
                    for key, value in facts[quantity].items()
                }
    for quantity in QUANTITIES:
        oid = settings.text(f"{quantity}_oid", "")
        if oid:
            match = OID.fullmatch(oid)
            if match is None:
                settings.refuse(f"{quantity}_oid is {oid!r}, not an OID in numbers")
            objects[quantity] = {"oid": match[1], "scale": settings.number(f"{quantity}_scale")}
    return objects, facts


def take_access(settings: Settings) -> Access:
    """Take how the agent lets one in; what is secret comes from where the settings say."""
    return Access(
        version=settings.choice("version", tuple(VERSIONS), "2c"),
        community=secret(settings, "community") or "public",
        user=settings.text("user", ""),
        auth=settings.choice("auth", tuple(AUTH), "sha"),
        auth_key=secret(settings, "auth_key"),
        priv=settings.choice("priv", tuple(PRIV), "aes"),
        priv_key=secret(settings, "priv_key"),
    )
