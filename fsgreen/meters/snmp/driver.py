"""Power distribution units over SNMP 1, 2c and 3: energy counter, power, volts and amperes.

The objects to ask for are configured: by a preset of `pdus.toml`, or by the user's own OIDs.
Secrets come from the environment or from files, never from a testbed file. An answer is stored as
one line `OID = Type: value` for each object. In `MeterInfo.options`, `objects` holds the OID and
the worth of one count for each quantity that is asked for, and `bits` the bits of the energy
counter. If power is not asked for, it is the mean between two counts of energy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.answers import Answer, Checks
from fsgreen.meters.common.live import Asked
from fsgreen.meters.core.base import Chunk, DeviceOf, Driver
from fsgreen.meters.core.readings import NAN, Reading
from fsgreen.meters.snmp.session import Session
from fsgreen.meters.snmp.settings import ASSUMED_GAIN, SOURCES, SnmpSettings
from fsgreen.trace import MeterInfo
from fsgreen.units import JOULES_PER_WH

LINE = re.compile(r"([0-9.]{1,300}) = ([A-Za-z0-9]+): ([^\n]*)\n")
NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,9})?", re.ASCII)
ABSENT = ("NoSuchObject", "NoSuchInstance", "EndOfMibView", "Null")
UNSUPPORTED = "-1"
"""The answer of APC's and Server Technology's units for unmeasured quantities (their MIBs)."""

UPTIME = "1.3.6.1.2.1.1.3.0"
HIGHEST_MAINS_V = 250.0

Found = dict[str, tuple[str, str]]
"""The type and value of every object in an answer, by OID."""

SYS_DESCR, SYS_NAME = "1.3.6.1.2.1.1.1.0", "1.3.6.1.2.1.1.5.0"
FINE_COUNTER_W = 1.0
"""If one count in one interval is worth less than this, power is taken from the counter."""


def objects_in(data: bytes) -> Found:
    """Return the objects of an answer; a line that is not whole is left out."""
    return {line[1]: (line[2], line[3]) for line in LINE.finditer(data.decode("latin-1"))}


class Counter:
    """A counter of `bits` bits whose wraps are undone; one count is worth `count_wh`."""

    def __init__(self, bits: int, count_wh: float, range_w: float) -> None:
        self._span = 2.0**bits
        self._count_wh = count_wh
        self._range_w = range_w
        self._wraps = 0
        self._last_s = self._last = NAN

    def energy_wh(self, time_s: float, count: float, *, restarted: bool) -> tuple[float, bool]:
        """Return the energy, and whether the counter has wrapped since the last call.

        If the counter goes back, it has wrapped, provided that the meter's range allows the energy
        of a wrap in this time. Otherwise, or if the agent `restarted`, it was reset, and the energy
        goes back.
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
    not moved, so that power is unknown), wrapped (a remark), and those of `Checks`. If power is
    taken from the counter, the first count gives no reading.
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
    """Return the mean power between two counts; if there is none, return NaN and add a flag."""
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


class Snmp(Asked):
    """One inlet or outlet.

    The settings' `objects` describe power, energy, voltage and current. Each has an `oid`, and
    either the worth of one count in W, Wh, V or A (`scale`), or the object that holds its decimal
    digits (`digits`).
    """

    settings: SnmpSettings
    parser = SnmpParser

    def __init__(self, settings: SnmpSettings, _: DeviceOf) -> None:
        self._access = settings.access()
        if fault := _missing() or self._access.fault():
            settings.refuse(fault)
        self._session: Session | None = None
        self._objects = settings.objects
        super().__init__(settings)

    def identify(self) -> MeterInfo:
        """Ask the unit for its identity, and for the worth of its objects' counts."""
        chosen, facts = self.settings, self.settings.facts
        serial = [facts["serial"]] if facts["serial"] else []
        digits = [what["digits"] for what in self._objects.values() if "digits" in what]
        found = objects_in(self._get((SYS_DESCR, SYS_NAME, *serial, *digits)))
        found |= objects_in(self.ask())
        objects = {
            name: [what["oid"], self._worth(found, what)]
            for name, what in self._objects.items()
            if _has(found, what["oid"]) and _has(found, what.get("digits", what["oid"]))
        }
        wanted = [name for name in SOURCES[chosen.power_from] if name in self._objects]
        if not objects.keys() & set(wanted):
            lacking = " and ".join(f"{self._objects[name]['oid']} ({name})" for name in wanted)
            raise self._error(f"the unit does not measure {lacking}")
        count_j = objects["energy"][1] * JOULES_PER_WH if "energy" in objects else float("inf")
        if chosen.power_from == "auto" and count_j / chosen.interval_s <= FINE_COUNTER_W:
            objects.pop("power", None)
        _, named = found.get(SYS_NAME, ("", ""))
        _, described = found.get(SYS_DESCR, ("", ""))
        assumed = chosen.gain_error == ASSUMED_GAIN
        return chosen.info(
            boundary=chosen.boundary or "wall",
            rate_hz=1 / chosen.interval_s,
            source=f"{facts['source']}; {100 * chosen.gain_error:g} % of the value "
            + ("assumed: see the unit's data sheet" if assumed else "as set"),
            model=described[:120] or "SNMP agent",
            serial=found[facts["serial"]][1] if _has(found, facts["serial"]) else named,
            resolution_w=objects["power"][1] if "power" in objects else 0.0,
            constant_error_j=0.0 if "power" in objects else count_j,
            options={"bits": chosen.counter_bits or facts["bits"], "objects": objects},
        )

    def ask(self) -> bytes:
        """Return the agent's answer."""
        return self._get((UPTIME, *(what["oid"] for what in self._objects.values())))

    def release(self) -> None:
        """End the session."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _get(self, oids: tuple[str, ...]) -> bytes:
        if self._session is None:
            self._session = Session(self.settings.host, self.settings.port, self._access)
        return self._session.get(oids)

    def _worth(self, found: Found, what: Mapping[str, Any]) -> float:
        """Return the worth of one count, by `scale` or the decimal digits that the unit states."""
        if "digits" not in what:
            return float(what["scale"])
        _, digits = found[what["digits"]]
        if not digits.isdecimal() or len(digits) > 1:
            raise self._error(f"{what['digits']} is {digits!r}, not a number of decimal digits")
        return 10.0 ** -int(digits)

    def _error(self, what: str) -> FsgreenError:
        return FsgreenError(
            what,
            where=f"{self.settings.host}:{self.settings.port}",
            next_step="see what it has: snmpwalk ... 1.3.6.1.4.1, and give the outlet as `index` "
            "or objects of your own (docs/meters/snmp.md)",
        )


def _has(found: Found, oid: str) -> bool:
    """Return whether a unit has an object and measures it."""
    kind, text = found.get(oid, ("Null", ""))
    return kind not in ABSENT and text != UNSUPPORTED


def _missing() -> str | None:
    """Return why nothing can be asked here and what to install, or None."""
    return None if find_spec("pysnmp") else 'pysnmp is missing: pip install "fsgreen[snmp]"'


DRIVER = Driver(
    name="snmp",
    kind="counter",
    summary="power distribution units over SNMP: APC, Raritan, Server Technology, or by OID",
    settings=SnmpSettings,
    open=Snmp,
    parser=SnmpParser,
    missing=_missing,
    emulator="fsgreen.meters.snmp.emulator:of_power",
    means=lambda info: "power" not in info.options.get("objects", {}),
)
