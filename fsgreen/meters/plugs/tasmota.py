"""Plugs with Tasmota, over HTTP: `/cm?cmnd=Status%208` and the state of the relay.

Source: Tasmota documentation (tasmota.github.io/docs): Commands, `Status`, `Power`; Power
Monitoring Calibration. `Total` is in kWh.
"""

from __future__ import annotations

from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.answers import Answer
from fsgreen.meters.common.live import Asked
from fsgreen.meters.core.base import Driver
from fsgreen.meters.core.readings import NAN
from fsgreen.meters.core.settings import Above0, Count, From0
from fsgreen.meters.plugs.plug import Document, PlugParser, PlugSettings, get, judged, locked
from fsgreen.trace import MeterInfo

ENERGY = ("StatusSNS", "ENERGY")
WH_PER_KWH = 1000.0


class TasmotaSettings(PlugSettings):
    """The settings of one relay of a plug."""

    relay: Count = 1
    """The number of the relay, counted from 1."""
    range_w: Above0 = 3680.0
    resolution_w: From0 = 1.0


class TasmotaParser(PlugParser):
    """Readings of a plug with Tasmota; flags as `PlugParser`."""

    def answer(self, data: bytes) -> Answer:
        """Return the values and flags in the two lines of an answer."""
        relay = int(self.info.options.get("relay", 1))
        first, _, second = data.partition(b"\n")
        status, switch = Document(first), Document(second)

        def value(name: str, *, per_relay: bool = False) -> float:
            """Return this relay's value; a plug with several gives a list, or one value for all."""
            if isinstance(status.at(*ENERGY, name), list):
                return status.number(*ENERGY, name, relay - 1)
            return NAN if per_relay else status.number(*ENERGY, name)

        several = isinstance(status.at(*ENERGY, "Power"), list)
        answer = Answer(
            power_w=value("Power"),
            voltage_v=value("Voltage"),
            current_a=value("Current"),
            energy_wh=value("Total", per_relay=several) * WH_PER_KWH,
            power_factor=value("Factor"),
        )
        answer.flags = list(dict.fromkeys(status.flags + switch.flags))
        state: Any = switch.at(f"POWER{relay}")
        if state is None and relay == 1:
            state = switch.at("POWER")
        return judged(answer, on=state != "OFF")


class Tasmota(Asked):
    """One relay of a plug."""

    settings: TasmotaSettings
    parser = TasmotaParser

    def identify(self) -> MeterInfo:
        """Ask the plug for its identity; raises FsgreenError if it has no Tasmota."""
        relay = self.settings.relay
        firmware, network = (Document(self._command(f"Status%20{nth}")) for nth in (2, 5))
        if firmware.at("WARNING") is not None:
            raise locked(f"http://{self.settings.host}")
        version, chip = (firmware.text("StatusFWR", name) for name in ("Version", "Hardware"))
        mac = network.text("StatusNET", "Mac")
        if not version or not mac:
            raise self._error("the device that answers is no Tasmota")
        # A meter without any relay is always on.
        if relay > 1 and Document(self._command(f"Power{relay}")).at(f"POWER{relay}") is None:
            raise self._error(f"this plug has no relay {relay}")
        return self.settings.indicative(
            # Not its host's name: people choose it, and would send it along with the result.
            model=f"Tasmota {version}{f', {chip}' if chip else ''}",
            serial=mac,
            asked=f"Status 8 and Power{relay}",
            options={"relay": relay},
        )

    def ask(self) -> bytes:
        """Return the answers of the meter and of the relay, one line each."""
        return self._command("Status%208") + b"\n" + self._command(f"Power{self.settings.relay}")

    def _command(self, command: str) -> bytes:
        return get(self.settings.host, f"/cm?cmnd={command}")

    def _error(self, what: str) -> FsgreenError:
        host = self.settings.host
        return FsgreenError(
            what,
            where=host,
            next_step=f"see what it measures: curl 'http://{host}/cm?cmnd=Status%208'",
        )


DRIVER = Driver(
    name="tasmota",
    kind="counter",
    summary="plugs with Tasmota over HTTP (indicative)",
    settings=TasmotaSettings,
    open=Tasmota,
    parser=TasmotaParser,
    emulator="fsgreen.meters.plugs.emulator:Tasmota",
)
