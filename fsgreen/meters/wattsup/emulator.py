"""An emulated Watts Up: it sends the real meter's bytes on a real pseudo-terminal."""

from __future__ import annotations

import time
from collections.abc import Callable

from fsgreen.meters.common.emulators import TerminalEmulator
from fsgreen.meters.wattsup.packets import Packet, PacketReader

HEADER = "W,V,A,WH,Cost,WH/Mo,Cost/Mo,Wmax,Vmax,Amax,Wmin,Vmin,Amin,PF,DC,PC,Hz,VA"
MAINS_V = 120.0
POWER_FACTOR = 0.97
SENSED_W = 5.0
"""Below this power, real meters show 0 A, a power factor of 1, and the watts as VA."""


class Emulator(TerminalEmulator):
    """One emulated meter.

    `power_w` returns the mean power since its previous call. `stamp` stands for the serial number.
    `pace_s` is the time between records: one second for a real meter; tests shorten it.
    """

    def __init__(
        self, power_w: Callable[[], float], stamp: str = "emulated", *, pace_s: float = 1.0
    ) -> None:
        super().__init__()
        self.power_cycles = 3
        self._power_w = power_w
        self._stamp = stamp
        self._pace_s = pace_s
        self._energy_wh = 0.0
        self._packets = PacketReader()
        self._due_s = float("inf")
        self._last_s = 0.0

    def hear(self, data: bytes) -> None:
        """Obey the commands in the bytes that a driver sent."""
        for packet in self._packets.feed(data):
            self.obey(packet)

    def wait_s(self) -> float | None:
        """Return the time until the next record; None if the meter does not log."""
        logging = self._due_s < float("inf")
        return max(0.0, self._due_s - time.monotonic()) if logging else None

    def speak(self) -> None:
        """Send a record if one is due."""
        now_s = time.monotonic()
        if now_s >= self._due_s:
            self.record(self._power_w(), now_s - self._last_s)
            self._last_s = now_s
            self._due_s += self._pace_s * (1 + (now_s - self._due_s) // self._pace_s)

    def obey(self, packet: Packet) -> None:
        """Answer a command; the answer to an unknown one is the version."""
        match packet.command, packet.args:
            case "H", ():
                self.say(f"#h,-,18,{HEADER};")
            case "L", ("E", "0", _):
                self._last_s = time.monotonic()
                self._due_s = self._last_s + self._pace_s
                self._power_w()
            case "L", ():
                self._due_s = float("inf")
            case _:
                self.say(f"#v,-,8,1,0,5,0,7,8,{self._stamp},0;")

    def record(self, power_w: float, elapsed_s: float) -> None:
        """Send a record of the mean power over some seconds."""
        self._energy_wh += power_w * elapsed_s / 3600
        senses_current = power_w >= SENSED_W
        current_a = round(power_w / (MAINS_V * POWER_FACTOR), 3) if senses_current else 0.0
        apparent_va = MAINS_V * current_a if senses_current else power_w
        factor = power_w / apparent_va if apparent_va else 1.0
        w, v, a = round(power_w * 10), round(MAINS_V * 10), round(current_a * 1000)
        extremes = f"{w},{v},{a},{w},{v},{a}"
        self.say(
            f"#d,-,18,{w},{v},{a},{int(self._energy_wh * 10)},0,0,0,{extremes},"
            f"{round(100 * factor)},100,{self.power_cycles},600,{round(apparent_va * 10)};"
        )

    def say(self, text: str) -> None:
        """Send a packet; it is lost if earlier bytes were not read."""
        if not self.unsent:
            self.write(f"{text}\r\n".encode("latin-1"))
