"""Drivers by name: each is an entry point of the group `fsgreen.meters` in an installed package.

A driver is imported only when it is needed, without any other driver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import ConfigDict

from fsgreen.errors import FsgreenError, unknown
from fsgreen.meters.core.base import DeviceOf, Driver, Importer, Meter, Parser
from fsgreen.meters.core.emulation import declared, open_emulated
from fsgreen.meters.core.settings import MeterSettings, document_of
from fsgreen.schema import Document, Place
from fsgreen.trace import MeterInfo

GROUP = "fsgreen.meters"

WITHOUT_METER = (
    {"name": "system", "driver": "wattsup", "emulate": True, "profile": "fast10-system"},
    {"name": "disk", "driver": "wattsup", "emulate": True, "profile": "fast10-disk"},
)
"""The meters if none is configured: the two of fast10, of the server and of the disk, modelled."""


def names() -> list[str]:
    """Return the names of all drivers that are installed, in alphabetical order."""
    return sorted(_entries())


class Chosen(MeterSettings):
    """The keys of every table `[[meter]]` that choose its driver."""

    model_config = ConfigDict(extra="ignore")

    boundary: Any = None
    covers: Any = None


@cache
def load(name: str) -> Driver | Importer:
    """Import a driver.

    Raises FsgreenError if there is none of this name, if two packages have one, or if its package
    is broken. The message names the package.
    """
    entries = _entries()
    if name not in entries:
        raise unknown("meter driver", name, entries, next_step="fsgreen meters")
    entry, *others = entries[name]
    if others:
        packages = sorted(_package(each) for each in entries[name])
        raise FsgreenError(
            f"the packages {' and '.join(packages)} both have a meter driver {name}",
            where=f"meter driver {name}",
            next_step=f"uninstall one of them: pip uninstall {packages[-1]}",
        )
    try:
        driver = entry.load()
    except Exception as error:
        raise _broken(entry, f"cannot be imported: {error!r}") from error
    if not isinstance(driver, Driver | Importer):
        raise _broken(entry, f"is no Driver or Importer: {entry.value} is {driver!r}")
    if driver.name != name:
        raise _broken(entry, f"calls itself {driver.name}")
    return driver


def live_driver(name: str) -> Driver:
    """Return a live driver. Raises FsgreenError as `load` does, and if the driver reads files."""
    driver = load(name)
    if isinstance(driver, Importer):
        raise FsgreenError(
            f"{name} reads files, so it cannot measure",
            where=f"meter driver {name}",
            next_step=f"measure with another driver, then: fsgreen attach CAMPAIGN FILE "
            f"--driver {name}",
        )
    return driver


def named(name: str) -> Driver | Importer:
    """Return a driver, or a recipe of the driver `table`. Raises FsgreenError as `load` does."""
    from fsgreen.meters.table.driver import recipes

    known = recipes()
    if name in _entries():
        return load(name)
    if name not in known:
        raise unknown("meter driver", name, [*names(), *known], next_step="fsgreen meters")
    return known[name]


def importer(name: str) -> Importer:
    """Return the driver or the recipe that reads a kind of file.

    Raises FsgreenError as `load` does, and if the driver does not read files.
    """
    from fsgreen.meters.table.driver import recipes

    driver = named(name)
    if isinstance(driver, Driver):
        files = [each for each in names() if isinstance(_sound(each), Importer)]
        raise unknown("reader of files", name, [*files, *recipes()], next_step="fsgreen meters")
    return driver


def parser_of(info: MeterInfo) -> Parser:
    """Return a parser for the raw bytes of a meter. Raises FsgreenError as `load` does.

    An emulated meter sends the bytes of the driver that reads it, so it needs no other parser.
    """
    return live_driver(info.driver).parser(info)


def check_table(document: Document, place: Place = ()) -> Driver:
    """Check the settings of a table `[[meter]]`; return its driver.

    For an emulated meter, only the given settings are checked, as the emulator has the others.
    Raises FsgreenError with the line. For an unknown setting, it names the nearest known one.
    """
    chosen = document.as_(Chosen, place)
    try:
        driver = live_driver(chosen.driver)
    except FsgreenError as error:
        where = document.where((*place, "driver"))
        raise FsgreenError(error.what, where=where, next_step=error.next_step) from error
    document = replace(document, next_step=f"fsgreen meters {driver.name}")
    if chosen.emulate:
        document.check_given(declared(driver), place)
    else:
        document.as_(driver.settings, place)
    return driver


def open_meters(
    config: Sequence[Mapping[str, Any]] | None, device_of: DeviceOf
) -> dict[str, Meter]:
    """Open every configured meter; without a configuration, two emulated ones.

    Each entry is a table `[[meter]]` of a testbed file: `name`, `driver` and the settings of the
    driver. `device_of` names the disk whose activity determines the power of a modelled disk.
    Raises FsgreenError if an entry is wrong or a meter cannot be opened. All meters are then closed
    again.
    """
    meters: dict[str, Meter] = {}
    try:
        for table in config or WITHOUT_METER:
            name = str(table.get("name", "?"))
            driver = check_table(document_of(table, f"meter {name}"))
            if name in meters:
                raise FsgreenError(
                    f"two meters are named {name}",
                    where=f"meter {name}",
                    next_step="give each a name of its own",
                )
            meters[name] = (
                open_emulated(driver, table, device_of)
                if table.get("emulate")
                else driver.open(driver.settings.of(table), device_of)
            )
        _refuse_double_cover(meters)
    except BaseException:
        for meter in meters.values():
            meter.close()
        raise
    return meters


@cache
def _entries() -> Mapping[str, list[EntryPoint]]:
    by_name: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        by_name.setdefault(entry.name, []).append(entry)
    if not any(_package(entry) == "fsgreen" for entries in by_name.values() for entry in entries):
        raise FsgreenError(
            "this environment knows no driver of a meter: it was made before drivers were declared",
            where="entry points of the installed package fsgreen",
            next_step="./run doctor makes the environment anew (or: pip install -e .)",
        )
    return by_name


def _sound(name: str) -> Driver | Importer | None:
    with suppress(FsgreenError):
        return load(name)
    return None


def _package(entry: EntryPoint) -> str:
    return "?" if entry.dist is None else entry.dist.name


def _broken(entry: EntryPoint, what: str) -> FsgreenError:
    package = _package(entry)
    return FsgreenError(
        f"the meter driver {entry.name} of the package {package} {what}",
        where=entry.value,
        next_step=f"mend or uninstall that package: pip uninstall {package}"
        if package != "fsgreen"
        else "./run doctor makes the environment anew",
    )


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
