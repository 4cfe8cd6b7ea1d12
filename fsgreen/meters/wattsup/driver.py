"""Watts Up? PRO, PRO ES and .NET over USB serial: 115200 8N1, one reading a second.

A capture never clears the meter's memory, because it never sends a command that would (`C`, `R`,
`S`, `O`, or internal logging). Only `memory.py` sends some of them, if a log is asked for.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from fsgreen.meters.common.serialport import SerialMeter, SerialPort, usb_ports, usb_serial
from fsgreen.meters.core.base import Chunk, Driver
from fsgreen.meters.core.settings import Above0, Count, MeterSettings
from fsgreen.meters.wattsup.packets import (
    ACCURACY,
    MemoryParser,
    Packet,
    PacketReader,
    WattsUpParser,
)
from fsgreen.trace import MeterInfo

REPLY_S = 2.0  # protocol v442: a reply comes within two seconds
RECORD_S = 0.015  # the longest record at 115200 baud
QUIET_S = 4 * RECORD_S
MODELS = {"0": "standard", "1": "PRO", "2": "ES", "3": ".NET"}

RESERVED = ("0", "-", "")  # the values that meters accept as the reserved argument of #L,W
STOP = "#L,R,0;"


class WattsUpSettings(MeterSettings):
    """The settings of a Watts Up."""

    port: str
    """The serial port, best by its name in /dev/serial/by-id."""
    baud: Count = 115200
    """Bits per second: 19200 for hardware of minor version 1."""
    range_w: Above0 = 1800.0
    """The default is 15 A times 120 V; at another voltage, give the product."""

    def sheet(self, rate_hz: float) -> MeterInfo:
        """Return the description, still without model and serial number."""
        return self.info(boundary=self.boundary or "wall", rate_hz=rate_hz, **ACCURACY)


class Conversation(SerialPort):
    """An open port; all bytes stay in `unread` until somebody takes them."""

    def __init__(self, port: str, baud: int) -> None:
        super().__init__(port, baud, RECORD_S, write_timeout_s=REPLY_S)
        self._packets = PacketReader()
        self.unread: list[Chunk] = []

    def identify(self) -> tuple[str, str]:
        """Return the model with its versions, and the meter's own stamp."""
        model, _, hw, hw_minor, fw, fw_minor, stamp, _ = self.ask("#V,R,0;", "v", 8).args
        name = MODELS.get(model, f"model {model}")
        return f"Watts Up? {name}, hardware {hw}.{hw_minor}, firmware {fw}.{fw_minor}", stamp

    def read(self, timeout_s: float) -> Chunk | None:
        """Return the next bytes and the arrival time of the first; None after `timeout_s`."""
        return self.unread.pop(0) if self.unread else super().read(timeout_s)

    def send(self, command: str) -> None:
        """Send a command."""
        self.write(command.encode("ascii"))

    def ask(self, command: str, letter: str, count: int | None = None) -> Packet:
        """Send a command and return its reply; raises FsgreenError if there is none."""
        deque(self._packets.feed(b""), maxlen=0)  # earlier packets are no reply
        self.send(command)
        reply = self.wait(
            lambda p: p.whole and p.command == letter and count in (None, len(p.args))
        )
        if reply is None:
            hint = "; a meter of hardware minor 1 needs baud 19200"
            raise self.unanswered(command, REPLY_S, heard=self.unread, hint=hint)
        return reply

    def wait(
        self, wanted: Callable[[Packet], bool], *, while_it_talks: bool = False
    ) -> Packet | None:
        """Return the first wanted packet; None if there is none within `REPLY_S`.

        With `while_it_talks`, this time restarts whenever bytes come.
        """
        packet = next(filter(wanted, self._packets.feed(b"")), None)
        deadline_s = time.monotonic() + REPLY_S
        while packet is None and (left_s := deadline_s - time.monotonic()) > 0:
            if chunk := super().read(left_s):
                self.unread.append(chunk)
                packet = next(filter(wanted, self._packets.feed(chunk.data)), None)
                if while_it_talks:
                    deadline_s = time.monotonic() + REPLY_S
        return packet

    def drain(self) -> None:
        """Throw away all unread bytes, and those that are still coming."""
        self.unread = []
        self._packets = PacketReader()
        deadline_s = time.monotonic() + REPLY_S
        while super().read(QUIET_S) is not None and time.monotonic() < deadline_s:
            pass


class WattsUp(SerialMeter):
    """One meter on a serial port; opening identifies it and waits for a first reading.

    Raises FsgreenError if the port is missing, busy or silent, or if another device answers.
    """

    _line: Conversation

    def __init__(self, settings: WattsUpSettings) -> None:
        self.port = settings.port
        self._baud = settings.baud
        self._reserved = RESERVED[0]
        self._sheet = settings.sheet(1.0)
        self._info = self._identified()

    def _open(self) -> None:
        self._line = Conversation(self.port, self._baud)

    def _identify(self) -> MeterInfo:
        """Ask the meter for its identity, and wait for a first reading."""
        self._end()
        model, stamp = self._line.identify()
        self._line.ask("#H,R,0;", "h")
        self._reserved = self._accepted_reserved()
        parser = WattsUpParser(self._sheet)
        for chunk in self._line.unread:
            parser.feed(chunk)
        self._end()
        return replace(
            self._sheet,
            model=model,
            serial=usb_serial(self.port) or stamp,
            source=f"{self._sheet.source}; real-time logging by {self._logging(self._reserved)}",
            power_cycles=parser.power_cycles,
        )

    def _accepted_reserved(self) -> str:
        """Return the reserved argument with which the meter sends records.

        A meter answers an unknown command with its version.
        """
        for reserved in sorted(RESERVED, key=lambda r: r != self._reserved):
            self._line.send(self._logging(reserved))
            answer = self._line.wait(lambda p: p.whole and p.command in ("d", "v"))
            if answer is not None and answer.command == "d":
                return reserved
        raise self._line.error(
            "the meter answers but sends no readings",
            "unplug and replug its USB cable; if it stays so, restart the meter",
        )

    @staticmethod
    def _logging(reserved: str) -> str:
        return f"#L,W,3,E,{reserved},1;"

    def _begin(self) -> None:
        """Begin logging once a second; `read` returns the header packet and the records."""
        self._end()
        self._line.ask("#H,R,0;", "h")
        self._line.send(self._logging(self._reserved))

    def _end(self) -> None:
        """Stop logging, and throw away the bytes that are still coming."""
        self._line.send(STOP)
        self._line.drain()


DRIVER = Driver(
    name="wattsup",
    kind="stream",
    summary="Watts Up? PRO, PRO ES and .NET over USB serial, once a second",
    settings=WattsUpSettings,
    open=lambda settings, _: WattsUp(settings),
    parser=lambda info: (MemoryParser if info.options.get("memory") else WattsUpParser)(info),
    find=lambda: [f'port = "{path}"' for path in usb_ports()],
    emulator="fsgreen.meters.wattsup.emulator:Emulator",
)
