"""The table of drivers: how a configured meter is opened, and how its raw bytes are parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from fsgreen.errors import FsgreenError, unknown
from fsgreen.meters.base import Meter, Parser
from fsgreen.meters.emulator import EmulatedMeter
from fsgreen.meters.model import ModelledPower, load_profile
from fsgreen.meters.wattsup import WattsUp
from fsgreen.meters.wattsup_packets import WattsUpParser
from fsgreen.trace import Boundary, MeterInfo

DeviceOf = Callable[[], str | None]

PARSERS: Mapping[str, Callable[[MeterInfo], Parser]] = {"wattsup": WattsUpParser}
"""By `MeterInfo.driver`."""

EMULATED = (
    {"name": "system", "driver": "emulator", "profile": "fast10-system"},
    {"name": "disk", "driver": "emulator", "profile": "fast10-disk"},
)
"""The meters where none is configured: fast10's two, for the server and for the disk."""


def open_meters(
    config: Sequence[Mapping[str, Any]] | None, device_of: DeviceOf
) -> dict[str, Meter]:
    """Open every configured meter; without a configuration, two emulated ones.

    Each entry has `name`, `driver` ("wattsup" or "emulator") and the driver's own settings:
    port, boundary, covers, baud, range_w for "wattsup"; profile for "emulator". `device_of`
    names the disk whose activity drives a modelled disk. Raises FsgreenError, with every meter
    closed again, where an entry is wrong or a meter cannot be opened.
    """
    meters: dict[str, Meter] = {}
    try:
        for entry in config or EMULATED:
            settings = dict(entry)
            name = _take(settings, "name", entry)
            driver = _take(settings, "driver", entry)
            if name in meters:
                raise _misconfigured(f"two meters are named {name}", entry)
            if driver not in _OPENERS:
                raise unknown("meter driver", driver, _OPENERS, where=f"meter {name}")
            meters[name] = _OPENERS[driver](name, settings, device_of)
        _refuse_double_cover(meters)
    except BaseException:
        for meter in meters.values():
            meter.close()
        raise
    return meters


def _open_wattsup(name: str, settings: dict[str, Any], _: DeviceOf) -> Meter:
    port = _take(settings, "port", {"name": name})
    allowed = {"boundary", "covers", "baud", "range_w"}
    if odd := sorted(settings.keys() - allowed):
        raise _misconfigured(f"unknown settings {', '.join(odd)}", {"name": name})
    boundary = settings.get("boundary", "wall")
    if boundary not in get_args(Boundary):
        raise unknown("boundary", boundary, get_args(Boundary), where=f"meter {name}")
    return WattsUp(port, **settings)


def _open_emulator(name: str, settings: dict[str, Any], device_of: DeviceOf) -> Meter:
    profile_name = _take(settings, "profile", {"name": name})
    if settings:
        raise _misconfigured(f"unknown settings {', '.join(sorted(settings))}", {"name": name})
    profile = load_profile(profile_name)
    return EmulatedMeter(
        ModelledPower(profile, device_of),
        name=name,
        covers=profile.covers,
        source=f"power model {profile_name}, {profile.idle_w:g} to {profile.peak_w:g} W by "
        f"{profile.driven_by} ({profile.source}), read as by a Watts Up? PRO",
    )


_OPENERS: Mapping[str, Callable[[str, dict[str, Any], DeviceOf], Meter]] = {
    "wattsup": _open_wattsup,
    "emulator": _open_emulator,
}


def _refuse_double_cover(meters: Mapping[str, Meter]) -> None:
    owner: dict[str, str] = {}
    for name, meter in meters.items():
        for part in meter.describe().covers:
            if part in owner:
                raise _misconfigured(
                    f"the meters {owner[part]} and {name} both cover {part}: "
                    "its energy would count twice",
                    {"name": name},
                )
            owner[part] = name


def _take(settings: dict[str, Any], key: str, entry: Mapping[str, Any]) -> str:
    if key not in settings:
        raise _misconfigured(f"a meter lacks its {key}", entry)
    return str(settings.pop(key))


def _misconfigured(what: str, entry: Mapping[str, Any]) -> FsgreenError:
    return FsgreenError(
        what,
        where=f"meter {entry.get('name', dict(entry))}",
        next_step="see docs/meters.md for the settings of a meter",
    )
