"""Emulated mains plugs: a web server on this machine that answers as a Shelly or a Tasmota."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from fsgreen.meters.common.emulators import WebEmulator

MAINS_V = 230.0
POWER_FACTOR = 0.95


class EmulatedPlug(WebEmulator):
    """A plug that calls `power_w` at each answer, and counts it for the time since the previous."""

    def __init__(self, power_w: Callable[[], float], mac: str = "A0B1C2D3E4F5") -> None:
        super().__init__()
        self.on = True
        self.mac = mac
        self.energy_wh = 41573.0
        self._power_w = power_w
        self._last_s = time.monotonic()

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """Host and port."""
        return {"host": self.host}

    def power(self) -> Any:
        """Return the power that the plug gives now, and count it."""
        now_s, power_w = time.monotonic(), self._power_w() if self.on else 0.0
        self.energy_wh += power_w * (now_s - self._last_s) / 3600
        self._last_s = now_s
        return round(power_w, 2)

    @property
    def current_a(self) -> float:
        """The current of the load, whatever power the plug gives."""
        return round(self._power_w() / (MAINS_V * POWER_FACTOR), 3) if self.on else 0.0


class Shelly(EmulatedPlug):
    """A Shelly of the second generation."""

    def document(self, path: str) -> dict[str, Any] | None:
        """Return the document at a path; None if there is none."""
        match path:
            case "/shelly":
                name = {"id": f"shellyplusplugs-{self.mac.lower()}", "mac": self.mac, "gen": 2}
                return {**name, "model": "SNPL-00112EU", "ver": "1.4.4", "auth_en": False}
            case "/rpc/Switch.GetStatus?id=0":
                return {
                    "id": 0,
                    "source": "init",
                    "output": self.on,
                    "apower": self.power(),
                    "voltage": MAINS_V,
                    "current": self.current_a,
                    "aenergy": {"total": round(self.energy_wh, 3), "by_minute": [0.0, 0.0, 0.0]},
                    "temperature": {"tC": 30.3, "tF": 86.5},
                }
        return None


class Tasmota(EmulatedPlug):
    """A plug with Tasmota."""

    def document(self, path: str) -> dict[str, Any]:
        """Return the document at a path."""
        match unquote(path):
            case "/cm?cmnd=Status 2":
                return {"StatusFWR": {"Version": "14.2.0(tasmota)", "Hardware": "ESP8266EX"}}
            case "/cm?cmnd=Status 5":
                return {"StatusNET": {"Hostname": "plug-1", "Mac": self.mac}}
            case "/cm?cmnd=Status 8":
                energy = {
                    "TotalStartTime": "2026-01-01T00:00:00",
                    "Power": self.power(),
                    "Total": round(self.energy_wh / 1000, 3),
                    "Factor": POWER_FACTOR if self.on else 0.0,
                    "Voltage": round(MAINS_V) if self.on else 0,
                    "Current": self.current_a,
                }
                return {"StatusSNS": {"Time": "2026-01-01T00:00:00", "ENERGY": energy}}
            case "/cm?cmnd=Power1":
                return {"POWER": "ON" if self.on else "OFF"}
        return {"Command": "Unknown"}
