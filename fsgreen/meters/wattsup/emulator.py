"""A Watts Up in software: the same bytes as the real meter, on a real pseudo-terminal.

The emulator is a thread of the harness and ends with it.
"""

from __future__ import annotations

import os
import select
import threading
import time
import tty
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal, Self

from fsgreen.errors import FsgreenError
from fsgreen.meters.wattsup.packets import Packet, PacketReader

HEADER = "W,V,A,WH,Cost,WH/Mo,Cost/Mo,Wmax,Vmax,Amax,Wmin,Vmin,Amin,PF,DC,PC,Hz,VA"
MEMORY_COUNT = 1023
MAINS_V = 120.0
POWER_FACTOR = 0.97
SENSED_W = 5.0
"""At less power real meters show 0 A, a power factor of 1 and the watts as VA."""

Misbehaviour = Literal["nul", "cut", "silent", "garbage"]


class Emulator:
    """One emulated meter, plugged in when it is made; `port` is the path that a driver opens.

    Parameters
    ----------
    power_w : callable
        Mean power since its previous call, in watts.
    stamp : str
        What the meter gives as its own stamp; stands for its serial number.
    pace_s : float
        Time between records. A real meter's is one second; tests shorten it.

    `memory_w` is what its memory holds, one record every `memory_interval_s`.
    """

    def __init__(
        self,
        power_w: Callable[[], float],
        stamp: str = "emulated",
        *,
        pace_s: float = 1.0,
    ) -> None:
        self._power_w = power_w
        self._stamp = stamp
        self._pace_s = pace_s
        self._energy_wh = 0.0
        self.power_cycles = 3
        self.misbehaviour: Misbehaviour | None = None
        self.received: list[str] = []
        self.memory_w: list[float] = []
        self.memory_interval_s = 1
        self._pulling = threading.Lock()
        self._wake: int | None = None
        self.plug_in()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unplug()

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """The port."""
        return {"port": self.port}

    def plug_in(self) -> None:
        """Make the port, under a path of its own, and serve it."""
        self.unplug()
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self._wake = os.eventfd(0)
        self.port = os.ttyname(self._slave)
        self._thread = threading.Thread(
            target=self._serve, args=(self._wake,), name="emulated meter", daemon=True
        )
        self._thread.start()

    def unplug(self) -> None:
        """Take the port away, as a pulled cable does; harmless when repeated, from any thread."""
        with self._pulling:
            if self._wake is not None:
                os.eventfd_write(self._wake, 1)
                self._thread.join()
                os.close(self._wake)
                self._wake = None

    def _serve(self, wake: int) -> None:
        try:
            with suppress(FsgreenError):  # of the power model; the port goes with it
                self._talk(wake)
        finally:
            os.close(self._master)
            os.close(self._slave)

    def _talk(self, wake: int) -> None:
        packets = PacketReader()
        due_s: float | None = None
        last_s = 0.0
        while True:
            wait_s = None if due_s is None else max(0.0, due_s - time.monotonic())
            ready, _, _ = select.select([self._master, wake], [], [], wait_s)
            if wake in ready:
                return
            if self._master in ready:
                for packet in packets.feed(os.read(self._master, 4096)):
                    logging = self._obey(packet)
                    if logging:
                        last_s = time.monotonic()
                        due_s = last_s + self._pace_s
                        self._power_w()
                    elif logging is False:
                        due_s = None
            now_s = time.monotonic()
            if due_s is not None and now_s >= due_s:
                self._record(self._power_w(), now_s - last_s)
                last_s = now_s
                due_s += self._pace_s * (1 + (now_s - due_s) // self._pace_s)

    def _obey(self, packet: Packet) -> bool | None:
        """Answer a command; True starts the records, False stops them."""
        self.received.append(",".join((packet.command, *packet.args)))
        match packet.command, packet.args:
            case "H", ():
                self._send(f"#h,-,18,{HEADER};")
            case "L", ("E", "0", _):
                return True
            case "L", ():
                return False
            case "L", ("I", _, interval):
                self.memory_w.clear()
                self.memory_interval_s = int(interval)
                self._send(f"#s,-,3,0,{interval},1;")
            case "S", ():
                self._send(f"#s,-,3,0,{self.memory_interval_s},1;")
            case "N", ():
                self._send(f"#n,-,1,{MEMORY_COUNT};")
            case "O", (*mode,):
                if mode:
                    self.memory_w.clear()
                self._send("#o,-,1,0;")
            case "D", ():
                self._send(f"#n,-,3,0,{self.memory_interval_s},{len(self.memory_w)};")
                for power_w in self.memory_w:
                    self._record(power_w, self.memory_interval_s)
                self._send(f"#l,-,2,0,{self.memory_interval_s};")
            case _:
                self._send(f"#v,-,8,1,0,5,0,7,8,{self._stamp},0;")
        return None

    def _record(self, power_w: float, elapsed_s: float) -> None:
        self._energy_wh += power_w * elapsed_s / 3600
        senses_current = power_w >= SENSED_W
        current_a = round(power_w / (MAINS_V * POWER_FACTOR), 3) if senses_current else 0.0
        apparent_va = MAINS_V * current_a if senses_current else power_w
        factor = power_w / apparent_va if apparent_va else 1.0
        w, v, a = round(power_w * 10), round(MAINS_V * 10), round(current_a * 1000)
        extremes = f"{w},{v},{a},{w},{v},{a}"
        fields = (
            f"{w},{v},{a},{int(self._energy_wh * 10)},0,0,0,{extremes},"
            f"{round(100 * factor)},100,{self.power_cycles},600,{round(apparent_va * 10)}"
        )
        text = f"#d,-,18,{fields};"
        match self.misbehaviour:
            case "nul":
                text = text.replace(",", ",\0", 5)
            case "cut":
                text = text[len(text) // 2 :]
            case "garbage":
                text = "\xff\xfe~#d,-,18,\x81" * 3
        self._send(text)

    def _send(self, text: str) -> None:
        if self.misbehaviour == "silent":
            return
        if self.misbehaviour == "garbage":
            text = text.replace("#", "\x83#?")
        with suppress(BlockingIOError):
            os.write(self._master, f"{text}\r\n".encode("latin-1"))
