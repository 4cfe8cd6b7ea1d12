"""Power distribution units over SNMP 1, 2c and 3: energy counter, power, volts and amperes.

What is asked for is configuration: a preset of `pdus.toml`, or OIDs of one's own. Credentials come
from the environment or from a file that only its owner may read, never from a testbed file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.meters.base import DeviceOf, Driver, Meter
from fsgreen.meters.remote import Remote
from fsgreen.meters.settings import Settings
from fsgreen.meters.snmp_answers import (
    ABSENT,
    JOULES_PER_WH,
    UPTIME,
    Found,
    SnmpParser,
    objects_in,
)
from fsgreen.meters.snmp_session import Access, Session
from fsgreen.meters.snmp_settings import take_access, take_objects
from fsgreen.trace import MeterInfo

SYS_DESCR, SYS_NAME = "1.3.6.1.2.1.1.1.0", "1.3.6.1.2.1.1.5.0"
ASSUMED_GAIN = 0.02
ASSUMED_W = 1.0
FINE_COUNTER_W = 1.0
"""A counter whose single count per question is worth less than this gives power itself."""


class SnmpLink:
    """The way to one inlet or outlet.

    `objects`: for power, energy, voltage, current an `oid`, and the worth of one count in W, Wh,
    V or A as `scale`, or the object that holds its decimal digits as `digits`. `power_from`
    "auto" takes power from the counter of energy where that is fine enough.
    """

    def __init__(
        self,
        address: tuple[str, int],
        access: Access,
        objects: Mapping[str, Mapping[str, Any]],
        serial_oid: str,
        power_from: str,
        sheet: MeterInfo,
    ) -> None:
        self._address = address
        self._access = access
        self._objects = objects
        self._serial_oid = serial_oid
        self._power_from = power_from
        self._sheet = sheet
        self._session: Session | None = None
        self._asked = (UPTIME, *(what["oid"] for what in objects.values()))

    def identify(self) -> MeterInfo:
        """Ask what the unit is and in what its objects count."""
        digits = {n: what["digits"] for n, what in self._objects.items() if "digits" in what}
        serial = [self._serial_oid] if self._serial_oid else []
        found = objects_in(self._get((SYS_DESCR, SYS_NAME, *serial, *digits.values())))
        there = objects_in(self.ask())
        for name, what in self._objects.items():
            for oid in filter(None, (what["oid"], digits.get(name))):
                if (found | there).get(oid, ("Null", ""))[0] in ABSENT:
                    raise self._error(f"the unit has no object {oid} for {name}")
        objects = {
            name: [what["oid"], self._worth(found, what)] for name, what in self._objects.items()
        }
        count_j = objects["energy"][1] * JOULES_PER_WH if "energy" in objects else float("inf")
        if self._power_from == "auto" and count_j * self._sheet.rate_hz <= FINE_COUNTER_W:
            objects.pop("power", None)
        _, named = found.get(SYS_NAME, ("", ""))
        _, described = found.get(SYS_DESCR, ("", ""))
        return replace(
            self._sheet,
            model=described[:120] or "SNMP agent",
            serial=found[self._serial_oid][1] if self._serial_oid in found else named,
            resolution_w=objects["power"][1] if "power" in objects else 0.0,
            constant_error_j=0.0 if "power" in objects else count_j,
            options={**self._sheet.options, "objects": objects},
        )

    def ask(self) -> bytes:
        """Return the agent's answer."""
        return self._get(self._asked)

    def close(self) -> None:
        """End the session."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _get(self, oids: tuple[str, ...]) -> bytes:
        if self._session is None:
            self._session = Session(*self._address, self._access)
        return self._session.get(oids)

    def _worth(self, found: Found, what: Mapping[str, Any]) -> float:
        """Worth of one count: the scale, or by the decimal digits that the unit states."""
        if "digits" not in what:
            return float(what["scale"])
        _, digits = found[what["digits"]]
        if not digits.isdecimal() or len(digits) > 1:
            raise self._error(f"{what['digits']} is {digits!r}, not a number of decimal digits")
        return 10.0 ** -int(digits)

    def _error(self, what: str) -> FsgreenError:
        host, port = self._address
        return FsgreenError(
            what,
            where=f"{host}:{port}",
            next_step="see what it has: snmpwalk ... 1.3.6.1.4.1, and give the outlet as `index` "
            "or objects of your own (docs/meters/snmp.md)",
        )


def open_snmp(settings: Settings, _: DeviceOf) -> Meter:
    """Open what the settings `host` and `preset`, or objects of one's own, name."""
    host, port = settings.text("host"), settings.whole("port", 161)
    access = take_access(settings)
    objects, facts = take_objects(settings)
    power_from = settings.choice("power_from", ("auto", "counter", "power"), "auto")
    if power_from == "counter" and "energy" in objects:
        objects.pop("power", None)
    source = "energy" if power_from == "counter" else "power"
    if source not in objects and not (power_from == "auto" and "energy" in objects):
        settings.refuse(f"there is no object for {source}: give {source}_oid and {source}_scale")
    interval_s = settings.number("interval_s", 1.0)
    if interval_s <= 0:
        settings.refuse(f"interval_s is {interval_s:g}, not above 0")
    gain_error = settings.number("gain_error", ASSUMED_GAIN)
    sheet = MeterInfo(
        driver="snmp",
        model="",
        serial="",
        boundary=settings.boundary("wall"),
        covers=settings.texts("covers", ("system",)),
        rate_hz=1 / interval_s,
        range_w=settings.number("range_w", 3680.0),
        resolution_w=0.0,
        gain_error=gain_error,
        constant_error_w=settings.number("constant_error_w", ASSUMED_W),
        source=f"{facts['source']}; {100 * gain_error:g} % of the value "
        + ("assumed: see the unit's data sheet" if gain_error == ASSUMED_GAIN else "as set"),
        options={"bits": settings.whole("counter_bits", facts["bits"])},
    )
    settings.finish()
    if fault := access.fault():
        settings.refuse(fault)
    return Remote(SnmpLink((host, port), access, objects, facts["serial"], power_from, sheet))


def _missing() -> str | None:
    """What to install, or None."""
    return None if find_spec("pysnmp") else 'pip install "fsgreen[snmp]"'


DRIVER = Driver(
    name="snmp",
    kind="counter",
    summary="power distribution units over SNMP: APC, Raritan, Server Technology, or by OID",
    open=open_snmp,
    parser=SnmpParser,
    missing=_missing,
)
