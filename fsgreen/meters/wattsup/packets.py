"""The bytes of a Watts Up: packets `#X,S,N,arg1,...;` and the readings in its data records.

Bytes may come cut or joined at any place, with NULs and noise between packets. No bytes cause an
error, and no reading is guessed: an incomplete record becomes a reading without a value, flagged
with the reason. Source: Watts Up? Communications Protocol v442.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from fsgreen.meters.core.base import Chunk
from fsgreen.meters.core.readings import AGREEMENT, LEAST_VA, NAN, Reading
from fsgreen.trace import MeterInfo

IGNORED = b"\r\n\t\0"
MAX_PACKET_B = 512
NUMBER = re.compile(r"-?[0-9]{1,12}")
NOT_LOGGED = "_"

COUNTS = {"W": 10, "V": 10, "A": 1000, "WH": 10, "PF": 100, "PC": 1, "VA": 10}
"""The number of counts in one unit, by the names of the used columns in the header packet."""

ACCURACY: dict[str, Any] = {
    "resolution_w": 0.1,
    "gain_error": 0.015,
    "constant_error_w": 0.3,
    "source": "Watts Up? PRO: 1.5 % of the value and 3 counts of 0.1 W",
}


@dataclass(frozen=True)
class Packet:
    """A packet: `closed` if its `;` came, and `counted` if it has as many arguments as it says."""

    command: str
    args: tuple[str, ...]
    closed: bool
    counted: bool

    @property
    def whole(self) -> bool:
        """Whether the packet can be read."""
        return self.closed and self.counted


class PacketReader:
    """Find packets in a stream of bytes, and keep the bytes of an unfinished packet."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> Iterator[Packet]:
        """Yield the packets that `data` completes or breaks off.

        A caller may stop after any packet, and gets the rest at its next call.
        """
        self._held += data.translate(None, IGNORED)
        while (start := self._held.find(b"#")) >= 0:
            self._held = self._held[start:]
            head = self._held[:MAX_PACKET_B]
            end, again = head.find(b";"), head.find(b"#", 1)
            if again > 0 and (end < 0 or again < end):
                self._held = self._held[again:]
                yield _packet(head[1:again], closed=False)
            elif end > 0:
                self._held = self._held[end + 1 :]
                yield _packet(head[1:end], closed=True)
            elif len(head) == MAX_PACKET_B:
                self._held = self._held[MAX_PACKET_B:]
                yield _packet(head[1:], closed=False)
            else:
                return
        self._held = b""


def _packet(body: bytes, *, closed: bool) -> Packet:
    command, _, rest = body.decode("latin-1").partition(",")
    _, _, rest = rest.partition(",")
    count, *args = rest.split(",")
    return Packet(command, tuple(args), closed, counted=count == str(len(args)))


