"""SCPI power analyzers of the WT300 and WT300E series, through PyVISA and PyVISA-py.

Ranges are fixed before a trial and checked in every answer; every setting is read back, and the
analyzer's own list of errors must be empty. Its integrator counts watt-hours during a trial.
Source of the commands: Yokogawa IM WT310E-17EN and IM WT310-17EN, chapter 6.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.polled import Remote
from fsgreen.meters.core.base import DeviceOf, Driver, Meter
from fsgreen.meters.scpi.setup import (
    Setup,
    facts_of,
    same_setting,
)
from fsgreen.meters.scpi.values import ScpiParser
from fsgreen.meters.scpi.visa import Visa
from fsgreen.trace import MeterInfo

VALUES = ":NUMERIC:NORMAL:VALUE?"


class Analyzer:
    """The way to the analyzer of a setup."""

    def __init__(self, setup: Setup) -> None:
        self._visa = Visa(setup.resource, setup.visa)
        self._setup = setup
        self._integrating = False

    def identify(self) -> MeterInfo:
        """Set the analyzer up, and return what it is and what it answers that it is set to."""
        self._visa.connect()
        self._visa.write("*CLS")
        maker, model, serial, firmware = self._identity()
        facts = facts_of(model)
        setup = self._setup
        if setup.update_s not in facts["rates_s"]:
            raise self._visa.error(
                f"a {model} has no update interval of {setup.update_s:g} s",
                f"set update_s to one of {', '.join(f'{s:g}' for s in facts['rates_s'])}",
            )
        self._end_integration()
        answers = {header: self._set(header, value) for header, value in setup.commands()}
        answers[":INPUT:WIRING"] = self._visa.query(":INPUT:WIRING?")
        self._visa.check_errors()
        gain_error, constant_error_w = setup.errors(facts)
        return setup.info(
            boundary=setup.boundary or "wall",
            rate_hz=1 / setup.update_s,
            model=f"{maker} {model}, firmware {firmware}",
            serial=serial,
            gain_error=gain_error,
            constant_error_w=constant_error_w,
            source=f"{facts['source']}: 45 to 66 Hz, power factor {setup.power_factor:g} or more, "
            "12 months after calibration",
            options={
                "items": list(setup.items),
                "ranges": {"URANGE": setup.voltage_range_v, "IRANGE": setup.current_range_a},
                "sigma": setup.element == "SIGMA",
                "set": answers,
            },
        )

    def integrate(self) -> None:
        """Begin to count watt-hours."""
        if self._setup.integrate:
            self._visa.write(":INTEGRATE:START")
            self._integrating = True
            self._visa.check_errors()

    def halt(self) -> None:
        """Stop counting, where we count."""
        if self._integrating and self._visa.connected:
            self._visa.write(":INTEGRATE:STOP")
            self._visa.check_errors()
            self._integrating = False

    def ask(self) -> bytes:
        """Return the analyzer's values, with their end of line."""
        return self._visa.ask(VALUES)

    def close(self) -> None:
        """Let the analyzer go, set as it is."""
        self._visa.close()

    def _identity(self) -> tuple[str, ...]:
        answer = self._visa.query("*IDN?")
        parts = tuple(part.strip() for part in answer.split(","))
        if len(parts) != 4:
            raise self._visa.error(
                f"what answers is no SCPI instrument: *IDN? gives {answer!r}",
                "check the setting resource",
            )
        return parts

    def _end_integration(self) -> None:
        """Make way for the settings; an integration that is not ours is not ended."""
        if self._visa.query(":INTEGRATE:STATE?").upper().startswith("STAR"):
            if not self._integrating:
                raise self._visa.error(
                    "the analyzer is integrating already: its watt-hours would be lost",
                    "note them down, stop and reset its integration, then try again",
                )
            self.halt()
        self._visa.write(":INTEGRATE:RESET")

    def _set(self, header: str, value: str) -> str:
        """Set, and return what the analyzer then answers that it is set to."""
        self._visa.write(f"{header} {value}")
        answer = self._visa.query(f"{header}?")
        if not same_setting(value, answer):
            self._visa.check_errors()
            raise self._visa.error(
                f"{header} was set to {value}, and the analyzer answers {answer!r}",
                "set what its manual allows (docs/meters/scpi.md)",
            )
        return answer


class ScpiMeter(Remote):
    """An analyzer whose integrator counts from start to stop."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        super().__init__(analyzer, ScpiParser)

    def start(self) -> None:
        """Set the analyzer up anew, begin to count, and ask at the next `read`."""
        super().start()
        self._analyzer.integrate()

    def stop(self) -> None:
        """Ask no more, and stop counting; harmless on a stopped or lost meter."""
        super().stop()
        with suppress(FsgreenError):
            self._analyzer.halt()


def open_scpi(setup: Setup, _: DeviceOf) -> Meter:
    """Open the analyzer; raises FsgreenError."""
    if fault := _missing():
        setup.refuse(fault)
    return ScpiMeter(Analyzer(setup))


def _missing() -> str | None:
    """Why nothing can be asked here, and what to install, or None."""
    present = find_spec("pyvisa") and find_spec("pyvisa_py")
    return None if present else 'PyVISA or PyVISA-py is missing: pip install "fsgreen[scpi]"'


DRIVER = Driver(
    name="scpi",
    kind="counter",
    summary="power analyzers through VISA: Yokogawa WT300 and WT300E series",
    settings=Setup,
    open=open_scpi,
    parser=ScpiParser,
    missing=_missing,
    emulator="fsgreen.meters.scpi.emulator:EmulatedAnalyzer",
)
