"""How a file writes its numbers, decided from all its cells.

What a cell may mean follows from its shape: the cell with every digit but zero written as 9. A
style sees so many decimals in a shape, or cannot read it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.core.readings import NAN, Floats
from fsgreen.meters.files.checks import few
from fsgreen.meters.files.text import Report
from fsgreen.meters.files.ways import choose

STYLES: Mapping[str, tuple[str, str]] = {
    "1,234.56": (",", "."),
    "1 234,56": (" ", ","),
    "1.234,56": (".", ","),
    "1.234 56": (".", " "),
}
"""Thousands separator and decimal mark of HOBOware's four styles, by the name of the setting."""

POINT = "1,234.56"

SHAPE = str.maketrans("12345678", "9" * 8)
NO_DIGIT = re.compile(r"[^0-9]+")
MAX_DIGITS = 15
"""A double holds no more."""

UNREAD = -1


@lru_cache(maxsize=65536)
def _decimals(shape: str, style: str) -> int:
    """Return how many decimals a style sees in a shape, or UNREAD."""
    group, mark = map(re.escape, STYLES[style])
    size = rf"(?:[09]+|9[09]{{0,2}}(?:{group}[09]{{3}})+)(?:{mark}([09]+))?"
    match = re.fullmatch(rf"-{size}|{size}-|\({size}\)|{size}", shape)
    if match is None or len(NO_DIGIT.sub("", shape)) > MAX_DIGITS:
        return UNREAD
    return len(next(filter(None, match.groups()), ""))


def numbers(cells: Sequence[str], style: str) -> tuple[Floats, NDArray[np.int64]]:
    """Return the values of cells, NaN where one is blank or cannot be read, and their decimals."""
    decimals = np.array([_decimals(cell.translate(SHAPE), style) for cell in cells], dtype=np.int64)
    digits = [
        int(NO_DIGIT.sub("", cell)) if seen != UNREAD else NAN
        for cell, seen in zip(cells, decimals, strict=True)
    ]
    signs = [-1.0 if cell[:1] in ("-", "(") or cell[-1:] == "-" else 1.0 for cell in cells]
    return np.array(digits, dtype=float) * signs / 10.0 ** decimals.clip(min=0), decimals


def unusual(decimals: NDArray[np.int64], what: str, report: Report) -> NDArray[np.bool_]:
    """Return where a column's number has other than its usual decimals: it lost or won a digit.

    A program that logs writes every number of a column with the same decimals. Where many differ,
    as after a spreadsheet saved the file, nothing can be concluded, which is told.
    """
    seen = decimals[decimals != UNREAD]
    if not len(seen):
        return np.zeros(len(decimals), dtype=bool)
    usual = np.bincount(seen).argmax()
    unusual_places = (decimals != usual) & (decimals != UNREAD)
    if unusual_places.sum() > few(len(seen)):
        report.tell(
            f"The decimals of {what} vary, as after a spreadsheet saved the file: "
            "a number that lost a digit cannot be told."
        )
        return np.zeros(len(decimals), dtype=bool)
    return unusual_places


def decide_style(
    columns: Mapping[str, Sequence[str]],
    wanted: str,
    plausible: Callable[[str], bool],
    report: Report,
) -> str:
    """Return the one style of a file's numbers, from all cells of all its columns.

    As `ways.choose`, which prefers a style under which the values are `plausible`. Refused are also
    cells that no style reads, cells without any decimal mark unless the setting `numbers` names the
    style, and several ways to write a negative number.
    """
    counts = Counter(filter(None, chain.from_iterable(columns.values())))
    ways = {style: {cell: _read_decimals(cell, style) for cell in counts} for style in STYLES}
    strange = {cell: None for cell in counts if all(r[cell] is None for r in ways.values())}
    _refuse_mixed_signs([cell for cell in counts if cell not in strange], report)
    total = counts.total()
    missed = min(sum(counts[c] for c, seen in r.items() if seen is None) for r in ways.values())
    if missed > max(few(total), total // 10) or missed == total:
        report.refuse(
            f"{missed} of {total} cells are no numbers: {', '.join(list(strange)[:5])}",
            "export the file again with the default number format",
        )
    style = choose("numbers", ways, counts, wanted, [plausible], _shown, report)
    if not wanted and not any(ways[style].values()):
        cell = max(counts, key=len)
        digits = NO_DIGIT.sub("", cell).zfill(2)
        report.refuse(
            f"no number has a decimal mark: {cell} may be {digits}, or {digits[:-1]}.{digits[-1]} "
            "or another number whose mark was lost in the export",
            'export it with the number format 1,234.56, or set numbers = "1,234.56" if these are '
            "whole numbers",
        )
    return style


def _read_decimals(cell: str, style: str) -> int | None:
    seen = _decimals(cell.translate(SHAPE), style)
    return None if seen == UNREAD else seen


def _shown(cell: str, style: str) -> str:
    (value,), (decimals,) = numbers([cell], style)
    return f"{value:.{decimals}f}" if decimals != UNREAD else f"no number (in {style})"


def _refuse_mixed_signs(cells: Sequence[str], report: Report) -> None:
    """Refuse numbers of which some are -1 and others 1- or (1)."""
    forms: dict[str, str] = {}
    for cell in cells:
        form = (
            "(" if cell[0] == "(" else "-1" if cell[0] == "-" else "1-" if cell[-1] == "-" else ""
        )
        forms.setdefault(form, cell)
    negative = [cell for form, cell in forms.items() if form]
    if len(negative) > 1:
        report.refuse(
            f"negative numbers are written in several ways: {', '.join(negative)}",
            "export the file again",
        )
