"""Shared by all drivers for files: text and lines, decisions to report, refusals.

If a file can be read in several ways, each is tried on the whole file, and one that fits is chosen.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.readings import Floats
from fsgreen.words import listed

UTF16 = (b"\xff\xfe", b"\xfe\xff")
BOM = b"\xef\xbb\xbf"
BLANKS = str.maketrans({"\xa0": " ", "\u202f": " ", "\u2009": " "})
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass
class Report:
    """The decisions of a driver about a file, and its way to refuse the file."""

    where: str
    decisions: list[str] = field(default_factory=list)

    def tell(self, sentence: str) -> None:
        """Add a sentence on a decision, or on what was left out."""
        self.decisions.append(sentence)

    def refuse(self, what: str, next_step: str) -> NoReturn:
        """Raise FsgreenError: the file cannot be trusted, or a setting contradicts it."""
        raise FsgreenError(what, where=self.where, next_step=next_step)


def few(total: int) -> int:
    """Return how many of `total` cells may be damaged without refusing the whole file."""
    return max(2, total // 100)


def decode(data: bytes, report: Report) -> str:
    """Return the text of a file, which is UTF-8, with or without a mark, or else latin-1.

    NULs are left out, and non-breaking blanks become plain ones. Raises FsgreenError if the file is
    empty, or is UTF-16, which no meter's program writes.
    """
    if data.startswith(UTF16):
        report.refuse("the file is UTF-16 text", "save it as UTF-8, or export it again as CSV")
    marked = data.startswith(BOM)
    body = data.removeprefix(BOM)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        if marked:
            report.refuse("the file says that it is UTF-8, and is not", "export it again")
        text = body.decode("latin-1")
        report.tell("The text is not UTF-8 and was read as latin-1.")
    if "\0" in text:
        report.tell(f"{text.count(chr(0))} NUL bytes were left out.")
        text = text.replace("\0", "")
    if not text.strip():
        report.refuse("the file is empty", "export it again from the meter's program")
    return text.translate(BLANKS)


def split_lines(text: str) -> tuple[list[str], bool]:
    """Return the lines of a text, and whether the last one may be cut: it has no line end."""
    lines = LINE_END.split(text)
    cut = bool(lines[-1].strip())
    return (lines if cut else lines[:-1]), cut


def split(line: str, separator: str) -> list[str]:
    """Return the cells of a line; none if its quotes do not match (they never span lines)."""
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), [])
    except csv.Error:
        return []


def some(texts: list[str], limit: int = 5) -> str:
    """Return texts of a file as one text: the first `limit`, and the number of the others."""
    return listed(texts, limit)


def choose(
    setting: str,
    ways: Mapping[str, Floats],
    texts: Sequence[str],
    counts: Sequence[int],
    wanted: str,
    preferences: Sequence[Callable[[str], bool]],
    shown: Callable[[str, str], str],
    report: Report,
) -> str:
    """Return the name of the way to read a file that fits it.

    A user chooses a way by the setting `setting`, whose value is `wanted`. `ways` holds the values
    of `texts` in each way, NaN for a text that the way cannot read; `counts` says how often each
    text stands in the file. A way fits if it leaves at most a few texts more unread than the best
    way, and if no other way reads the same values and more. While several ways fit and differ,
    those that meet the next of `preferences` are kept, if any does. `shown` phrases the value of a
    text (first argument) in a way (second).

    Raises FsgreenError if the ways that are left read a text differently (the error shows both
    values), or if `wanted` is none of these ways.
    """
    often = np.array(counts)
    unread = {name: int(often[np.isnan(values)].sum()) for name, values in ways.items()}
    most = min(unread.values()) + few(int(often.sum()))
    left = [name for name in ways if unread[name] <= most]
    left = [name for name in left if not any(_more(ways[o], ways[name]) for o in left)]
    for makes_sense in preferences:
        if _different(left, ways) is not None:
            left = [name for name in left if makes_sense(name)] or left
    if wanted and wanted not in left:
        report.refuse(
            f'{setting} = "{wanted}" contradicts the file, which reads as {" or ".join(left)}',
            "leave the setting out",
        )
    if wanted:
        return wanted
    if (different := _different(left, ways)) is not None:
        other, place = different
        text = texts[place]
        report.refuse(
            f"{text} may be {shown(text, left[0])} or {shown(text, other)}",
            f'set {setting} = "{left[0]}" or {setting} = "{other}"',
        )
    alike = "" if len(left) == 1 else "; no cell tells them apart"
    report.tell(f"{setting.capitalize()} are written as {' or '.join(left)}{alike}.")
    return left[0]


def _more(one: Floats, other: Floats) -> bool:
    """Return whether `one` reads all that `other` reads, with the same values, and more."""
    read = ~np.isnan(other)
    return bool((one[read] == other[read]).all() and np.isnan(one).sum() < np.isnan(other).sum())


def _different(left: Sequence[str], ways: Mapping[str, Floats]) -> tuple[str, int] | None:
    """Return a way that differs from the first one, and the place; None if none does."""
    first = ways[left[0]]
    for name in left[1:]:
        same = (ways[name] == first) | (np.isnan(ways[name]) & np.isnan(first))
        if not same.all():
            return name, int(np.argmin(same))
    return None
