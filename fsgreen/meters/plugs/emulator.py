"""Mains plugs in software: a web server on 127.0.0.1 that answers as a Shelly or a Tasmota."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self
from urllib.parse import unquote

Kind = Literal["shelly1", "shelly2", "tasmota"]
Fault = Literal["silent", "error", "half", "wrong-type", "negative", "kilowatts"]
"""No answer; HTTP 500; half a body; a text for the power; below 0 W; power in another unit."""

MAINS_V = 230.0
POWER_FACTOR = 0.95
MAC = "A0B1C2D3E4F5"


class EmulatedPlug:
    """One plug for as long as its context lasts; `host` is what a driver opens.

    `power_w` is called at each answer and held since the one before. `on` is the relay.
    """

    def __init__(self, kind: Kind, power_w: Callable[[], float], mac: str = MAC) -> None:
        self.kind = kind
        self.on = True
        self.locked = False
        self.mac = mac
        self.energy_wh = 41573.0
        self.fault: Fault | None = None
        self.received: list[str] = []
        self._power_w = power_w
        self._last_s = time.monotonic()
        self._closing = threading.Event()

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = False
        self.host = f"127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name=f"emulated {self.kind}"
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """Host and port."""
        return {"host": self.host}

    def answer(self, path: str) -> tuple[int, bytes, int] | None:
        """Return status, body and its stated length for a path, None for no answer at all."""
        self.received.append(path)
        if self.fault == "silent":
            self._closing.wait()
            return None
        if self.fault == "error":
            return 500, b"", 0
        document = _PATHS[self.kind](self, path)
        if document is None:
            return 404, b"", 0
        body = json.dumps(document).encode()
        return 200, body[: len(body) // 2] if self.fault == "half" else body, len(body)

    def power(self) -> Any:
        """Return the power as the plug gives it now, and count it."""
        now_s, power_w = time.monotonic(), self._power_w() if self.on else 0.0
        self.energy_wh += power_w * (now_s - self._last_s) / 3600
        self._last_s = now_s
        match self.fault:
            case "wrong-type":
                return f"{power_w:.1f} W"
            case "negative":
                return -power_w
            case "kilowatts":
                return round(power_w / 1000, 4)
        return round(power_w, 2)

    @property
    def current_a(self) -> float:
        """The current that belongs to the load, whatever the plug says of its power."""
        return round(self._power_w() / (MAINS_V * POWER_FACTOR), 3) if self.on else 0.0


def shelly(power_w: Callable[[], float], mac: str) -> EmulatedPlug:
    """Return a Shelly of the second generation."""
    return EmulatedPlug("shelly2", power_w, mac)


def tasmota(power_w: Callable[[], float], mac: str) -> EmulatedPlug:
    """Return a Tasmota."""
    return EmulatedPlug("tasmota", power_w, mac)


def _shelly1(plug: EmulatedPlug, path: str) -> dict[str, Any] | None:
    match path:
        case "/shelly":
            return {"type": "SHPLG-S", "mac": plug.mac, "auth": plug.locked, "fw": "20230913/v1.14"}
        case "/status":
            meter = {"power": plug.power(), "overpower": 0.0, "is_valid": True, "timestamp": 0}
            return {
                "relays": [{"ison": plug.on, "has_timer": False, "overpower": False}],
                "meters": [{**meter, "total": round(plug.energy_wh * 60)}],
                "mac": plug.mac,
            }
    return None


def _shelly2(plug: EmulatedPlug, path: str) -> dict[str, Any] | None:
    match path:
        case "/shelly":
            name = {"id": f"shellyplusplugs-{plug.mac.lower()}", "mac": plug.mac, "gen": 2}
            return {**name, "model": "SNPL-00112EU", "ver": "1.4.4", "auth_en": plug.locked}
        case "/rpc/Switch.GetStatus?id=0":
            return {
                "id": 0,
                "source": "init",
                "output": plug.on,
                "apower": plug.power(),
                "voltage": MAINS_V,
                "current": plug.current_a,
                "aenergy": {"total": round(plug.energy_wh, 3), "by_minute": [0.0, 0.0, 0.0]},
                "temperature": {"tC": 30.3, "tF": 86.5},
            }
    return None


def _tasmota(plug: EmulatedPlug, path: str) -> dict[str, Any]:
    if plug.locked:
        return {"WARNING": "Need user=<username>&password=<password>"}
    match unquote(path):
        case "/cm?cmnd=Status 2":
            return {"StatusFWR": {"Version": "14.2.0(tasmota)", "Hardware": "ESP8266EX"}}
        case "/cm?cmnd=Status 5":
            return {"StatusNET": {"Hostname": "plug-1", "Mac": plug.mac}}
        case "/cm?cmnd=Status 8":
            energy = {
                "TotalStartTime": "2026-01-01T00:00:00",
                "Power": plug.power(),
                "Total": round(plug.energy_wh / 1000, 3),
                "Factor": POWER_FACTOR if plug.on else 0.0,
                "Voltage": round(MAINS_V) if plug.on else 0,
                "Current": plug.current_a,
            }
            return {"StatusSNS": {"Time": "2026-01-01T00:00:00", "ENERGY": energy}}
        case "/cm?cmnd=Power1":
            return {"POWER": "ON" if plug.on else "OFF"}
    return {"Command": "Unknown"}


_PATHS = {"shelly1": _shelly1, "shelly2": _shelly2, "tasmota": _tasmota}


def _handler(plug: EmulatedPlug) -> type[BaseHTTPRequestHandler]:
    """Return the class that answers for `plug`, as http.server wants one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = plug.answer(self.path)
            if answer is None:
                return
            status, body, length = answer
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(length))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # of who no longer listens
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    return Handler
