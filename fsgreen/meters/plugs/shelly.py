"""Shelly plugs and relays with a power meter, over HTTP: generation 1, and 2 and later.

Sources: Shelly API reference (shelly-api-docs.shelly.cloud): generation 1 `/shelly`, `/status`;
generation 2 and later `/shelly`, `/rpc/Switch.GetStatus`, `/rpc/PM1.GetStatus`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.answers import Answer
from fsgreen.meters.common.live import Asked
from fsgreen.meters.core.base import Driver
from fsgreen.meters.core.settings import Above0, From0
from fsgreen.meters.plugs.plug import Document, PlugParser, PlugSettings, get, judged, locked
from fsgreen.trace import MeterInfo

WH_PER_WATT_MINUTE = 1 / 60


class ShellySettings(PlugSettings):
    """The settings of one channel of a Shelly."""

    channel: Annotated[int, Field(ge=0)] = 0
    """The number of the channel, counted from 0."""
    component: Literal["Switch", "PM1"] = "Switch"
    """PM1 for a device that cannot switch."""
    range_w: Above0 = 2500.0
    resolution_w: From0 = 0.1


class ShellyParser(PlugParser):
    """Readings of a Shelly; flags as `PlugParser`."""

    def answer(self, data: bytes) -> Answer:
        """Return the values and flags in the answer of a Shelly."""
        status = Document(data)
        channel = int(self.info.options.get("channel", 0))
        if self.info.options.get("generation") == 1:
            answer = Answer(
                power_w=status.number("meters", channel, "power"),
                energy_wh=status.number("meters", channel, "total") * WH_PER_WATT_MINUTE,
            )
            on = status.at("relays", channel, "ison")
            broken = status.at("meters", channel, "is_valid") is False
        else:
            answer = Answer(
                power_w=status.number("apower"),
                voltage_v=status.number("voltage"),
                current_a=status.number("current"),
                energy_wh=status.number("aenergy", "total"),
                power_factor=status.number("pf"),
            )
            on = status.at("output")
            errors = status.at("errors")
            broken = isinstance(errors, list) and "power_meter_failure" in errors
        answer.flags = status.flags
        return judged(answer, on=on is not False, broken=broken)


class Shelly(Asked):
    """One channel of a Shelly."""

    settings: ShellySettings
    parser = ShellyParser

    def identify(self) -> MeterInfo:
        """Ask the plug for its identity; raises FsgreenError if it is no Shelly."""
        host, channel = self.settings.host, self.settings.channel
        about = Document(get(host, "/shelly"))
        modern = about.at("gen") is not None
        model = about.text("model" if modern else "type")
        if not model:
            raise FsgreenError(
                "the device that answers is no Shelly",
                where=host,
                next_step=f"see what it is: curl 'http://{host}/shelly'; its channels count from "
                '0, and a device that cannot switch needs component = "PM1"',
            )
        if about.at("auth_en" if modern else "auth") is True:
            raise locked(f"http://{host}")
        component = self.settings.component
        self._path = f"/rpc/{component}.GetStatus?id={channel}" if modern else "/status"
        return self.settings.indicative(
            model=f"Shelly {model}, generation {about.text('gen') or 1}, "
            f"firmware {about.text('ver' if modern else 'fw')}",
            serial=about.text("mac"),
            asked=self._path,
            options={"generation": 2 if modern else 1, "channel": channel},
        )

    def ask(self) -> bytes:
        """Return the plug's answer."""
        return get(self.settings.host, self._path)


DRIVER = Driver(
    name="shelly",
    kind="counter",
    summary="Shelly plugs over HTTP, all generations (indicative)",
    settings=ShellySettings,
    open=Shelly,
    parser=ShellyParser,
    emulator="fsgreen.meters.plugs.emulator:Shelly",
)
