"""Rows of a file as text, and the columns of numbers that drivers make from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from fsgreen.meters.core.readings import LEAST_VA, NAN, Floats, Mask
from fsgreen.meters.files.checks import (
    EXPORT_AGAIN,
    Flags,
    disagree,
    interval_s,
    mark_frozen,
    refuse_disorder,
    timed_rows,
)
from fsgreen.meters.files.numbers import POINT, UNREAD, last_step, numbers, unusual
from fsgreen.meters.files.text import Report

MARGIN_W = 1.0
"""The difference that is allowed between small powers and volts times amperes."""

GIVEN = ("power", "energy", "energy_each")
"""Quantities that each row must have."""


@dataclass
class Rows:
    """The rows of a file that hold readings.

    `cells` has the cells of each quantity (power, voltage, current, energy, apparent, factor), ""
    if a row has none. A fault is "" or the flag of a row that cannot be read. `ends_cut` says that
    the last line of the file has no end.
    """

    stamps: list[str] = field(default_factory=list)
    cells: dict[str, list[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    ends_cut: bool = False

    def add(self, line: int, stamp: str, cells: Mapping[str, str], fault: str) -> None:
        """Add a row. The cells of a faulty row count as blank."""
        self.stamps.append(stamp)
        self.faults.append(fault)
        self.names.append(f"line {line} ({stamp})" if stamp else f"line {line}")
        for name, texts in self.cells.items():
            texts.append("" if fault else cells.get(name, ""))

    def name_of(self, kept: Sequence[int]) -> Callable[[int], str]:
        """Return a function that returns the place of a reading in words, given the kept rows."""
        return lambda place: self.names[kept[place]]


@dataclass(frozen=True)
class Timed:
    """The places of the kept rows, their times, and the usual step."""

    kept: Sequence[int]
    time_s: Floats
    usual_s: float


def timed(
    rows: Rows,
    time_s: Floats,
    report: Report,
    *,
    skipped: Collection[int] = (),
    regular: bool = True,
    disorder: str = EXPORT_AGAIN,
) -> Timed:
    """Return the rows that have a time and are not skipped.

    Raises FsgreenError if times go back. `disorder` is the next step then.
    """
    texts = list(zip(rows.faults, *rows.cells.values(), strict=True))
    if rows.faults[-1:] == ["cut"] and not time_s[-1] > np.max(time_s[:-1], initial=-np.inf):
        skipped = {*skipped, len(time_s) - 1}  # the last row is cut off inside its stamp
    kept = timed_rows(time_s, texts, rows.names, report, skipped)
    time_s = time_s[kept]
    refuse_disorder(time_s, rows.name_of(kept), report, disorder)
    return Timed(kept, time_s, interval_s(time_s, report, regular=regular))


@dataclass(frozen=True)
class Column:
    """The numbers of one quantity, and the step of the last digit that changes."""

    values: Floats
    step: float


def columns(
    rows: Rows,
    kept: Sequence[int],
    flags: Flags,
    report: Report,
    *,
    style: str = POINT,
    units: Mapping[str, float] | None = None,
    fixed: bool = True,
) -> dict[str, Column]:
    """Return the numbers of the kept rows. Mark unreadable ones, which become NaN.

    `units` has the factor from a number of each quantity to V, A, W, Wh or VA. `fixed` says that
    the program writes all numbers of a column with the same number of decimals.
    """
    whole = mark_faults(rows, kept, flags)
    found = {}
    for name, cells in rows.cells.items():
        texts = [cells[place] for place in kept]
        blank = np.array([not text for text in texts], dtype=bool)
        values, decimals = numbers(texts, style)
        bad = (decimals == UNREAD) & ~blank | unusual(values, decimals, name, report, fixed=fixed)
        values[bad] = NAN
        unit = (units or {}).get(name, 1.0)
        step = unit * last_step(values, decimals)
        found[name] = Column(values if unit == 1 else values * unit, step)
        flags.mark(bad, "bad-number")
        flags.mark(blank & whole & (name in GIVEN), "missing")
    mark_repeats(rows, kept, flags, found.get("power"))
    return found


def mark_faults(rows: Rows, kept: Sequence[int], flags: Flags) -> Mask:
    """Mark unreadable rows, and the last row of a cut file; return a mask of the whole rows."""
    faults = np.array([rows.faults[place] for place in kept])
    for fault in sorted(set(rows.faults) - {""}):
        flags.mark(faults == fault, fault)
    if rows.ends_cut:
        flags.mark(np.arange(len(kept)) == len(kept) - 1, "cut")
    return np.asarray(faults == "")


def mark_repeats(
    rows: Rows, kept: Sequence[int], flags: Flags, power: Column | None = None
) -> None:
    """Mark rows that repeat the previous one in all cells for too long, as `frozen`."""
    texts = list(zip(*rows.cells.values(), strict=True))
    same = [texts[one] == texts[other] and not rows.faults[other] for one, other in pairwise(kept)]
    repeats = np.array([False, *same], dtype=bool)
    if power is None:
        mark_frozen(repeats, np.full(len(repeats), NAN), 0.0, len(rows.cells), flags)
    else:
        mark_frozen(repeats, power.values, power.step, len(rows.cells), flags)


def contradict(columns: Mapping[str, Column], margin_w: float) -> Mask:
    """Return a mask: power, volts, amperes, apparent power or power factor contradict each other.

    They may differ by a tenth of the apparent power and a margin. Below `LEAST_VA`, nothing is
    checked.
    """
    power_w = columns["power"].values
    wrong = np.zeros(len(power_w), dtype=bool)
    margin = np.full(len(power_w), margin_w)
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
    sizes_va = [power_w, apparent_va, *([] if product_va is None else [product_va])]
    return wrong & (np.nanmax(np.nan_to_num(np.abs(sizes_va)), axis=0) >= LEAST_VA)


def mark_unsound(
    columns: Mapping[str, Column], range_w: float, margin_w: float, flags: Flags
) -> None:
    """Mark readings that are negative, over range, or inconsistent."""
    for name in ("power", "voltage", "current"):
        if name in columns:
            flags.mark(columns[name].values < 0, "negative")
    flags.mark(columns["power"].values > range_w, "over-range")
    flags.mark(contradict(columns, margin_w), "inconsistent")
