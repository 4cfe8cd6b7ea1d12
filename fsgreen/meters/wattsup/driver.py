"""Watts Up? PRO, PRO ES and .NET over USB serial: 115200 8N1, one reading a second.

A capture never clears the meter's memory: no command that does (`C`, `R`, `S`, `O`, or internal
logging) is sent. Only `memory.py` sends some, where a log is asked for.
"""

from __future__ import annotations

from dataclasses import replace

from fsgreen.meters.common.live import Streamed
from fsgreen.meters.common.serialport import usb_ports, usb_serial
from fsgreen.meters.core.base import Chunk, Driver
from fsgreen.meters.wattsup.line import Conversation, WattsUpSettings
from fsgreen.meters.wattsup.memory import MemoryParser
from fsgreen.meters.wattsup.packets import WattsUpParser
from fsgreen.trace import MeterInfo

RESERVED = ("0", "-", "")  # what meters accept as the reserved argument of #L,W
STOP = "#L,R,0;"


class WattsUp(Streamed):
    """One meter on a serial port; opening identifies it and waits for a first reading.

    Raises FsgreenError where the port is missing, busy or silent, or speaks something else.
    """

    def __init__(self, settings: WattsUpSettings) -> None:
        self.port = settings.port
        self._baud = settings.baud
        self._reserved = RESERVED[0]
        self._sheet = settings.sheet(1.0)
        self._info = self._identified()

    @property
    def is_open(self) -> bool:
        """Whether the port is open."""
        return self._talk.is_open

    def read(self, timeout_s: float) -> Chunk | None:
        """Return the next bytes with the arrival time of their first, None after `timeout_s`."""
        return self._talk.read(timeout_s)

    def close(self) -> None:
        """Release the port."""
        self._talk.close()

    def _open(self) -> None:
        self._talk = Conversation(self.port, self._baud)

    def _identify(self) -> MeterInfo:
        """Ask who is there, up to a first reading."""
        self._end()
        model, stamp = self._talk.identify()
        self._talk.ask("#H,R,0;", "h")
        self._reserved = self._accepted_reserved()
        parser = WattsUpParser(self._sheet)
        for chunk in self._talk.unread:
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
        """Find the reserved argument that makes the meter send records.

        A meter answers an unknown command with its version.
        """
        for reserved in sorted(RESERVED, key=lambda r: r != self._reserved):
            self._talk.send(self._logging(reserved))
            answer = self._talk.wait(lambda p: p.whole and p.command in ("d", "v"))
            if answer is not None and answer.command == "d":
                return reserved
        raise self._talk.error(
            "the meter answers but sends no readings",
            "unplug and replug its USB cable; if it stays so, restart the meter",
        )

    @staticmethod
    def _logging(reserved: str) -> str:
        return f"#L,W,3,E,{reserved},1;"

    def _begin(self) -> None:
        """Begin logging once a second; the header packet and the records come through `read`."""
        self._end()
        self._talk.ask("#H,R,0;", "h")
        self._talk.send(self._logging(self._reserved))

    def _end(self) -> None:
        """Stop logging and throw away what was under way."""
        self._talk.send(STOP)
        self._talk.drain()


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
