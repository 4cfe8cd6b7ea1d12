"""What to ask an SNMP agent for, and how it lets one in: presets, objects of one's own, secrets."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from fsgreen.errors import unknown
from fsgreen.meters.settings import Settings
from fsgreen.meters.snmp_answers import QUANTITIES
from fsgreen.meters.snmp_session import AUTH, PRIV, VERSIONS, Access

OID = re.compile(r"\.?([0-9]+(\.[0-9]+)+)", re.ASCII)
SECRETS = {
    "community": "FSGREEN_SNMP_COMMUNITY",
    "user": "FSGREEN_SNMP_USER",
    "auth_key": "FSGREEN_SNMP_AUTH_KEY",
    "priv_key": "FSGREEN_SNMP_PRIV_KEY",
}


@cache
def presets() -> Mapping[str, Any]:
    """Return the units of `pdus.toml`, by name."""
    return tomllib.loads(resources.files("fsgreen.meters").joinpath("pdus.toml").read_text())


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
    """Take how the agent lets one in; what is secret comes from elsewhere."""
    return Access(
        version=settings.choice("version", tuple(VERSIONS), "2c"),
        auth=settings.choice("auth", tuple(AUTH), "sha"),
        priv=settings.choice("priv", tuple(PRIV), "aes"),
        **_secrets(settings, settings.text("secrets", "")),
    )


def _secrets(settings: Settings, path: str) -> dict[str, str]:
    """Read secrets from a file that only its owner may read, or else from the environment."""
    if not path:
        return {key: os.environ[name] for key, name in SECRETS.items() if name in os.environ}
    file = Path(path).expanduser()
    try:
        if file.stat().st_mode & 0o077:
            settings.refuse(f"others may read {file}: chmod 600 {file}")
        values = tomllib.loads(file.read_text())
    except (OSError, ValueError) as error:
        # The text of a file of secrets stays out of every message.
        settings.refuse(f"{file} cannot be read as TOML: {type(error).__name__}")
    if not values.keys() <= SECRETS.keys() or not all(isinstance(v, str) for v in values.values()):
        settings.refuse(f"{file} may hold texts for {', '.join(SECRETS)}, and nothing else")
    return values
