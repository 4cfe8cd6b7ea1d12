"""The values of a HOBOware file's columns: which are sound, and which contradict each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.core.readings import NAN, Floats
from fsgreen.meters.files.checks import Flags, disagree
from fsgreen.meters.files.numbers import UNREAD, numbers, unusual
from fsgreen.meters.files.text import Report
from fsgreen.meters.hoboware.layout import Header, Rows

MARGIN_W = 1.0
"""By how much small powers may disagree with volts times amperes."""

LIMITS = {"voltage": 300.0, "current": 30.0, "factor": 1.05}
POWER_RANGES = 2.0
"""Values beyond these, and powers beyond twice the range, are no plug load's: a style of numbers
under which most values are is not the file's."""


@dataclass(frozen=True)
class Column:
    """The numbers of one quantity and their decimals; `unit` is that of one step of the digits."""

    values: Floats
    decimals: NDArray[np.int64]
    unit: float

    @property
    def step(self) -> float:
        """The step of the last digit that the column usually has."""
        seen = self.decimals[self.decimals != UNREAD]
        return self.unit * 10.0 ** -int(np.bincount(seen).argmax()) if len(seen) else self.unit


def read_columns(header: Header, rows: Rows, kept: Sequence[int], style: str) -> dict[str, Column]:
    """Return the numbers of the kept rows under a style, in V, A, W, Wh and VA."""
    columns = {}
    for name, cells in rows.cells.items():
        values, decimals = numbers([cells[place] for place in kept], style)
        unit = header.scale[name]
        columns[name] = Column(values if unit == 1 else values * unit, decimals, unit)
    return columns


def plausible(header: Header, rows: Rows, range_w: float, style: str) -> bool:
    """Whether most values are such as a plug load has, under a style of numbers."""
    columns = read_columns(header, rows, range(len(rows.stamps)), style)
    limits = LIMITS | dict.fromkeys(("power", "apparent"), POWER_RANGES * range_w)
    strange = [np.abs(columns[name].values) > limits[name] for name in limits.keys() & columns]
    known = np.isfinite(columns["power"].values)
    return not any(
        (mask & known).sum() > known.sum() / 2 for mask in (*strange, contradict(columns))
    )


def contradict(columns: Mapping[str, Column]) -> NDArray[np.bool_]:
    """Where power, volts, amperes, apparent power and power factor contradict each other."""
    power_w = columns["power"].values
    wrong = np.zeros(len(power_w), dtype=bool)
    margin = np.full(len(power_w), MARGIN_W)
    product_va = None
    if "voltage" in columns and "current" in columns:
        volts, current = columns["voltage"].values, columns["current"]
        product_va = volts * current.values
        margin = margin + np.nan_to_num(volts) * current.step / 2
    apparent_va = columns["apparent"].values if "apparent" in columns else product_va
    if apparent_va is None:
        return wrong
    wrong |= disagree(np.fmax(power_w, apparent_va), apparent_va, apparent_va, margin)
    if product_va is not None:
        wrong |= disagree(apparent_va, product_va, product_va, margin)
    if "factor" in columns:
        wrong |= disagree(power_w, apparent_va * columns["factor"].values, apparent_va, margin)
    return wrong


def mark_unsound(
    columns: Mapping[str, Column], rows: Rows, kept: Sequence[int], flags: Flags, report: Report
) -> None:
    """Mark what cannot be read; such a value becomes NaN."""
    for fault in ("cut", "bad-count"):
        flags.mark(np.array([rows.faults[place] == fault for place in kept]), fault)
    whole = np.array([not rows.faults[place] for place in kept])
    for name, column in columns.items():
        blank = np.array([not rows.cells[name][place] for place in kept])
        bad = (column.decimals == UNREAD) & ~blank | unusual(column.decimals, name, report)
        column.values[bad] = NAN
        flags.mark(bad, "bad-number")
        flags.mark(blank & whole & (name == "power"), "missing")
