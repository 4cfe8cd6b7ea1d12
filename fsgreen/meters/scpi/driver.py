"""SCPI power analyzers of the WT300 and WT300E series, through PyVISA and PyVISA-py.

Ranges are fixed before a trial and checked in every answer. Every setting is read back, and the
analyzer's own list of errors must be empty. Its integrator counts watt-hours during a trial.
Source of the commands: Yokogawa IM WT310E-17EN and IM WT310-17EN, chapter 6.
"""

from __future__ import annotations

import re
from contextlib import suppress
from importlib.util import find_spec

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.answers import Answer, AnswerParser
from fsgreen.meters.common.live import Asked
from fsgreen.meters.core.base import DeviceOf, Driver
from fsgreen.meters.core.readings import NAN
from fsgreen.meters.scpi.setup import Setup, facts_of, same_setting
from fsgreen.meters.scpi.visa import Visa
from fsgreen.trace import MeterInfo

NUMBER = re.compile(r"[+-]?[0-9]{1,12}(\.[0-9]{0,12})?([eE][+-]?[0-9]{1,2})?", re.ASCII)
NOT_A_NUMBER, INFINITY = 9.91e37, 9.9e37
"""The answers for no value and for too high a value (SCPI-1999, vol. 1, 7.2.1.4; WT300 series)."""

MISSING = re.compile(r"NAN|-{2,}|\*{2,}", re.IGNORECASE)
OVER = re.compile(r"[+-]?INF|-*(O\.?L|OF|OVER)-*", re.IGNORECASE)
RANGE_TOLERANCE = 1e-3

VALUES = ":NUMERIC:NORMAL:VALUE?"


class ScpiParser(AnswerParser):
    """Readings of one element of an analyzer.

    Flags: cut (no end of line), bad-count, bad-number, missing (NAN, dashes), over-range (INF, OL,
    huge numbers), inconsistent (also if a range is not the fixed one), and those of `Checks`.
    """

    def __init__(self, info: MeterInfo) -> None:
        self._items: list[str] = list(info.options.get("items", ()))
        self._fixed: dict[str, float] = dict(info.options.get("ranges", {}))
        # If volts and amperes are means over several elements, their product says nothing.
        super().__init__(info, float("inf") if info.options.get("sigma") else 0.005 * info.range_w)

    def answer(self, data: bytes) -> Answer:
        """Return the values and flags in an answer."""
        text = data.decode("latin-1")
        answer = Answer()
        cells = [cell.strip() for cell in text.split(",")]
        if not text.endswith("\n"):
            answer.flags.append("cut")
        elif len(cells) != len(self._items):
            answer.flags.append("bad-count")
        else:
            value = {
                item: _number(cell, answer.flags)
                for item, cell in zip(self._items, cells, strict=True)
            }
            answer.power_w, answer.voltage_v = value.get("P", NAN), value.get("U", NAN)
            answer.current_a, answer.energy_wh = value.get("I", NAN), value.get("WH", NAN)
            for item, fixed in self._fixed.items():
                if abs(value.get(item, NAN) - fixed) > RANGE_TOLERANCE * fixed:
                    answer.flags.append("inconsistent")
        answer.flags = list(dict.fromkeys(answer.flags))
        return answer


def _number(cell: str, flags: list[str]) -> float:
    """Return the number in a cell; if there is none, return NaN and add a flag."""
    if NUMBER.fullmatch(cell):
        number = float(cell)
        if abs(number) < INFINITY:
            return number
        flags.append("missing" if number == NOT_A_NUMBER else "over-range")
    elif MISSING.fullmatch(cell):
        flags.append("missing")
    elif OVER.fullmatch(cell):
        flags.append("over-range")
    else:
        flags.append("bad-number")
    return NAN


class Scpi(Asked):
    """An analyzer with an integrator that counts from start to stop."""

    settings: Setup
    parser = ScpiParser

    def __init__(self, settings: Setup, _: DeviceOf) -> None:
        if fault := _missing():
            settings.refuse(fault)
        self._visa = Visa(settings.resource, settings.visa)
        self._integrating = False
        super().__init__(settings)

    def identify(self) -> MeterInfo:
        """Set the analyzer up, and return its description and the settings that it confirms."""
        self._visa.connect()
        self._visa.write("*CLS")
        maker, model, serial, firmware = self._identity()
        facts = facts_of(model)
        setup = self.settings
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

    def ask(self) -> bytes:
        """Return the analyzer's values, with their end of line."""
        return self._visa.ask(VALUES)

    def release(self) -> None:
        """End the connection; the analyzer keeps its settings."""
        self._visa.close()

    def start(self) -> None:
        """Set the analyzer up again, and begin to count; the next `read` asks."""
        super().start()
        if self.settings.integrate:
            self._visa.write(":INTEGRATE:START")
            self._integrating = True
            self._visa.check_errors()

    def stop(self) -> None:
        """Stop asking and counting. It is harmless on a stopped or lost meter."""
        super().stop()
        with suppress(FsgreenError):
            self._halt()

    def _halt(self) -> None:
        """Stop the integration if we began it."""
        if self._integrating and self._visa.connected:
            self._visa.write(":INTEGRATE:STOP")
            self._visa.check_errors()
            self._integrating = False

    def _identity(self) -> tuple[str, ...]:
        answer = self._visa.query("*IDN?")
        parts = tuple(part.strip() for part in answer.split(","))
        if len(parts) != 4:
            raise self._visa.error(
                f"the device that answers is no SCPI instrument: *IDN? gives {answer!r}",
                "check the setting resource",
            )
        return parts

    def _end_integration(self) -> None:
        """Stop and reset our integration before a setup; refuse to end one that is not ours."""
        if self._visa.query(":INTEGRATE:STATE?").upper().startswith("STAR"):
            if not self._integrating:
                raise self._visa.error(
                    "the analyzer is integrating already: its watt-hours would be lost",
                    "note them down, stop and reset its integration, then try again",
                )
            self._halt()
        self._visa.write(":INTEGRATE:RESET")

    def _set(self, header: str, value: str) -> str:
        """Set a value, and return the analyzer's answer to the question for it."""
        self._visa.write(f"{header} {value}")
        answer = self._visa.query(f"{header}?")
        if not same_setting(value, answer):
            self._visa.check_errors()
            raise self._visa.error(
                f"{header} was set to {value}, and the analyzer answers {answer!r}",
                "set what its manual allows (docs/meters/scpi.md)",
            )
        return answer


def _missing() -> str | None:
    """Return why nothing can be asked here and what to install, or None."""
    present = find_spec("pyvisa") and find_spec("pyvisa_py")
    return None if present else 'PyVISA or PyVISA-py is missing: pip install "fsgreen[scpi]"'


DRIVER = Driver(
    name="scpi",
    kind="counter",
    summary="power analyzers through VISA: Yokogawa WT300 and WT300E series",
    settings=Setup,
    open=Scpi,
    parser=ScpiParser,
    missing=_missing,
    emulator="fsgreen.meters.scpi.emulator:EmulatedAnalyzer",
)
