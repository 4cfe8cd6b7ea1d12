"""The declaration of a table: its columns, their units, and how its lines are split."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fsgreen.meters.core.settings import FileSettings, From0, Order, Style, Texts
from fsgreen.meters.files.numbers import POINT
from fsgreen.trace import Boundary

FIRST = ("power", "energy", "energy_each")
"""The quantities that the setting `unit` applies to."""

QUANTITIES = (*FIRST, "voltage", "current", "apparent", "factor")
UNITS: Mapping[str, Mapping[str, float]] = {
    "power": {"W": 1.0, "kW": 1e3, "mW": 1e-3, "uW": 1e-6},
    "energy": {
        **{"J": 1 / 3600, "mJ": 1e-3 / 3600, "uJ": 1e-6 / 3600, "kJ": 1e3 / 3600},
        **{"Wh": 1.0, "kWh": 1e3, "mWh": 1e-3},
    },
    "voltage": {"V": 1.0, "mV": 1e-3},
    "current": {"A": 1.0, "mA": 1e-3},
    "apparent": {"VA": 1.0, "kVA": 1e3, "mVA": 1e-3},
    "factor": {"1": 1.0, "%": 0.01},
}
"""The size of each unit in W, Wh, V, A or VA. The first unit is the default of a column."""

INSIDE = " in "
"""The text between a part and the whole that contains it."""

TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
UNKNOWN = frozenset(
    {"", "-", "nan", "null", "n/a", "[n/a]", "unavailable", "unknown"}
    | {"[not supported]", "<not counted>", "<not supported>"}
)
"""The words that programs write instead of a value that they do not have."""


def _several(value: Any) -> Any:
    """Return a tuple of texts: one column becomes a list of one, and a number from 1 a text."""
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(str(each) if type(each) is int else each for each in values)


Columns = Annotated[tuple[str, ...], BeforeValidator(_several), Field(strict=False)]


class TableSettings(FileSettings):
    """The settings of a table. A column is a name or a number from 1; several are added up."""

    time: Columns = ()
    """The column of the time; several, such as of date and time of day, are joined."""
    time_unit: Literal["date", "s", "ms", "us", "ns", "min", "h"] = "date"
    """The unit of times that count from 1970 UTC or another beginning; `date`: times are dates."""
    interval_s: From0 = 0.0
    """The time between two rows of a table without a time."""
    power: Columns = ()
    """The column of the power, with its unit as in "Watts in mW"."""
    means: bool = False
    """Each power is the mean since the row before, so that rows are added up."""
    energy: Columns = ()
    """The column of a counter of energy."""
    energy_each: Columns = ()
    """The column of the energy since the row before."""
    unit: str = ""
    """The unit of power or energy, if the column does not name it."""
    voltage: Columns = ()
    """The column of the voltage."""
    current: Columns = ()
    """The column of the current."""
    apparent: Columns = ()
    """The column of the apparent power."""
    factor: Columns = ()
    """The column of the power factor."""
    separator: Literal["", "comma", "semicolon", "tab", "blank"] = ""
    """The separator of columns; by default the separator that fits the columns."""
    lines: str = ""
    """A regular expression that each row fits; other lines are left out."""
    only: Texts = ()
    """Cells that a row must have, as in ["entity=sensor.plug"]."""
    together: str = ""
    """A column of names of parts, such as sockets; their rows at the same time are added up."""
    inside: Texts = ()
    """Parts that lie in other parts and are not added to them: ["energy-core in energy-pkg"]."""
    same: str = ""
    """A column that must be the same in all rows, such as the name of a meter."""
    json_lines: bool = False
    """Each line holds a JSON object; the text before the object is the column `before`."""
    held_s: From0 = 0.0
    """Power is written only when it changes; it is turned into means over so many seconds."""
    from_zero: bool = False
    """The energy was 0 at the time 0."""
    irregular: bool = False
    """Rows come at irregular times, as from a counter that is seldom asked."""
    numbers: Style = ""
    dates: Order = ""
    gmt_offset: str = ""
    boundary: Boundary
    """The boundary of the power."""
    covers: Texts | None = None
    """The parts that draw the power; by default those of the boundary."""
    source: str = "settings"
    """The source of the accuracy, for the record."""


@dataclass(frozen=True)
class Selected:
    """Columns that are added up, by name or by number from 1, and the size of their unit."""

    names: tuple[str, ...]
    unit: float


@dataclass(frozen=True)
class Shape:
    """The columns of a declared table by quantity, and the conditions for its rows."""

    settings: TableSettings
    wanted: Mapping[str, Selected]
    lines: re.Pattern[str] | None
    only: Mapping[str, str]

    @property
    def time(self) -> tuple[str, ...]:
        """The columns of the time."""
        return self.settings.time

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are used."""
        return self._used(self.wanted.values())

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that each row must have; JSON leaves out quantities that are not measured."""
        return self._used(each for name, each in self.wanted.items() if name in FIRST)

    def _used(self, quantities: Iterable[Selected]) -> tuple[str, ...]:
        used = [*self.time, *(name for each in quantities for name in each.names), *self.only]
        together = self.settings.together
        return tuple(dict.fromkeys([*used, *([together] if together else [])]))

    @classmethod
    def of(cls, settings: TableSettings) -> Shape:
        """Read the settings; raises FsgreenError if they declare no table."""
        wanted = {
            name: _selected(name, columns, settings)
            for name in QUANTITIES
            if (columns := getattr(settings, name))
        }
        if not any(name in wanted for name in FIRST):
            settings.refuse("no column is power, energy (a counter) or energy_each (of each row)")
        if settings.together and settings.numbers not in ("", POINT):
            settings.refuse(f"together only adds numbers that are written as {POINT}")
        if settings.held_s and "power" not in wanted:
            settings.refuse("held_s needs the column of a power that is written when it changes")
        if bool(settings.time) == bool(settings.interval_s):
            settings.refuse("name the column of the time, or set interval_s if there is none")
        try:
            lines = re.compile(settings.lines) if settings.lines else None
        except re.error as error:
            settings.refuse(f"lines = '{settings.lines}' is no regular expression: {error}")
        for text in settings.inside:
            if len(text.split(INSIDE)) != 2:
                settings.refuse(f'inside = ["{text}"] names no part in a whole: "a in b"')
        pairs = [text.partition("=") for text in settings.only]
        for name, equals, _ in pairs:
            if not equals:
                settings.refuse(f'only = ["{name}"] is no condition such as event=energy-pkg')
        return cls(settings, wanted, lines, {name.strip(): v.strip() for name, _, v in pairs})


def _selected(quantity: str, texts: Sequence[str], settings: TableSettings) -> Selected:
    """Read columns such as `Watts` or `power_mw in mW`; all of them have one unit."""
    units = UNITS["energy" if quantity == "energy_each" else quantity]
    split = [text.rpartition(" in ") if " in " in text else (text, "", "") for text in texts]
    named = {unit.strip() for _, _, unit in split if unit}
    if not named and quantity in FIRST and not settings.unit:
        settings.refuse(f"the unit of {quantity} is not named: unit = one of {', '.join(units)}")
    default = settings.unit if quantity in FIRST else next(iter(units))
    named = named or {default}
    if len(named) > 1 or not named <= units.keys():
        settings.refuse(
            f"{quantity} is in {' and '.join(sorted(named))}, not in {', '.join(units)}"
        )
    return Selected(tuple(name.strip() for name, _, _ in split), units[named.pop()])
