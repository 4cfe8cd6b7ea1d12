"""How a file writes its numbers, decided from all its cells.

What a cell may mean follows from its shape: the cell with every digit but zero written as 9. A
style sees so many decimals in a shape, or cannot read it; two styles read a cell alike where they
see equally many decimals in it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.core.readings import NAN, Floats
from fsgreen.meters.files.checks import few
from fsgreen.meters.files.text import Report

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
    found = re.fullmatch(rf"-{size}|{size}-|\({size}\)|{size}", shape)
    if found is None or len(NO_DIGIT.sub("", shape)) > MAX_DIGITS:
        return UNREAD
    return len(next(filter(None, found.groups()), ""))


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
    odd = (decimals != usual) & (decimals != UNREAD)
    if odd.sum() > few(len(seen)):
        report.tell(
            f"The decimals of {what} vary, as after a spreadsheet saved the file: "
            "a number that lost a digit cannot be told."
        )
        return np.zeros(len(decimals), dtype=bool)
    return odd


def decide_style(
    columns: Mapping[str, Sequence[str]],
    wanted: str,
    plausible: Callable[[str], bool],
    report: Report,
) -> str:
    """Return the one style of a file's numbers, from all cells of all its columns.

    Out is a style that leaves more than a few cells unread beyond those that the best one does;
    then one that another surpasses, reading the same alike and more; then one that `plausible`
    denies. Refused are cells without any decimal mark unless the setting `numbers` names the
    style, two styles that are left and read a cell differently, several ways to write a negative
    number, and a setting that contradicts the file.
    """
    example: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for cells in columns.values():
        for cell in filter(None, cells):
            shape = cell.translate(SHAPE)
            counts[shape] += 1
            example.setdefault(shape, cell)
    _refuse_mixed_signs(example, report)
    reads = {style: {shape: _decimals(shape, style) for shape in counts} for style in STYLES}
    unread = {
        style: sum(counts[shape] for shape, seen in read.items() if seen == UNREAD)
        for style, read in reads.items()
    }
    margin = few(counts.total())
    best = min(unread.values())
    if best > max(margin, counts.total() // 10) or best == counts.total():
        odd = [
            example[shape] for shape in counts if all(r[shape] == UNREAD for r in reads.values())
        ]
        report.refuse(
            f"{best} of {counts.total()} cells are no numbers: {', '.join(odd[:5])}",
            "export the file again with the default number format",
        )
    left = [style for style in STYLES if unread[style] <= best + margin]
    left = [s for s in left if not any(_surpasses(reads[o], reads[s]) for o in left if o != s)]
    if len(_distinct(left, reads)) > 1:
        left = [style for style in left if plausible(style)] or left
    if max((max(reads[style].values()) for style in left), default=0) <= 0 and not wanted:
        cell = max(example.values(), key=len)
        digits = NO_DIGIT.sub("", cell).zfill(2)
        report.refuse(
            f"no number has a decimal mark: {cell} may be {digits}, or {digits[:-1]}.{digits[-1]} "
            "or another number whose mark was lost in the export",
            'export it with the number format 1,234.56, or set numbers = "1,234.56" if these are '
            "whole numbers",
        )
    if wanted and wanted not in left:
        report.refuse(
            f'numbers = "{wanted}" contradicts the file, which reads as {" or ".join(left)}',
            "leave the setting out",
        )
    if wanted:
        return wanted
    distinct = _distinct(left, reads)
    if len(distinct) > 1:
        one, other = distinct[:2]
        shape = next(s for s in counts if reads[one][s] != reads[other][s])
        texts = [_meaning(example[shape], style) for style in (one, other)]
        report.refuse(
            f"{example[shape]} may be {texts[0]} or {texts[1]}",
            f'set numbers = "{one}" or numbers = "{other}"',
        )
    alike = "" if len(left) == 1 else "; no cell tells them apart"
    report.tell(f"Numbers are written as {' or '.join(left)}{alike}.")
    return left[0]


def _surpasses(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    """Whether `one` reads all that `other` reads, alike, and more."""
    return one != other and all(other[s] in (UNREAD, seen) for s, seen in one.items())


def _distinct(styles: Sequence[str], reads: Mapping[str, Mapping[str, int]]) -> list[str]:
    """One of each group of styles that read every cell alike."""
    return [s for n, s in enumerate(styles) if all(reads[s] != reads[o] for o in styles[:n])]


def _meaning(cell: str, style: str) -> str:
    (value,), (decimals,) = numbers([cell], style)
    return f"{value:.{decimals}f}" if decimals != UNREAD else f"no number (in {style})"


def _refuse_mixed_signs(example: Mapping[str, str], report: Report) -> None:
    ways: dict[str, str] = {}
    for shape, cell in example.items():
        if any(_decimals(shape, style) != UNREAD for style in STYLES):
            way = cell[0] if cell[0] in "-(" else cell[-1]
            ways.setdefault(way if way in "-(" else "", cell)
            if way == "-":
                ways.setdefault("-1" if cell[0] == "-" else "1-", cell)
    ways = {way: cell for way, cell in ways.items() if way not in ("", "-")}
    if len(ways) > 1:
        report.refuse(
            f"negative numbers are written in several ways: {', '.join(ways.values())}",
            "export the file again",
        )
