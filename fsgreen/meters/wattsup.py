"""Watts Up? PRO, PRO ES and .NET over USB serial: 115200 8N1, one reading a second.

The meter's memory is never cleared: no command that clears it (`C`, `R`, `S`, `O`, or internal
logging) is ever sent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from fsgreen.errors import FsgreenError
from fsgreen.meters.base import Chunk, DeviceOf, Driver, Meter
from fsgreen.meters.serialport import PORTS, SerialPort, usb_ports, usb_serial
from fsgreen.meters.settings import Settings
from fsgreen.meters.wattsup_packets import Packet, PacketReader, WattsUpParser
from fsgreen.trace import Boundary, MeterInfo, identity_flaws

REPLY_S = 2.0  # protocol v442: a reply comes within two seconds
RECORD_S = 0.015  # the longest record at 115200 baud
QUIET_S = 4 * RECORD_S
MODELS = {"0": "standard", "1": "PRO", "2": "ES", "3": ".NET"}
RESERVED = ("0", "-", "")  # what meters accept as the reserved argument of #L,W
STOP = "#L,R,0;"


class WattsUp:
    """One meter on a serial port; opening identifies it and waits for a first reading.

    `range_w`: 1800 W is 15 A at 120 V; give the product at other voltages. Raises FsgreenError
    where the port is missing, busy or silent, or speaks something else.
    """

    def __init__(
        self,
        port: str,
        *,
        boundary: Boundary = "wall",
        covers: Sequence[str] = ("system",),
        baud: int = 115200,
        range_w: float = 1800.0,
        source: str = "Watts Up? PRO: 1.5 % of the value and 3 counts of 0.1 W",
    ) -> None:
        self.port = port
        self._baud = baud
        self._unread: list[Chunk] = []
        self._packets = PacketReader()
        self._reserved = RESERVED[0]
        self._sheet = MeterInfo(
            driver="wattsup",
            model="",
            serial="",
            boundary=boundary,
            covers=tuple(covers),
            rate_hz=1.0,
            range_w=range_w,
            resolution_w=0.1,
            gain_error=0.015,
            constant_error_w=0.3,
            source=source,
        )
        self._info = self._open()

    def describe(self) -> MeterInfo:
        """Return what the meter said of itself when it was opened."""
        return self._info

    def start(self) -> None:
        """Begin logging once a second; the header packet and the records come through `read`."""
        if not self._line.is_open and (flaws := identity_flaws(self._info, self._open())):
            self.close()
            raise self._error(
                "not the same meter as before: " + "; ".join(flaw.detail for flaw in flaws),
                "plug the campaign's meter in again, or begin a new campaign",
            )
        self._silence()
        self._ask("#H,R,0;", "h")
        self._send(self._logging(self._reserved))

    def read(self, timeout_s: float) -> Chunk | None:
        """Return the next bytes with the arrival time of their first, None after `timeout_s`."""
        return self._unread.pop(0) if self._unread else self._line.read(timeout_s)

    def stop(self) -> None:
        """End logging; harmless on a stopped or lost meter."""
        if self._line.is_open:
            try:
                self._silence()
            except FsgreenError:
                self.close()

    def close(self) -> None:
        """Release the port."""
        self._line.close()

    def _open(self) -> MeterInfo:
        """Open the port and ask who is there, up to a first reading."""
        self._line = SerialPort(self.port, self._baud, RECORD_S, write_timeout_s=REPLY_S)
        try:
            self._silence()
            model, _, hw, hw_minor, fw, fw_minor, stamp, _ = self._ask("#V,R,0;", "v", 8).args
            self._ask("#H,R,0;", "h")
            self._reserved = self._accepted_reserved()
            parser = WattsUpParser(self._sheet)
            for chunk in self._unread:
                parser.feed(chunk)
            self._silence()
        except FsgreenError:
            self.close()
            raise
        name = MODELS.get(model, f"model {model}")
        return replace(
            self._sheet,
            model=f"Watts Up? {name}, hardware {hw}.{hw_minor}, firmware {fw}.{fw_minor}",
            serial=usb_serial(self.port) or stamp,
            source=f"{self._sheet.source}; real-time logging by {self._logging(self._reserved)}",
            power_cycles=parser.power_cycles,
        )

    def _accepted_reserved(self) -> str:
        """Find the reserved argument that makes the meter send records.

        A meter answers an unknown command with its version.
        """
        for reserved in sorted(RESERVED, key=lambda r: r != self._reserved):
            self._send(self._logging(reserved))
            answer = self._await(lambda p: p.whole and p.command in ("d", "v"))
            if answer is not None and answer.command == "d":
                return reserved
        raise self._error(
            "the meter answers but sends no readings",
            "unplug and replug its USB cable; if it stays so, restart the meter",
        )

    @staticmethod
    def _logging(reserved: str) -> str:
        return f"#L,W,3,E,{reserved},1;"

    def _ask(self, command: str, letter: str, count: int | None = None) -> Packet:
        """Send a command and return its reply, whose bytes stay to be read."""
        self._send(command)
        reply = self._await(
            lambda p: p.whole and p.command == letter and count in (None, len(p.args))
        )
        if reply is None and self._unread:
            raise self._error(
                f"the port speaks garbage: it sends, but no reply to {command}",
                f"check that this is the meter's port: {PORTS}; "
                "a meter of hardware minor 1 needs baud 19200",
            )
        if reply is None:
            raise self._error(
                f"the meter is silent: no reply to {command} within {REPLY_S:g} s",
                "check that the meter is on; unplug and replug its USB cable",
            )
        return reply

    def _await(self, wanted: Callable[[Packet], bool]) -> Packet | None:
        """Read until a wanted packet or for `REPLY_S`; all bytes stay to be read."""
        deadline_s = time.monotonic() + REPLY_S
        while (left_s := deadline_s - time.monotonic()) > 0:
            if chunk := self._line.read(left_s):
                self._unread.append(chunk)
                found = next(filter(wanted, self._packets.feed(chunk.data)), None)
                if found is not None:
                    return found
        return None

    def _silence(self) -> None:
        """Stop logging and throw away what was under way."""
        self._send(STOP)
        self._unread = []
        self._packets = PacketReader()
        deadline_s = time.monotonic() + REPLY_S
        while self._line.read(QUIET_S) is not None and time.monotonic() < deadline_s:
            pass

    def _send(self, command: str) -> None:
        self._line.write(command.encode("ascii"))

    def _error(self, what: str, next_step: str) -> FsgreenError:
        return FsgreenError(what, where=self.port, next_step=next_step)


def open_wattsup(settings: Settings, _: DeviceOf) -> Meter:
    """Open the meter on the setting `port`; `boundary`, `covers`, `baud`, `range_w` as above."""
    port, boundary = settings.text("port"), settings.boundary("wall")
    covers = settings.texts("covers", ("system",))
    baud, range_w = settings.whole("baud", 115200), settings.number("range_w", 1800.0)
    settings.finish()
    return WattsUp(port, boundary=boundary, covers=covers, baud=baud, range_w=range_w)


DRIVER = Driver(
    name="wattsup",
    kind="stream",
    summary="Watts Up? PRO, PRO ES and .NET over USB serial, once a second",
    open=open_wattsup,
    parser=WattsUpParser,
    find=lambda: [f'port = "{path}"' for path in usb_ports()],
)
