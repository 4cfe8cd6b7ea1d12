"""Where a Redfish service keeps the power of a chassis: three trees, newest first.

- environment: Chassis/ID/EnvironmentMetrics, PowerWatts and EnergykWh (DSP2046 since 2020.4);
- power: Chassis/ID/Power, PowerControl (deprecated then, still the most common);
- supplies: Chassis/ID/PowerSubsystem, the input power of all power supplies added.

A value is named as in JSON references: PATH#/KEY/KEY.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.answers import at, number
from fsgreen.meters.redfish.http import ROOT, Service

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Sources:
    """References of the values whose sum is power in watts, and energy in kilowatt-hours."""

    tree: str
    power: tuple[str, ...]
    energy_kwh: tuple[str, ...] = ()

    @property
    def paths(self) -> list[str]:
        """The documents to ask for."""
        return list(dict.fromkeys(path_of(name) for name in (*self.power, *self.energy_kwh)))


def path_of(reference: str) -> str:
    """Return the document of a reference."""
    return reference.partition("#")[0]


def value_of(reference: str, document: Document | None) -> Any:
    """Return what a reference names in its document, None where there is no such thing."""
    return at(document, *reference.partition("#/")[2].split("/"))


def find_chassis(service: Service, wanted: str) -> str:
    """Return the path of the chassis with this id; of the only one, where none is wanted.

    Raises FsgreenError where there is none, or more than one.
    """
    paths = _members(service.document(f"{ROOT}/Chassis"))
    fitting = [path for path in paths if wanted in ("", path.rstrip("/").rpartition("/")[2])]
    if len(fitting) != 1:
        raise FsgreenError(
            f"{len(fitting)} chassis are {wanted or 'there'}: the service has {', '.join(paths)}",
            where=service.url,
            next_step="give the meter the last part of one of these paths as its chassis",
        )
    return fitting[0]


def find_sources(service: Service, chassis: Document, tree: str, control: str) -> Sources:
    """Return where the power of a chassis stands; in `tree`, or for auto in the first that has it.

    Raises FsgreenError where there is no power.
    """
    for name, find in TREES.items():
        if tree in ("auto", name):
            sources = find(service, chassis, control)
            if sources is not None and _all_numbers(service, sources.power):
                return sources
    raise FsgreenError(
        f"the chassis {chassis.get('Id', '')} gives no power" + f" by {tree}" * (tree != "auto"),
        where=service.url,
        next_step="look at what it has: docs/meters/redfish.md",
    )


def _environment(service: Service, chassis: Document, _: str) -> Sources | None:
    path = _link(chassis, "EnvironmentMetrics")
    if path is None:
        return None
    energy = f"{path}#/EnergykWh/Reading"
    counts = _all_numbers(service, (energy,))
    return Sources("environment", (f"{path}#/PowerWatts/Reading",), (energy,) if counts else ())


def _power(service: Service, chassis: Document, control: str) -> Sources | None:
    path = _link(chassis, "Power")
    controls = None if path is None else service.document(path).get("PowerControl")
    if not isinstance(controls, list) or not controls:
        return None
    names = [(_text(entry, "Name"), _text(entry, "MemberId")) for entry in controls]
    fitting = [nth for nth, both in enumerate(names) if not control or control in both]
    if len(fitting) != 1:
        raise FsgreenError(
            f"{len(fitting)} power controls fit: there are {', '.join(name for name, _ in names)}",
            where=f"{service.url}{path}",
            next_step="give the meter the name of the one of the whole chassis as its control",
        )
    return Sources("power", (f"{path}#/PowerControl/{fitting[0]}/PowerConsumedWatts",))


def _supplies(service: Service, chassis: Document, _: str) -> Sources | None:
    subsystem = _link(chassis, "PowerSubsystem")
    supplies = _link(service.document(subsystem), "PowerSupplies") if subsystem else None
    if supplies is None:
        return None
    metrics = [_link(service.document(p), "Metrics") for p in _members(service.document(supplies))]
    if not metrics or None in metrics:
        return None
    return Sources("supplies", tuple(f"{path}#/InputPowerWatts/Reading" for path in metrics))


TREES: Mapping[str, Callable[[Service, Document, str], Sources | None]] = {
    "environment": _environment,
    "power": _power,
    "supplies": _supplies,
}


def _all_numbers(service: Service, references: tuple[str, ...]) -> bool:
    values = [number(value_of(name, service.document(path_of(name)))) for name in references]
    return all(value == value for value in values)


def _text(document: Any, name: str) -> str:
    return str(value_of(f"#/{name}", document))


def _link(document: Document, name: str) -> str | None:
    path = value_of(f"#/{name}/@odata.id", document)
    return path if isinstance(path, str) else None


def _members(collection: Document) -> list[str]:
    members = collection.get("Members")
    paths = (
        [value_of("#/@odata.id", member) for member in members] if isinstance(members, list) else []
    )
    return [path for path in paths if isinstance(path, str)]
