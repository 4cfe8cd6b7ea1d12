"""The settings of an SNMP agent: presets, the user's own objects, and credentials."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from fsgreen.errors import unknown
from fsgreen.meters.core.settings import Above0, From0, GainError, MeterSettings, secret
from fsgreen.meters.snmp.session import Access

OID = re.compile(r"\.?([0-9]+(\.[0-9]+)+)", re.ASCII)
QUANTITIES = ("power", "energy", "voltage", "current")
SOURCES = {"auto": ("power", "energy"), "counter": ("energy",), "power": ("power",)}
"""The quantities that power may be taken from, by the setting `power_from`."""

ASSUMED_GAIN = 0.02


@cache
def presets() -> Mapping[str, Any]:
    """Return the units of `pdus.toml`, by name."""
    return tomllib.loads(resources.files("fsgreen.meters.snmp").joinpath("pdus.toml").read_text())


def _known(preset: str) -> str:
    if preset and preset not in presets():
        raise ValueError(unknown("preset", preset, presets()).what)
    return preset


def _in_numbers(oid: str) -> str:
    match = OID.fullmatch(oid)
    if oid and match is None:
        raise ValueError(f"{oid!r} is not an OID in numbers")
    return match[1] if match else ""


def _of_an_outlet(index: str) -> str:
    if not OID.fullmatch(f"1.{index}"):
        raise ValueError(f"{index!r} is not the number of an outlet such as 5 or 1.5")
    return index


Oid = Annotated[
    str, AfterValidator(_in_numbers), Field(description="An object instead of the preset's.")
]
Scale = Annotated[float | None, Field(description="What one count of that object is worth.")]


class SnmpSettings(MeterSettings):
    """The settings: a unit, one of its outlets, and the credentials."""

    host: str
    """The address of the unit."""
    port: Annotated[int, Field(ge=1, le=65535)] = 161
    """The UDP port of the unit's agent."""
    preset: Annotated[str, AfterValidator(_known)] = ""
    """A unit of the list in docs/meters/snmp.md."""
    index: Annotated[str, AfterValidator(_of_an_outlet)] | None = None
    """The outlet, by the unit's own numbers."""
    power_oid: Oid = ""
    power_scale: Scale = None
    energy_oid: Oid = ""
    energy_scale: Scale = None
    voltage_oid: Oid = ""
    voltage_scale: Scale = None
    current_oid: Oid = ""
    current_scale: Scale = None
    power_from: Literal["auto", "counter", "power"] = "auto"
    """The source of the power; auto: the counter of energy if its steps are fine enough."""
    counter_bits: Annotated[int, Field(ge=1, le=64)] | None = None
    """The size of the counter of energy; by default that of the preset, else 32."""
    version: Literal["1", "2c", "3"] = "2c"
    """The version of SNMP: 3 asks for a user and keys, the others only for the community."""
    community_env: str = ""
    community_file: str = ""
    user: str = ""
    """The user of version 3."""
    auth: Literal["md5", "sha", "sha256", "sha512"] = "sha"
    """The method of authentication in version 3, if auth_key_env or auth_key_file gives a key."""
    auth_key_env: str = ""
    auth_key_file: str = ""
    priv: Literal["des", "aes", "aes256"] = "aes"
    """The method of encryption in version 3, if priv_key_env or priv_key_file gives a key."""
    priv_key_env: str = ""
    priv_key_file: str = ""
    interval_s: Above0 = 1.0
    range_w: Above0 = 3680.0
    gain_error: GainError = ASSUMED_GAIN
    """The error in the unit's data sheet; the default of 2 % is an assumption."""
    constant_error_w: From0 = 1.0

    @model_validator(mode="after")
    def _gives_power(self) -> SnmpSettings:
        for quantity in QUANTITIES:
            if getattr(self, f"{quantity}_oid") and getattr(self, f"{quantity}_scale") is None:
                raise ValueError(f"{quantity}_oid needs its {quantity}_scale")
        if not self.objects.keys() & set(SOURCES[self.power_from]):
            name = SOURCES[self.power_from][0]
            raise ValueError(f"there is no object for {name}: give {name}_oid and {name}_scale")
        return self

    @property
    def facts(self) -> Mapping[str, Any]:
        """The preset's facts about the unit, with defaults if there is no preset."""
        return presets().get(self.preset, {"source": "objects as set", "serial": "", "bits": 32})

    @property
    def objects(self) -> dict[str, Any]:
        """The objects to ask for: those of the preset, which the user's own objects replace."""
        index = self.index or self.facts.get("index")
        objects = {
            quantity: {
                key: value.format(index=index) if isinstance(value, str) else value
                for key, value in self.facts[quantity].items()
            }
            for quantity in QUANTITIES
            if quantity in self.facts
        }
        for quantity in QUANTITIES:
            if oid := getattr(self, f"{quantity}_oid"):
                objects[quantity] = {"oid": oid, "scale": getattr(self, f"{quantity}_scale")}
        if self.power_from == "counter":
            objects.pop("power", None)
        return objects

    def access(self) -> Access:
        """Return the credentials for the agent; raises FsgreenError if a secret is missing."""
        return Access(
            version=self.version,
            community=secret(self, "community") or "public",
            user=self.user,
            auth=self.auth,
            auth_key=secret(self, "auth_key"),
            priv=self.priv,
            priv_key=secret(self, "priv_key"),
        )
