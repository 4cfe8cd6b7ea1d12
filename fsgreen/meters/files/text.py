"""What every reader of files needs: the text and its lines, decisions to tell, refusals."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from typing import NoReturn

from fsgreen.errors import FsgreenError

UTF16 = (b"\xff\xfe", b"\xfe\xff")
BOM = b"\xef\xbb\xbf"
BLANKS = str.maketrans({"\xa0": " ", "\u202f": " ", "\u2009": " "})
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass
class Report:
    """What a reader decided about a file, and how it refuses one."""

    where: str
    decisions: list[str] = field(default_factory=list)

    def tell(self, sentence: str) -> None:
        """Add one sentence on a decision, or on what was left out."""
        self.decisions.append(sentence)

    def refuse(self, what: str, next_step: str) -> NoReturn:
        """Raise that the file cannot be trusted, or that a setting contradicts it."""
        raise FsgreenError(what, where=self.where, next_step=next_step)


def decode(data: bytes, report: Report) -> str:
    """Return the text of a file: UTF-8 with or without a mark, else latin-1, without NULs.

    Blanks that do not break a line become plain ones. Raises FsgreenError on an empty file and on
    UTF-16, which no meter's program writes.
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
    """Return the lines of a text, and whether the last one lacks its end: it may be cut."""
    lines = LINE_END.split(text)
    cut = bool(lines[-1].strip())
    return (lines if cut else lines[:-1]), cut


def split(line: str, separator: str) -> list[str]:
    """Return the cells of a line, whose quotes never span lines; none if they are astray."""
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), [])
    except csv.Error:
        return []


def some(texts: list[str], limit: int = 5) -> str:
    """Return the first few of many texts, and how many more there are."""
    more = f" and {len(texts) - limit} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more
