"""What a chart shows, said once: the browser draws it to be clicked, matplotlib to be saved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator

from fsgreen.figures.style import GREY
from fsgreen.words import digits

WIDE = 3
"""An interval that reaches further than so many times the longest bar is cut at the frame."""

SI = {unit: EngFormatter(unit, sep=" ") for unit in ("s", "B", "B/s")}
"""Units that are written with prefixes: 1.2 ms."""

FAR = 1e4
"""A ratio beyond this, or its inverse, is drawn at the frame."""


@dataclass(frozen=True)
class Row:
    """A value with its interval, beside its name."""

    name: str
    says: str
    """What stands at its left and at its right."""
    value: float
    low: float
    high: float
    """NaN where there is none."""
    colour: str = GREY
    """As `#0072B2`."""
    about: str = ""
    """All of it in words, for those who do not see it."""
    filled: bool = True
    """Whether its mark is filled, of rows without bars."""
    band: tuple[float, float] | None = None
    """A range that is shaded in its row."""


@dataclass(frozen=True)
class Rows:
    """A chart of rows, one below the other, on one axis.

    `axis` is the name of the axis, with its unit, and `unit` that of its ticks. `bars` are from
    zero; else marks are on a logarithmic axis, as ratios have. `mark` must not be overlooked:
    "modelled power". `picks` says whether a row can be chosen.
    """

    axis: str
    rows: Sequence[Row]
    unit: str = ""
    bars: bool = True
    mark: str = ""
    picks: bool = False

    @property
    def span(self) -> tuple[float, float]:
        """Return the ends of the axis: all values, and of their intervals what has room."""
        values = _finite([row.value for row in self.rows])
        ends = _finite([end for row in self.rows for end in (row.low, row.high)])
        if self.bars:
            most = max(values, default=1.0)
            return 0.0, 1.05 * max([most, *(end for end in ends if end < WIDE * most)]) or 1.0
        bands = _finite([end for row in self.rows for end in row.band or ()])
        logs = np.abs(np.log([one for one in (*values, *ends, *bands) if one > 0] or [1.0]))
        far = math.exp(min(1.1 * float(logs.max()) + 0.02, math.log(FAR)))
        return 1 / far, far

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Return places on the axis with their labels."""
        return ticks(*self.span, self.unit, log=not self.bars)


@dataclass(frozen=True)
class Line:
    """A series: a line, steps, or dots that can be chosen."""

    name: str
    """In the legend."""
    x: Sequence[float]
    y: Sequence[float]
    """NaN breaks a line."""
    colour: str = GREY
    dash: Sequence[float] = ()
    """Lengths of line and gap."""
    kind: str = "line"
    """`line`, `steps` (y lasts until the next x) or `dots`."""
    about: Sequence[str] = ()
    """Each dot in words."""


@dataclass(frozen=True)
class Panel:
    """Series over one y axis; `mark` as in `Rows`."""

    axis: str
    lines: Sequence[Line]
    unit: str = ""
    mark: str = ""
    from_zero: bool = False

    @property
    def span(self) -> tuple[float, float]:
        """Return the ends of its axis."""
        values = _finite([y for line in self.lines for y in line.y])
        low, high = min(values, default=0.0), max(values, default=1.0)
        low = 0.0 if self.from_zero else low
        room = 0.08 * (high - low) or 0.05 * abs(high) or 1.0
        return (0.0 if self.from_zero else low - room), high + room

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Return places on its axis with their labels."""
        return ticks(*self.span, self.unit, most=4)


@dataclass(frozen=True)
class Panels:
    """Panels one below the other on one x axis, with phases behind them.

    `phases` are (name, begin, end). `log` is an x axis in powers of two, as latencies have.
    """

    axis: str
    panels: Sequence[Panel]
    unit: str = ""
    phases: Sequence[tuple[str, float, float]] = ()
    log: bool = False
    picks: bool = False
    whole: bool = False

    @property
    def span(self) -> tuple[float, float]:
        """Return the ends of the x axis."""
        values = [x for panel in self.panels for line in panel.lines for x in line.x]
        values += [end for _, *ends in self.phases for end in ends]
        known = _finite(values) or [0.0, 1.0]
        low, high = min(known), max(known)
        return (low, high) if high > low else (low - 0.5, high + 0.5)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Return places on the x axis with their labels."""
        return ticks(*self.span, self.unit, log=self.log, whole=self.whole)


Chart = Rows | Panels


def to_json(chart: Chart) -> dict[str, Any]:
    """Return a chart as the browser takes it: with spans and ticks; a number not known is None."""
    told = asdict(chart) | {"span": chart.span, "ticks": chart.ticks}
    if isinstance(chart, Panels):
        for panel, of in zip(told["panels"], chart.panels, strict=True):
            panel |= {"span": of.span, "ticks": of.ticks}
    return {"kind": "rows" if isinstance(chart, Rows) else "panels", **_plain(told)}


def ticks(
    low: float, high: float, unit: str, *, log: bool = False, most: int = 6, whole: bool = False
) -> list[tuple[float, str]]:
    """Return places from `low` to `high` with what people call them."""
    locator: Any = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=whole)
    if log and high / low > 4:
        subs = (1.0,) if high / low > 1000 else (1.0, 2.0, 5.0)
        locator = LogLocator(10, subs=subs, numticks=most + 2)
    places = [float(place) for place in locator.tick_values(low, high) if low <= place <= high]
    return [(place, number(place, unit if unit in {*SI, "x"} else "")) for place in places]


def number(value: float, unit: str = "") -> str:
    """Return a number as people write it: `12,300 ops/s`, `1.25 ms`, `0.8 %`; "?" for NaN."""
    if unit in SI and math.isfinite(value):
        text = SI[unit](float(f"{value:.3g}"))
        return text.rstrip().replace("-", "\N{MINUS SIGN}")
    behind = f"{'' if unit == 'x' else ' '}{unit}" if math.isfinite(value) else ""
    return f"{digits(value)}{behind}".rstrip()


def interval(value: float, low: float, high: float, unit: str = "") -> str:
    """Return a value with its interval, if it has one: `1.2 ms [1.1 ms, 1.3 ms]`."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return number(value, unit)
    ends = ", ".join(number(end, unit if unit in SI else "") for end in (low, high))
    return f"{number(value, unit)} [{ends}]"


def ratio_of(row: Mapping[str, Any], name: str = "ratio") -> tuple[float, float, float]:
    """Return a ratio of a table with the ends of its interval."""
    return float(row[f"{name}_x"]), float(row[f"{name}_low_x"]), float(row[f"{name}_high_x"])


def probability(p: float) -> str:
    """Return a p-value as people write it."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if math.isfinite(p) else "p not known"


def _finite(values: Sequence[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value
