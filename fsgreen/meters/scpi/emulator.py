"""An emulated power analyzer: a WT310E on a TCP port of 127.0.0.1, which PyVISA-py opens.

It takes the commands that the driver `scpi` sends, keeps a list of errors, refuses unknown or
impossible commands, and counts watt-hours between INTEGRATE:START and STOP.
"""

from __future__ import annotations

import socket
import socketserver
import time
from collections.abc import Callable, Mapping
from typing import Any

from fsgreen.meters.common.emulators import ServerEmulator

VOLTAGE_RANGES_V = (15.0, 30.0, 60.0, 150.0, 300.0, 600.0)
CURRENT_RANGES_A = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
RATES_S = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
MAINS_V = 230.0
POWER_FACTOR = 0.95
OVERLOAD = 1.3
"""An input is still measured up to this multiple of its range."""

UNDEFINED, OUT_OF_RANGE, RUNNING = (
    '113,"Undefined Header"',
    '222,"Data out of range"',
    '813,"Cannot set while integration is running"',
)
NO_ERROR = '0,"No error"'


class EmulatedAnalyzer(ServerEmulator):
    """One analyzer that runs in the `with` block; a driver opens its `resource`."""

    def __init__(self, power_w: Callable[[], float], serial: str = "C2QK12345E") -> None:
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _handler(self))
        server.daemon_threads = True
        super().__init__(server)
        self.resource = f"TCPIP::127.0.0.1::{self.port}::SOCKET"
        self.identity = f"YOKOGAWA,WT310E,{serial},F1.04"
        self.errors: list[str] = []
        self.integrating = False
        self.energy_wh = 0.0
        self.settings = {
            ":COMMUNICATE:HEADER": "1",
            ":HOLD": "0",
            ":INPUT:WIRING": "P1W2",
            ":INPUT:CFACTOR": "3",
            ":INPUT:MODE": "RMS",
            ":INPUT:VOLTAGE:AUTO": "1",
            ":INPUT:VOLTAGE:RANGE": "600.0E+00",
            ":INPUT:CURRENT:AUTO": "1",
            ":INPUT:CURRENT:RANGE": "20.000E+00",
            ":INPUT:FILTER:LINE": "1",
            ":INPUT:FILTER:FREQUENCY": "0",
            ":MEASURE:AVERAGING:STATE": "1",
            ":RATE": "250.0E-03",
            ":NUMERIC:FORMAT": "FLO",
            ":NUMERIC:NORMAL:NUMBER": "3",
            ":INTEGRATE:MODE": "NORM",
            ":INTEGRATE:TIMER": "1,0,0",
        }
        self.power_w = power_w
        self._counted_s = 0.0

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """The VISA resource."""
        return {"resource": self.resource}

    def obey(self, command: str) -> str | None:
        """Return the answer to a command, with its end of line; None if it has none."""
        header, _, value = command.partition(" ")
        if header.endswith("?"):
            answer = self._answer(header[:-1])
            return None if answer is None else f"{answer}\n"
        self._do(header, value)
        return None

    def _answer(self, header: str) -> str | None:
        match header:
            case "*IDN":
                return self.identity
            case ":STATUS:ERROR":
                return self.errors.pop(0) if self.errors else NO_ERROR
            case ":INTEGRATE:STATE":
                return "STAR" if self.integrating else "RES"
            case ":NUMERIC:NORMAL:VALUE":
                return ",".join(self.values())
            case _ if header in self.settings:
                return self.settings[header]
        self.errors.append(UNDEFINED)
        return None

    def _do(self, header: str, value: str) -> None:
        match header:
            case "*CLS":
                self.errors.clear()
            case ":INTEGRATE:RESET":
                self.energy_wh = 0.0
            case ":INTEGRATE:START":
                self.integrating, self._counted_s = True, time.monotonic()
            case ":INTEGRATE:STOP":
                self._count()
                self.integrating = False
            case _ if header in self.settings or header.startswith(":NUMERIC:NORMAL:ITEM"):
                self._set(header, value)
            case _:
                self.errors.append(UNDEFINED)

    def _set(self, header: str, value: str) -> None:
        allowed = {
            ":INPUT:VOLTAGE:RANGE": VOLTAGE_RANGES_V,
            ":INPUT:CURRENT:RANGE": CURRENT_RANGES_A,
            ":RATE": RATES_S,
        }.get(header)
        if self.integrating and header.startswith(":INPUT"):
            self.errors.append(RUNNING)
        elif allowed is not None and float(value) not in allowed:
            self.errors.append(OUT_OF_RANGE)
        else:
            self.settings[header] = f"{float(value):.4E}" if allowed else value

    def _count(self) -> None:
        if self.integrating:
            now_s = time.monotonic()
            self.energy_wh += self.power_w() * (now_s - self._counted_s) / 3600
            self._counted_s = now_s

    def values(self) -> list[str]:
        """Return the values of the numeric items."""
        self._count()
        power_w = self.power_w()
        current_a = power_w / (MAINS_V * POWER_FACTOR)
        volts, amperes = (
            float(self.settings[f":INPUT:{which}:RANGE"]) for which in ("VOLTAGE", "CURRENT")
        )
        over = OVERLOAD * volts < MAINS_V or current_a > OVERLOAD * amperes
        value = {
            "P": "INF" if over else f"{power_w:.4E}",
            "U": "INF" if OVERLOAD * volts < MAINS_V else f"{MAINS_V:.4E}",
            "I": "INF" if current_a > OVERLOAD * amperes else f"{current_a:.4E}",
            "WH": f"{self.energy_wh:.5E}" if self.integrating or self.energy_wh else "NAN",
            "URANGE": f"{volts:.4E}",
            "IRANGE": f"{amperes:.4E}",
        }
        count = int(self.settings[":NUMERIC:NORMAL:NUMBER"])
        names = [self.settings[f":NUMERIC:NORMAL:ITEM{n}"] for n in range(1, count + 1)]
        return [value[name.partition(",")[0]] for name in names]


def _handler(analyzer: EmulatedAnalyzer) -> type[socketserver.StreamRequestHandler]:
    """Return the class that answers for an analyzer: socketserver takes a class."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for line in self.rfile:
                # Without this, the data after a command without an answer waits for 40 ms.
                self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                answer = analyzer.obey(line.decode("latin-1").strip())
                if answer is not None:
                    self.wfile.write(answer.encode("latin-1"))

    return Handler
