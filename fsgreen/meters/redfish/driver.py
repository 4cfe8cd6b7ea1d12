"""A server's management controller over Redfish (DMTF DSP0266, DSP2046), once a second or slower.

The answer that is kept is one JSON object of documents by path, each as it came.
"""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Annotated, Literal

from pydantic import Field

from fsgreen.meters.common.answers import Answer, Checks, json_object, number
from fsgreen.meters.common.live import Asked
from fsgreen.meters.core.base import Chunk, DeviceOf, Driver
from fsgreen.meters.core.readings import NAN, Reading
from fsgreen.meters.core.settings import Above0, From0, GainError, MeterSettings, secret
from fsgreen.meters.redfish.http import Service
from fsgreen.meters.redfish.trees import find_chassis, find_sources, path_of, value_of
from fsgreen.trace import MeterInfo


class RedfishSettings(MeterSettings):
    """Which chassis of which service."""

    url: str
    """The service, https://HOST[:PORT]."""
    user: str = ""
    """For a login with a password; without user and token: for services that ask for none."""
    password_env: str = ""
    password_file: str = ""
    token_env: str = ""
    token_file: str = ""
    ca_file: str = ""
    """The service's certificate or its issuer's, in place of the system's."""
    chassis: str = ""
    """Its id, where the service has several."""
    tree: Literal["auto", "environment", "power", "supplies"] = "auto"
    """Where its power stands; auto: the first of the others that has one."""
    control: str = ""
    """Which power control of the tree power."""
    rate_hz: Annotated[Above0, Field(le=5)] = 1.0
    timeout_s: Above0 = 5.0
    """How long an answer may take."""
    range_w: Above0 = 10_000.0
    resolution_w: From0 = 1.0
    gain_error: GainError = 0.05


class RedfishParser:
    """Watts, and watt-hours where the service counts them, from the documents of one answer.

    Flags: cut (no JSON), missing (no such value, or null), bad-number, and those of `Checks`.
    """

    def __init__(self, info: MeterInfo) -> None:
        self._checks = Checks(info.range_w, slack_va=0.0)
        self._power = info.options["power"]
        self._energy_kwh = info.options["energy_kwh"]

    def feed(self, chunk: Chunk) -> list[Reading]:
        """Return the reading of one answer."""
        answer = json_object(chunk.data) or {}
        documents = {
            path: json_object(text.encode("latin-1", "replace"))
            for path, text in answer.items()
            if isinstance(text, str)
        }
        names = (*self._power, *self._energy_kwh)
        if any(documents.get(path_of(name)) is None for name in names):
            return [Reading(chunk.time_s, NAN, quality="cut")]
        values = {name: value_of(name, documents[path_of(name)]) for name in names}
        flags = ["missing"] if None in values.values() else []
        numbers = {name: number(value) for name, value in values.items()}
        bad = [
            name for name in names if values[name] is not None and numbers[name] != numbers[name]
        ]
        flags += ["bad-number"] if bad else []
        energy_wh = 1e3 * sum(numbers[n] for n in self._energy_kwh) if self._energy_kwh else NAN
        power_w = sum(numbers[name] for name in self._power)
        said = Answer(power_w, energy_wh=energy_wh, flags=flags)
        return [self._checks.reading(chunk.time_s, said)]


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
        """Find the chassis and where its power stands; raises FsgreenError."""
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
        """Return the documents as they are, by path."""
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
