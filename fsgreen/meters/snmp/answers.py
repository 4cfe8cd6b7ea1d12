"""Readings from the answers of an SNMP agent: a line `OID = Type: value` for each object asked for.

`MeterInfo.options` tells which object is what: `objects` gives for energy, and for power, voltage
and current where they are asked for, an OID and the worth of one count; `bits` those of the energy
counter. Power that is not asked for is the mean between two counts of energy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fsgreen.meters.common.answers import Answer, Checks
from fsgreen.meters.core.base import Chunk
from fsgreen.meters.core.readings import NAN, Reading
from fsgreen.trace import MeterInfo

LINE = re.compile(r"([0-9.]{1,300}) = ([A-Za-z0-9]+): ([^\n]*)\n")
NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,9})?", re.ASCII)
ABSENT = ("NoSuchObject", "NoSuchInstance", "EndOfMibView", "Null")
UNSUPPORTED = "-1"
"""What units of APC and Server Technology answer for what they do not measure (their MIBs)."""

UPTIME = "1.3.6.1.2.1.1.3.0"
QUANTITIES = ("power", "energy", "voltage", "current")
JOULES_PER_WH = 3600.0
HIGHEST_MAINS_V = 250.0

Found = dict[str, tuple[str, str]]
"""Type and value of every object in an answer, by OID."""


def objects_in(data: bytes) -> Found:
    """Return the objects of an answer; a line that is not whole is none."""
    return {line[1]: (line[2], line[3]) for line in LINE.finditer(data.decode("latin-1"))}


class Counter:
    """A counter of `bits` bits made to rise for ever; one count is worth `count_wh`."""

    def __init__(self, bits: int, count_wh: float, range_w: float) -> None:
        self._span = 2.0**bits
        self._count_wh = count_wh
        self._range_w = range_w
        self._wraps = 0
        self._last_s = self._last = NAN

    def energy_wh(self, time_s: float, count: float, *, restarted: bool) -> tuple[float, bool]:
        """Return the energy, and whether the counter has wrapped since the last call.

        One that goes back has wrapped where the counts to its end and from there can have flowed
        at the meter's range; else, and where the agent `restarted`, it was reset: it goes back.
        """
        wrapped = False
        if count < self._last:
            least_wh = (count + self._span - self._last - 1) * self._count_wh
            possible_wh = self._range_w * (time_s - self._last_s) / JOULES_PER_WH
            wrapped = not restarted and least_wh <= possible_wh
            self._wraps = self._wraps + 1 if wrapped else 0
        self._last_s, self._last = time_s, count
        return (count + self._wraps * self._span) * self._count_wh, wrapped


class SnmpParser:
    """Readings of one inlet or outlet.

    Flags: missing (no such object, or it is not measured), bad-number, underflow (the counter has
    not moved, so that nothing can be said of power), wrapped (a remark), and those of `Checks`.
    Where power is taken from the counter, the first count gives no reading.
    """

    def __init__(self, info: MeterInfo) -> None:
        self._objects: dict[str, tuple[str, float]] = dict(info.options.get("objects", {}))
        worth = {name: scale for name, (_, scale) in self._objects.items()}
        self._counter = Counter(
            info.options.get("bits", 32), worth.get("energy", NAN), info.range_w
        )
        self._checks = Checks(info.range_w, 5.0 + HIGHEST_MAINS_V * worth.get("current", 0.0))
        self._before: tuple[float, float] | None = None
        self._uptime = NAN

    def feed(self, chunk: Chunk) -> Sequence[Reading]:
        """Return the reading of one answer."""
        found = objects_in(chunk.data)
        answer = Answer()
        count = {name: self._count(name, found, answer) for name in self._objects}
        value = {name: count[name] * scale for name, (_, scale) in self._objects.items()}
        answer.power_w = value.get("power", NAN)
        answer.voltage_v = value.get("voltage", NAN)
        answer.current_a = value.get("current", NAN)
        energy = count.get("energy", NAN)
        if energy == energy:
            restarted = self._restarted(found)
            answer.energy_wh, wrapped = self._counter.energy_wh(
                chunk.time_s, energy, restarted=restarted
            )
            answer.flags += ["wrapped"] if wrapped else []
            if "power" not in self._objects:
                before, self._before = self._before, (chunk.time_s, answer.energy_wh)
                if before is None:
                    return ()
                answer.power_w = _mean_w(before, self._before, answer)
        return (self._checks.reading(chunk.time_s, answer),)

    def _count(self, name: str, found: Found, answer: Answer) -> float:
        kind, text = found.get(self._objects[name][0], ("Null", ""))
        if kind not in ABSENT and NUMBER.fullmatch(text):
            if text != UNSUPPORTED:
                return float(text)
            answer.flags.append("missing")
        else:
            answer.flags.append("missing" if kind in ABSENT else "bad-number")
        return NAN

    def _restarted(self, found: Found) -> bool:
        _, text = found.get(UPTIME, ("Null", ""))
        before, self._uptime = self._uptime, float(text) if NUMBER.fullmatch(text) else NAN
        return self._uptime < before


def _mean_w(before: tuple[float, float], now: tuple[float, float], answer: Answer) -> float:
    """Mean power between two counts; NaN, and a flag, where there is none."""
    span_s, span_wh = now[0] - before[0], now[1] - before[1]
    if span_s <= 0:
        answer.flags.append("out-of-order")
    elif span_wh == 0:
        answer.flags.append("underflow")
    elif span_wh < 0:
        answer.flags.append("reset")
    else:
        return span_wh * JOULES_PER_WH / span_s
    return NAN
