"""The table of drivers: how a configured meter is opened, and how its raw bytes are parsed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fsgreen.errors import FsgreenError, unknown
from fsgreen.meters import (
    blocks,
    emulated,
    hwmon,
    ipmi,
    nvme,
    powersensor3,
    rapl,
    redfish,
    scpi,
    simdisk,
    snmp,
    wattsup,
)
from fsgreen.meters.base import DeviceOf, Driver, Importer, Meter, Parser
from fsgreen.meters.importers import energibridge, hoboware, ptdaemon, quarch
from fsgreen.meters.plugs import shelly, tasmota
from fsgreen.meters.powersensor3 import dump as powersensor3_dump
from fsgreen.meters.settings import Settings
from fsgreen.trace import MeterInfo

_DRIVERS: tuple[Driver, ...] = (
    wattsup.DRIVER,
    scpi.DRIVER,
    snmp.DRIVER,
    shelly.DRIVER,
    tasmota.DRIVER,
    ipmi.DRIVER,
    redfish.DRIVER,
    powersensor3.DRIVER,
    blocks.DRIVER,
    hwmon.DRIVER,
    rapl.DRIVER,
    nvme.DRIVER,
    simdisk.DRIVER,
    emulated.DRIVER,
)
_IMPORTERS: tuple[Importer, ...] = (
    hoboware.IMPORTER,
    ptdaemon.IMPORTER,
    quarch.IMPORTER,
    energibridge.IMPORTER,
    powersensor3_dump.IMPORTER,
)

DRIVERS: Mapping[str, Driver] = {driver.name: driver for driver in _DRIVERS}
IMPORTERS: Mapping[str, Importer] = {importer.name: importer for importer in _IMPORTERS}

EMULATED = (
    {"name": "system", "driver": "emulator", "profile": "fast10-system"},
    {"name": "disk", "driver": "emulator", "profile": "fast10-disk"},
)
"""The meters where none is configured: fast10's two, for the server and for the disk."""


def open_meters(
    config: Sequence[Mapping[str, Any]] | None, device_of: DeviceOf
) -> dict[str, Meter]:
    """Open every configured meter; without a configuration, two emulated ones.

    Each entry is a table `[[meter]]` of a testbed file: `name`, `driver` and the driver's own
    settings. `device_of` names the disk whose activity drives a modelled disk. Raises
    FsgreenError, with every meter closed again, where an entry is wrong or a meter cannot be
    opened.
    """
    meters: dict[str, Meter] = {}
    try:
        for entry in config or EMULATED:
            settings = Settings(entry)
            if settings.name in meters:
                settings.refuse(f"two meters are named {settings.name}")
            if "/" in settings.name:
                settings.refuse("the name of a meter is part of names of files, and has no slash")
            meters[settings.name] = _driver(settings).open(settings, device_of)
        _refuse_double_cover(meters)
    except BaseException:
        for meter in meters.values():
            meter.close()
        raise
    return meters


def parser_of(info: MeterInfo) -> Parser:
    """Return a parser for the raw bytes of a meter; raises FsgreenError for an unknown driver.

    The raw bytes of an emulated meter are those of the driver that reads it.
    """
    if info.driver not in DRIVERS:
        raise unknown("meter driver", info.driver, DRIVERS, where=info.model)
    return DRIVERS[info.driver].parser(info)


def _driver(settings: Settings) -> Driver:
    if settings.driver in IMPORTERS:
        settings.refuse(f"{settings.driver} reads files, which nothing can be measured with")
    if settings.driver not in DRIVERS:
        raise unknown("meter driver", settings.driver, DRIVERS, where=f"meter {settings.name}")
    return DRIVERS[settings.driver]


def _refuse_double_cover(meters: Mapping[str, Meter]) -> None:
    owner: dict[str, str] = {}
    for name, meter in meters.items():
        for part in meter.describe().covers:
            if part in owner:
                raise FsgreenError(
                    f"the meters {owner[part]} and {name} both cover {part}: "
                    "its energy would count twice",
                    where=f"meter {name}",
                    next_step="see docs/meters.md for the settings of a meter",
                )
            owner[part] = name
