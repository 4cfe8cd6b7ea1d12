"""The memory of a Watts Up: the records that it logged without a computer.

The memory has one interval and no clock: its times are rebuilt from this interval and the moment
of the download. A new log clears the memory, and is refused while it holds unread records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.serialport import usb_serial
from fsgreen.meters.core.base import Chunk
from fsgreen.meters.wattsup.driver import Conversation, WattsUpSettings
from fsgreen.meters.wattsup.packets import NUMBER, PacketReader
from fsgreen.trace import MeterInfo

DOWNLOAD = "#D,R,0;"
WHEN_FULL = {"0": "stops", "1": "overwrites the oldest", "2": "halves it and doubles the interval"}


@dataclass(frozen=True)
class MemoryState:
    """The interval of the log, how many records fit, and what the meter does when it is full.

    An interval of 0 means that the meter does not log at fixed times.
    """

    interval_s: int
    capacity_count: int
    when_full: str


class WattsUpMemory:
    """The memory of the meter on a serial port.

    Opening neither stops a log nor clears it. Raises FsgreenError if the port is missing, busy or
    silent, or if another device answers.
    """

    def __init__(self, port: str, *, baud: int = 115200) -> None:
        self._settings = WattsUpSettings(name="memory", driver="wattsup", port=port, baud=baud)
        self._talk = Conversation(port, baud)
        try:
            self._talk.drain()
            model, stamp = self._talk.identify()
            self._interval_s = self.state().interval_s
        except FsgreenError:
            self.close()
            raise
        self.model = model
        self.serial = usb_serial(port) or stamp

    def describe(self) -> MeterInfo:
        """Return the meter's description; raises FsgreenError if it has no fixed interval."""
        if self._interval_s == 0:
            raise self._talk.error(
                "the meter logs at no fixed interval, so its records have no times",
                "set an interval, which clears the records: --log-every 60 --erase",
            )
        sheet = self._settings.sheet(1 / self._interval_s)
        return replace(
            sheet,
            model=self.model,
            serial=self.serial,
            source=f"{sheet.source}; its memory, whose times are rebuilt from one interval: late "
            "by up to that",
            options={"memory": True},
        )

    def state(self) -> MemoryState:
        """Return the settings of the memory; raises FsgreenError if an answer is no number."""
        interval_s = self._number(self._talk.ask("#S,R,0;", "s", 3).args[1])
        capacity = self._number(self._talk.ask("#N,R,0;", "n", 1).args[0])
        mode = self._talk.ask("#O,R,0;", "o", 1).args[0]
        return MemoryState(interval_s, capacity, WHEN_FULL.get(mode, f"mode {mode}"))

    def download(self) -> list[Chunk]:
        """Return the raw bytes of all records, with the header that explains them.

        The memory is not changed. Raises FsgreenError if the download breaks off or lacks records.
        """
        self._talk.drain()
        self._talk.ask("#H,R,0;", "h")
        expected = self._number(self._talk.ask(DOWNLOAD, "n", 3).args[2])
        end = self._talk.wait(lambda p: p.command == "l", while_it_talks=True)
        chunks, self._talk.unread = self._talk.unread, []
        found = _count_records(chunks)
        if end is None or found != expected:
            raise self._talk.error(
                f"the download broke off: {found} of {expected} records",
                "nothing is lost; try again",
            )
        return chunks

    def log_anew(self, interval_s: int, *, downloaded_count: int = 0, erase: bool = False) -> None:
        """Clear the memory and log every `interval_s`, 1 or more, until it is full.

        Raises FsgreenError if it holds more records than were downloaded and `erase` is not set: it
        may have continued to log after the download.
        """
        if interval_s < 1:
            raise self._talk.error(
                f"{interval_s} s is no interval of a log", "name whole seconds, 1 or more"
            )
        records = self._number(self._talk.ask(DOWNLOAD, "n", 3).args[2])
        self._talk.wait(lambda p: p.command == "l", while_it_talks=True)
        if records > downloaded_count and not erase:
            raise self._talk.error(
                f"the memory holds {records} records, of which {downloaded_count} were downloaded: "
                "a new log would clear the others",
                "download all records, or clear them with --erase",
            )
        self._talk.drain()
        self._talk.ask("#O,W,1,0;", "o")
        self._talk.ask(f"#L,W,3,I,0,{interval_s};", "s")

    def close(self) -> None:
        """Release the port."""
        self._talk.close()

    def _number(self, text: str) -> int:
        if not NUMBER.fullmatch(text) or int(text) < 0:
            raise self._talk.error(f"{text!r} is no count", "unplug and replug its USB cable")
        return int(text)


def _count_records(chunks: Sequence[Chunk]) -> int:
    packets = PacketReader()
    read = (packet for chunk in chunks for packet in packets.feed(chunk.data))
    return sum(packet.command == "d" and packet.whole for packet in read)
