"""Power distribution units over SNMP 1, 2c and 3: energy counter, power, volts and amperes.

What is asked for is configuration: a preset of `pdus.toml`, or OIDs of one's own. Secrets come from
the environment or from files, never from a testbed file.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.polled import Remote
from fsgreen.meters.core.base import DeviceOf, Driver, Meter
from fsgreen.meters.snmp.answers import (
    ABSENT,
    JOULES_PER_WH,
    UNSUPPORTED,
    UPTIME,
    Found,
    SnmpParser,
    objects_in,
)
from fsgreen.meters.snmp.session import Access, Session
from fsgreen.meters.snmp.settings import ASSUMED_GAIN, SOURCES, SnmpSettings
from fsgreen.trace import MeterInfo

SYS_DESCR, SYS_NAME = "1.3.6.1.2.1.1.1.0", "1.3.6.1.2.1.1.5.0"
FINE_COUNTER_W = 1.0
"""A counter whose single count per question is worth less than this gives power itself."""


class SnmpLink:
    """The way to one inlet or outlet.

    Of power, energy, voltage and current the settings' `objects` have an `oid`, and the worth of
    one count in W, Wh, V or A as `scale`, or the object that holds its decimal digits as `digits`.
    """

    def __init__(self, settings: SnmpSettings, access: Access) -> None:
        self._settings = settings
        self._address = (settings.host, settings.port)
        self._access = access
        self._objects = settings.objects
        self._serial_oid = settings.facts["serial"]
        self._session: Session | None = None
        self._asked = (UPTIME, *(what["oid"] for what in self._objects.values()))

    def identify(self) -> MeterInfo:
        """Ask what the unit is and in what its objects count."""
        serial = [self._serial_oid] if self._serial_oid else []
        digits = [what["digits"] for what in self._objects.values() if "digits" in what]
        found = objects_in(self._get((SYS_DESCR, SYS_NAME, *serial, *digits)))
        found |= objects_in(self.ask())
        objects = {
            name: [what["oid"], self._worth(found, what)]
            for name, what in self._objects.items()
            if _has(found, what["oid"]) and _has(found, what.get("digits", what["oid"]))
        }
        wanted = [name for name in SOURCES[self._settings.power_from] if name in self._objects]
        if not objects.keys() & set(wanted):
            lacking = " and ".join(f"{self._objects[name]['oid']} ({name})" for name in wanted)
            raise self._error(f"the unit does not measure {lacking}")
        interval_s, gain_error = self._settings.interval_s, self._settings.gain_error
        count_j = objects["energy"][1] * JOULES_PER_WH if "energy" in objects else float("inf")
        if self._settings.power_from == "auto" and count_j / interval_s <= FINE_COUNTER_W:
            objects.pop("power", None)
        _, named = found.get(SYS_NAME, ("", ""))
        _, described = found.get(SYS_DESCR, ("", ""))
        return self._settings.info(
            boundary=self._settings.boundary or "wall",
            rate_hz=1 / interval_s,
            source=f"{self._settings.facts['source']}; {100 * gain_error:g} % of the value "
            + ("assumed: see the unit's data sheet" if gain_error == ASSUMED_GAIN else "as set"),
            model=described[:120] or "SNMP agent",
            serial=found[self._serial_oid][1] if _has(found, self._serial_oid) else named,
            resolution_w=objects["power"][1] if "power" in objects else 0.0,
            constant_error_j=0.0 if "power" in objects else count_j,
            options={
                "bits": self._settings.counter_bits or self._settings.facts["bits"],
                "objects": objects,
            },
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


def _has(found: Found, oid: str) -> bool:
    """Whether a unit has an object, and measures it."""
    kind, text = found.get(oid, ("Null", ""))
    return kind not in ABSENT and text != UNSUPPORTED


def open_snmp(settings: SnmpSettings, _: DeviceOf) -> Meter:
    """Open the outlet that the settings choose; raises FsgreenError."""
    access = settings.access()
    if fault := _missing() or access.fault():
        settings.refuse(fault)
    return Remote(SnmpLink(settings, access), SnmpParser)


def _missing() -> str | None:
    """Why nothing can be asked here, and what to install, or None."""
    return None if find_spec("pysnmp") else 'pysnmp is missing: pip install "fsgreen[snmp]"'


DRIVER = Driver(
    name="snmp",
    kind="counter",
    summary="power distribution units over SNMP: APC, Raritan, Server Technology, or by OID",
    settings=SnmpSettings,
    open=open_snmp,
    parser=SnmpParser,
    missing=_missing,
    emulator="fsgreen.meters.snmp.emulator:of_power",
)
