"""A server's management controller over Redfish (DMTF DSP0266, DSP2046), once a second or slower.

An answer is stored as one JSON object of unchanged documents by path. A service keeps the power of
a chassis in one of three trees, newest first:

- environment: Chassis/ID/EnvironmentMetrics, PowerWatts and EnergykWh (DSP2046 since 2020.4);
- power: Chassis/ID/Power, PowerControl (deprecated then, but still the most common);
- supplies: Chassis/ID/PowerSubsystem, the sum of the input power of all power supplies.

A value is named by a JSON reference: PATH#/KEY/KEY.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.answers import Answer, AnswerParser, at, json_object, number
from fsgreen.meters.common.live import Asked
from fsgreen.meters.core.base import DeviceOf, Driver
from fsgreen.meters.core.readings import NAN
from fsgreen.meters.core.settings import Above0, From0, GainError, MeterSettings, secret
from fsgreen.meters.redfish.http import ROOT, Service
from fsgreen.trace import MeterInfo

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Sources:
    """References of values, whose sums are power in watts and energy in kilowatt-hours."""

    tree: str
    power: tuple[str, ...]
    energy_kwh: tuple[str, ...] = ()

    @property
    def paths(self) -> list[str]:
        """The paths of the documents to ask for."""
        return list(dict.fromkeys(path_of(name) for name in (*self.power, *self.energy_kwh)))


def path_of(reference: str) -> str:
    """Return the path of a reference's document."""
    return reference.partition("#")[0]


def value_of(reference: str, document: Document | None) -> Any:
    """Return the value that a reference names in its document; None if there is none."""
    return at(document, *reference.partition("#/")[2].split("/"))


def find_chassis(service: Service, wanted: str) -> str:
    """Return the path of the chassis with this id, or of the only one if no id is wanted.

    Raises FsgreenError if there is none, or more than one.
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
    """Return the references of a chassis' power in `tree`; auto means the first tree with power.

    Raises FsgreenError if there is no power.
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
            next_step="set `control` of the meter to the name of the control for the whole chassis",
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


class RedfishSettings(MeterSettings):
    """The settings: a service, and one of its chassis."""

    url: str
    """The address of the service: https://HOST[:PORT]."""
    user: str = ""
    """The user of a login with a password; leave out user and token if no login is needed."""
    password_env: str = ""
    password_file: str = ""
    token_env: str = ""
    token_file: str = ""
    ca_file: str = ""
    """The certificate of the service or of its issuer, to trust in place of the system's."""
    chassis: str = ""
    """The id of the chassis, if the service has several."""
    tree: Literal["auto", "environment", "power", "supplies"] = "auto"
    """The resource that has the power; auto: the first of the others that has power."""
    control: str = ""
    """The name of the power control, if the tree power has several."""
    rate_hz: Annotated[Above0, Field(le=5)] = 1.0
    timeout_s: Above0 = 5.0
    """The longest wait for an answer."""
    range_w: Above0 = 10_000.0
    resolution_w: From0 = 1.0
    gain_error: GainError = 0.05


class RedfishParser(AnswerParser):
    """Watts, and watt-hours if the service counts them, from the documents of one answer.

    Flags: cut (no JSON), missing (no such value, or null), bad-number, and those of `Checks`.
    """

    def answer(self, data: bytes) -> Answer:
        """Return the values and flags in the documents."""
        texts = (json_object(data) or {}).items()
        documents = {
            path: json_object(text.encode("latin-1", "replace"))
            for path, text in texts
            if isinstance(text, str)
        }
        power, energy_kwh = self.info.options["power"], self.info.options["energy_kwh"]
        names = (*power, *energy_kwh)
        if any(documents.get(path_of(name)) is None for name in names):
            return Answer(flags=["cut"])
        values = {name: value_of(name, documents[path_of(name)]) for name in names}
        numbers = {name: number(value) for name, value in values.items()}
        flags = ["missing"] if None in values.values() else []
        if any(values[name] is not None and numbers[name] != numbers[name] for name in names):
            flags.append("bad-number")
        energy_wh = 1e3 * sum(numbers[name] for name in energy_kwh) if energy_kwh else NAN
        return Answer(sum(numbers[name] for name in power), energy_wh=energy_wh, flags=flags)


class Redfish(Asked):
    """The chassis that the settings choose."""

    settings: RedfishSettings
    parser = RedfishParser

    def __init__(self, settings: RedfishSettings, _: DeviceOf) -> None:
        user, token = settings.user, secret(settings, "token")
        password = secret(settings, "password")
        if bool(user) != bool(password) or (user and token):
            settings.refuse("give user and password_env or _file, or token_env or _file alone")
        headers = {"X-Auth-Token": token} if token else {}
        if user:
            headers["Authorization"] = "Basic " + b64encode(f"{user}:{password}".encode()).decode()
        self._service = Service(settings.url, headers, settings.ca_file, settings.timeout_s)
        super().__init__(settings)

    def identify(self) -> MeterInfo:
        """Find the chassis and its power, and describe them; raises FsgreenError."""
        chosen = self.settings
        about = self._service.document(find_chassis(self._service, chosen.chassis))
        sources = find_sources(self._service, about, chosen.tree, chosen.control)
        self._paths = sources.paths
        names = (about.get(key) for key in ("Manufacturer", "Model"))
        return chosen.info(
            boundary=chosen.boundary or "wall",
            model=" ".join(str(name) for name in names if name) or "Redfish chassis",
            serial=str(about.get("SerialNumber") or "no serial number"),
            source="Redfish; accuracy as the settings have it, 5 % assumed without; "
            + ", ".join(sources.power),
            options={"power": list(sources.power), "energy_kwh": list(sources.energy_kwh)},
        )

    def ask(self) -> bytes:
        """Return the documents by path, unchanged."""
        bodies = {path: self._service.get(path).decode("latin-1") for path in self._paths}
        return json.dumps(bodies).encode("ascii")

    def release(self) -> None:
        """End the connection."""
        self._service.close()


DRIVER = Driver(
    name="redfish",
    kind="counter",
    summary="a server's management controller (Redfish) over HTTPS",
    settings=RedfishSettings,
    open=Redfish,
    parser=RedfishParser,
    emulator="fsgreen.meters.redfish.emulator:Redfish",
)