class WattsUpParser:
    """Readings from the chunks of one capture; the header packet must come before the records.

    Flags: cut, bad-count, bad-number, no-header, missing (`_`), negative, over-range,
    power-cycled (rule 21), inconsistent (W is not VA * PF, or VA of `LEAST_VA` or more is not
    V * I; rule 21), and the remark retimed: several records came in one read, and all but the last
    were set back by whole intervals from its arrival.
    """

    def __init__(self, info: MeterInfo) -> None:
        self._info = info
        self._packets = PacketReader()
        self._columns: tuple[str, ...] = ()
        self._last_s = float("-inf")
        self.power_cycles: int | None = None

    def feed(self, chunk: Chunk) -> list[Reading]:
        """Return the readings that `chunk` completes, at the time of its arrival."""
        readings = []
        for packet in self._packets.feed(chunk.data):
            if packet.command == "h" and packet.whole:
                names = tuple(name.strip().upper() for name in packet.args)
                self._columns = names if len(set(names)) == len(names) else ()
            elif packet.command == "d":
                readings.append(self._reading(packet, chunk.time_s))
        return self._spread(readings)

    def _reading(self, packet: Packet, time_s: float) -> Reading:
        if fault := self._fault(packet):
            return Reading(time_s, NAN, quality=fault)
        value = {
            name: NAN if arg == NOT_LOGGED else int(arg) / COUNTS[name]
            for name, arg in zip(self._columns, packet.args, strict=True)
            if name in COUNTS
        }
        value = dict.fromkeys(COUNTS, NAN) | value
        quality = "|".join(self._flags(value)) or "ok"
        return Reading(time_s, value["W"], value["V"], value["A"], value["WH"], quality)

    def _fault(self, packet: Packet) -> str | None:
        """Return why a record cannot be read, or None."""
        if not packet.closed:
            return "cut"
        if not packet.counted:
            return "bad-count"
        if "W" not in self._columns:
            return "no-header"
        if len(packet.args) != len(self._columns):
            return "bad-count"
        if not all(arg == NOT_LOGGED or NUMBER.fullmatch(arg) for arg in packet.args):
            return "bad-number"
        return None

    def _flags(self, value: dict[str, float]) -> Iterator[str]:
        power_w, apparent_va = value["W"], value["VA"]
        if power_w != power_w:
            yield "missing"
        if any(v < 0 for v in value.values()):
            yield "negative"
        if power_w > self._info.range_w:
            yield "over-range"
        if value["PC"] == value["PC"]:
            self.power_cycles = int(value["PC"])
            if self._info.power_cycles not in (None, self.power_cycles):
                yield "power-cycled"
        real_w = apparent_va * value["PF"]
        product_va = value["V"] * value["A"]
        senses_current = max(apparent_va, product_va) >= LEAST_VA
        if _differ(power_w, real_w, 0.3 + 0.01 * apparent_va) or (
            senses_current and _differ(apparent_va, product_va, 0.3 + 0.003 * value["V"])
        ):
            yield "inconsistent"

    def _spread(self, readings: list[Reading]) -> list[Reading]:
        """Set the earlier records of one read back by whole intervals, if there is room."""
        interval_s = 1 / self._info.rate_hz
        ages_s = [interval_s * age for age in reversed(range(len(readings)))]
        if len(readings) > 1 and readings[0].time_s - ages_s[0] > self._last_s + interval_s / 2:
            readings[:-1] = [
                replace(r, time_s=r.time_s - age_s, quality=_mark(r.quality, "retimed"))
                for r, age_s in zip(readings[:-1], ages_s, strict=False)
            ]
        if readings:
            self._last_s = readings[-1].time_s
        return readings


class MemoryParser:
    """Readings of a download, which are returned when its end has come.

    The last record has the time at which the download began. Flags: those of `WattsUpParser`, and
    cut for all records if their number is not the one that the meter stated.
    """

    def __init__(self, info: MeterInfo) -> None:
        self._records = WattsUpParser(info)
        self._packets = PacketReader()
        self._held: list[Reading] = []
        self._begin_s = NAN
        self._interval_s = NAN
        self._count = -1

    def feed(self, chunk: Chunk) -> list[Reading]:
        """Return the readings of the download that `chunk` completes."""
        ended = False
        for packet in self._packets.feed(chunk.data):
            if packet.command == "n" and packet.whole and len(packet.args) == 3:
                self._begin(packet, chunk.time_s)
            ended = ended or packet.command == "l"
        self._held += self._records.feed(chunk)
        if not ended:
            return []
        records, self._held = self._held, []
        whole = len(records) == self._count and self._interval_s > 0
        last = len(records) - 1
        return [
            replace(
                reading,
                time_s=self._begin_s - (last - nth) * self._interval_s if whole else NAN,
                power_w=reading.power_w if whole else NAN,
                quality=_without_retimed(reading.quality) if whole else "cut",
            )
            for nth, reading in enumerate(records)
        ]

    def _begin(self, packet: Packet, time_s: float) -> None:
        _, interval, count = packet.args
        if NUMBER.fullmatch(interval) and NUMBER.fullmatch(count):
            self._held = []
            self._begin_s = time_s
            self._interval_s, self._count = float(interval), int(count)


def _without_retimed(quality: str) -> str:
    return "|".join(flag for flag in quality.split("|") if flag != "retimed") or "ok"


def _differ(one: float, other: float, counts: float) -> bool:
    """Return whether two values differ by more than those of sound meters; NaN never does."""
    return abs(one - other) > AGREEMENT * max(abs(one), abs(other)) + counts


def _mark(quality: str, flag: str) -> str:
    return flag if quality == "ok" else f"{quality}|{flag}"
