"""How a file writes its numbers, decided from all of its cells.

The possible meanings of a cell follow from its shape: the cell with every digit except zero
replaced by 9. A style finds a number of decimals in a shape, or cannot read it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import isnan

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.core.readings import NAN, Floats
from fsgreen.meters.files.text import Report, choose, few

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
"""Most digits of a number. A double holds no more."""

UNREAD = -1

BESIDE = 8
"""How many numbers on either side of one tell its size."""

TINY = 1e-9


@lru_cache(maxsize=65536)
def _decimals(shape: str, style: str) -> int:
    """Return the number of decimals of a shape in a style, or UNREAD."""
    group, mark = map(re.escape, STYLES[style])
    size = rf"(?:[09]+|9[09]{{0,2}}(?:{group}[09]{{3}})+)(?:{mark}([09]+))?"
    match = re.fullmatch(rf"-{size}|{size}-|\({size}\)|{size}", shape)
    if match is None or len(NO_DIGIT.sub("", shape)) > MAX_DIGITS:
        return UNREAD
    return len(next(filter(None, match.groups()), ""))


def numbers(cells: Sequence[str], style: str) -> tuple[Floats, NDArray[np.int64]]:
    """Return the values of cells (NaN if blank or unreadable), and their numbers of decimals."""
    decimals = np.array([_decimals(cell.translate(SHAPE), style) for cell in cells], dtype=np.int64)
    digits = [
        int(NO_DIGIT.sub("", cell)) if seen != UNREAD else NAN
        for cell, seen in zip(cells, decimals, strict=True)
    ]
    signs = [-1.0 if cell[:1] in ("-", "(") or cell[-1:] == "-" else 1.0 for cell in cells]
    return np.array(digits, dtype=float) * signs / 10.0 ** decimals.clip(min=0), decimals


def last_step(values: Floats, decimals: NDArray[np.int64]) -> float:
    """Return the step of the last digit that is not always zero; NaN without any number.

    Zeros that a program writes after every number are no resolution. One number in a hundred may
    have another digit there, as it is damaged.
    """
    seen = decimals[decimals != UNREAD]
    if not len(seen):
        return NAN
    most = int(seen.max())
    counts = np.round(np.abs(values[np.isfinite(values)]) * 10.0**most)
    for dropped in range(MAX_DIGITS):
        coarse = 10.0 ** (dropped + 1)
        if (counts % coarse != 0).sum() > len(counts) // 100 or coarse > counts.max(initial=0.0):
            return 10.0 ** (dropped - most)
    return 10.0**-most


def unusual(
    values: Floats, decimals: NDArray[np.int64], what: str, report: Report, *, fixed: bool = True
) -> NDArray[np.bool_]:
    """Return a mask of a column's numbers that have lost or gained a digit or a decimal mark.

    A program that logs writes every number of a column with the same number of decimals. That is so
    if the column is `fixed`, or if a number with two decimals ends in zero. Then each number with
    other decimals is marked. A program that saves a table drops zeros at the end. Then the decimals
    vary, and a number is marked if it would be nearer to its neighbours with the most decimals; so
    is a number without decimals if others have `.0`. Raises FsgreenError if more than a tenth of
    the column is damaged.
    """
    marked = np.zeros(len(decimals), dtype=bool)
    read = np.flatnonzero((decimals != UNREAD) & np.isfinite(values))
    seen = decimals[read]
    if not len(read) or (seen == seen[0]).all():
        return marked
    usual, most = int(np.bincount(seen).argmax()), int(seen.max())
    digits = np.round(np.abs(values[read]) * 10.0**seen)
    padded = (digits % 10 == 0) & (digits > 0)
    if (
        (padded & (seen > 1)).any()
        or (padded & (seen == usual) & (usual == most == 1)).any()
        or (fixed and (seen != usual).sum() <= few(len(read)))
    ):
        marked[read] = seen != usual
    else:
        report.tell(
            f"The decimals of {what} vary{', as after a spreadsheet saved the file' * fixed}: "
            "a number that lost a digit cannot be told."
        )
        beside = np.maximum(_beside(np.abs(values[read])), TINY)
        as_it_is, with_mark = (
            np.abs(np.log(np.maximum(digits / 10.0**places, TINY) / beside))
            for places in (seen, most)
        )
        lost = (seen < most) & (with_mark < as_it_is)
        marked[read] = lost | ((seen == 0) & (padded & (seen == 1)).any())
    if marked.sum() > max(few(len(read)), len(read) // 10):
        report.refuse(
            f"{int(marked.sum())} of {len(read)} numbers of {what} have lost a digit or their mark",
            "export the file again",
        )
    return marked


def _beside(sizes: Floats) -> Floats:
    """Return the median of the numbers around each one. A few lost marks do not move it."""
    width = min(BESIDE, (len(sizes) - 1) // 2)
    windows = np.lib.stride_tricks.sliding_window_view(
        np.pad(sizes, width, mode="reflect"), 2 * width + 1
    )
    return np.median(windows, axis=1)


def decide_style(
    columns: Mapping[str, Sequence[str]],
    wanted: str,
    plausible: Callable[[str], bool],
    report: Report,
) -> str:
    """Return the style of a file's numbers, from all cells of all its columns.

    `choose` decides, and prefers a style in which the values are `plausible`. Raises FsgreenError
    also if too many cells fit no style; if no cell has a decimal mark, unless the setting `numbers`
    names the style; and if negative numbers are written in several ways.
    """
    counts = Counter(filter(None, chain.from_iterable(columns.values())))
    cells, often = list(counts), list(counts.values())
    read = {style: numbers(cells, style) for style in STYLES}
    ways = {style: values for style, (values, _) in read.items()}
    odd = [cell for cell, *as_ in zip(cells, *ways.values(), strict=True) if all(map(isnan, as_))]
    _refuse_mixed_signs(list(counts.keys() - set(odd)), report)
    total = counts.total()
    if not total:
        report.refuse(
            "the columns that are read hold no number at all",
            "look whether the program got values, and at which columns it wrote them",
        )
    missed = min(int(np.array(often)[np.isnan(values)].sum()) for values in ways.values())
    if missed > max(few(total), total // 10) or missed == total:
        report.refuse(
            f"{missed} of {total} cells are no numbers: " + ", ".join(odd[:5]),
            "export the file again with the default number format",
        )
    style = choose("numbers", ways, cells, often, wanted, [plausible], _shown, report)
    if not wanted and not (read[style][1] > 0).any():
        cell = max(counts, key=len)
        digits = NO_DIGIT.sub("", cell).zfill(2)
        report.refuse(
            f"no number has a decimal mark: {cell} may be {digits}, or {digits[:-1]}.{digits[-1]} "
            "or another number whose mark was lost in the export",
            'export it with the number format 1,234.56, or set numbers = "1,234.56" if these are '
            "whole numbers",
        )
    return style


def _shown(cell: str, style: str) -> str:
    (value,), (decimals,) = numbers([cell], style)
    return f"{value:.{decimals}f}" if decimals != UNREAD else f"no number (in {style})"


def _refuse_mixed_signs(cells: Sequence[str], report: Report) -> None:
    """Raise FsgreenError if negative numbers have several forms: -1, 1- or (1)."""
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
