"""The setup of an SCPI power analyzer, and its accuracy."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.settings import Above0, MeterSettings

ITEMS = ("P", "U", "I", "WH", "URANGE", "IRANGE")
WIRINGS = {"": 1, "P1W2": 1, "P1W3": 2, "P3W3": 2, "V3A3": 2, "P3W4": 3}
"""How many elements SIGMA adds, by wiring."""


class Setup(MeterSettings):
    """The settings of an analyzer."""

    resource: str
    """The VISA resource, such as TCPIP::192.168.1.7::INSTR."""
    visa: str = "@py"
    """The VISA library; @py is PyVISA-py."""
    voltage_range_v: Above0
    """One of the analyzer's ranges, in volts rms."""
    current_range_a: Above0
    """One of the analyzer's ranges, in amperes rms."""
    update_s: Above0 = 1.0
    """The interval over which the analyzer averages."""
    element: Literal["1", "2", "3", "SIGMA"] = "1"
    """The input; SIGMA is the sum of all."""
    wiring: Literal["", "P1W2", "P1W3", "P3W3", "V3A3", "P3W4"] = ""
    """The wiring of the inputs, which SIGMA needs; by default as the analyzer is set."""
    mode: Literal["RMS", "VMEAN", "DC"] = "RMS"
    """The kind of mean of volts and amperes."""
    crest_factor: Literal[3, 6] = 3
    """6 for peaks of more than three times the range, at twice the range's error."""
    line_filter: bool = False
    """The low-pass filter of the analyzer, which adds to the error."""
    frequency_filter: bool = False
    """The filter of the frequency measurement."""
    integrate: bool = True
    """Count watt-hours during a trial."""
    power_factor: Annotated[float, Field(gt=0, le=1)] = 0.9
    """The lowest power factor of the load; the error depends on it."""

    @model_validator(mode="after")
    def _sum_is_wired(self) -> Setup:
        if self.element == "SIGMA" and not self.wiring:
            raise ValueError("element SIGMA needs a wiring")
        return self

    @property
    def items(self) -> tuple[str, ...]:
        """The values to ask for, by the analyzer's names."""
        return tuple(item for item in ITEMS if self.integrate or item != "WH")

    @property
    def elements(self) -> int:
        """How many elements the values add up."""
        return WIRINGS[self.wiring] if self.element == "SIGMA" else 1

    @property
    def range_w(self) -> float:
        """The power range: the product of the ranges of voltage and current, for all elements."""
        return self.voltage_range_v * self.current_range_a * self.elements

    @property
    def resolution_w(self) -> float:
        """The last of the display's five digits, whose decimal point follows the power range."""
        return 10.0 ** (math.floor(math.log10(self.range_w)) - 4)

    def commands(self) -> list[tuple[str, str]]:
        """Return headers and values, in the order in which an analyzer takes them."""
        wiring = [(":INPUT:WIRING", self.wiring)] if self.wiring else []
        items = [
            (f":NUMERIC:NORMAL:ITEM{nth}", f"{item},{self._element_of(item)}")
            for nth, item in enumerate(self.items, 1)
        ]
        return [
            (":COMMUNICATE:HEADER", "0"),
            (":HOLD", "0"),
            *wiring,
            (":INPUT:CFACTOR", str(self.crest_factor)),
            (":INPUT:MODE", self.mode),
            (":INPUT:VOLTAGE:AUTO", "0"),
            (":INPUT:VOLTAGE:RANGE", f"{self.voltage_range_v:g}"),
            (":INPUT:CURRENT:AUTO", "0"),
            (":INPUT:CURRENT:RANGE", f"{self.current_range_a:g}"),
            (":INPUT:FILTER:LINE", str(int(self.line_filter))),
            (":INPUT:FILTER:FREQUENCY", str(int(self.frequency_filter))),
            (":MEASURE:AVERAGING:STATE", "0"),
            (":RATE", f"{self.update_s:g}"),
            (":NUMERIC:FORMAT", "ASCII"),
            (":NUMERIC:NORMAL:NUMBER", str(len(items))),
            *items,
            (":INTEGRATE:MODE", "NORMAL"),
            (":INTEGRATE:TIMER", "0,0,0"),
        ]

    def errors(self, facts: Mapping[str, Any]) -> tuple[float, float]:
        """Return the gain error as a fraction of the reading, and the constant error in W.

        The maker's formula (IM WT310E-02EN and IM WT310-02EN, 7.3.2) has the errors of reading and
        range, tan(phi) times `reactive_error` for the power factor, and the line filter's share;
        the range error is doubled at crest factor 6.
        """
        reactive = facts["reactive_error"] * math.tan(math.acos(self.power_factor))
        gain = facts["gain_error"] + reactive + self.line_filter * facts["filter_error"]
        return gain, facts["range_error"] * self.range_w * (2 if self.crest_factor == 6 else 1)

    def _element_of(self, item: str) -> str:
        """Return the element to ask for an item: SIGMA's elements share the ranges of the first."""
        return "1" if item.endswith("RANGE") and self.element == "SIGMA" else self.element


@cache
def _analyzers() -> Mapping[str, Any]:
    return tomllib.loads(
        resources.files("fsgreen.meters.scpi").joinpath("analyzers.toml").read_text()
    )


def facts_of(model: str) -> Mapping[str, Any]:
    """Return the facts about a model in `analyzers.toml`; raises FsgreenError without any."""
    known = {name: facts for facts in _analyzers().values() for name in facts["models"]}
    fitting = [name for name in known if model.upper().startswith(name)]
    if not fitting:
        raise FsgreenError(
            f"no commands and no accuracy are known of the analyzer {model}",
            where="fsgreen/meters/scpi/analyzers.toml",
            next_step=f"use one of {', '.join(sorted(known))}",
        )
    return known[max(fitting, key=len)]


def same_setting(wanted: str, answered: str) -> bool:
    """Return whether an answer equals a setting: numbers by value, and words also shortened."""
    parts = [part.strip() for part in answered.split(",")]
    return len(parts) == len(wanted.split(",")) and all(
        _same(one, other) for one, other in zip(wanted.split(","), parts, strict=True)
    )


def _same(wanted: str, answered: str) -> bool:
    try:
        return math.isclose(float(wanted), float(answered), rel_tol=1e-3)
    except ValueError:
        return bool(answered) and wanted.upper().startswith(answered.upper())
