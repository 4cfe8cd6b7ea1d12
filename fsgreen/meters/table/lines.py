"""Rows of text from the lines of a declared table: CSV, columns between blanks, or JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

from fsgreen.meters.files.numbers import MAX_DIGITS
from fsgreen.meters.files.rows import Rows
from fsgreen.meters.files.text import SEPARATORS, Report, some, split, split_lines
from fsgreen.meters.table.declared import UNKNOWN, Selected, Shape

HEADER_WITHIN = 60
EXPONENT = re.compile(r"-?\d{1,3}(?:\.\d{1,20})?[eE][+-]?\d{1,2}")
NUMBER = re.compile(r"[-+]?\d+(?:[.,:/-]\d+)*\b")
LONG = re.compile(r"-?\d{1,9}\.\d{12,25}")
"""Numbers that Python and C++ write with all their digits, though a double holds only 15."""

PLUS = re.compile(r"\+(?=\d)")
UNIT_BEHIND = re.compile(r"(?<=\d) (?:[munk]?(?:W|V|A|VA|Wh|J)|Joules)$")

Cells = Mapping[str, str]


def table_rows(text: str, shape: Shape, report: Report) -> tuple[Rows, list[Cells]]:
    """Return the rows of a table, still without quantities, and the cells of each row by column.

    Raises FsgreenError if the file lacks the columns.
    """
    lines, cut = split_lines(text)
    rows, cells = Rows(ends_cut=cut), []
    found = _objects(lines, shape) if shape.settings.json_lines else _split(lines, shape, report)
    other: list[str] = []
    unlike = 0
    for number, read in found:
        last = cut and number == len(lines)
        if isinstance(read, str):
            other.append(f"line {number}")
            continue
        if read and any(read.get(name, value) != value for name, value in shape.only.items()):
            unlike += 1
            continue
        lacking = [name for name in shape.required if name not in read]
        stamp = " ".join(read.get(name, "") for name in shape.time).strip()
        rows.add(number, stamp, {}, "cut" if last else "bad-count" if lacking else "")
        cells.append(read)
    if other:
        report.tell(f"Left out, as they are no rows: {some(other)}.")
    if unlike:
        chosen = " and ".join(f"{name} {value}" for name, value in shape.only.items())
        report.tell(f"Left out: {unlike} rows that are not of {chosen}.")
    if not cells:
        report.refuse("the table has no row that fits", "look at the columns and at only = [...]")
    _refuse_several(cells, shape.settings.same, report)
    return rows, cells


def _refuse_several(cells: Sequence[Cells], name: str, report: Report) -> None:
    """Refuse rows of several meters or runs: they would be read as one that jumps to and fro."""
    words = {row[name].split()[-1] for row in cells if row.get(name, "").strip()}
    if len(words) > 1:
        first, *_ = several = sorted(words)
        report.refuse(
            f"{name} is not the same in all rows: {some(several)}",
            f"""take the rows of one value: --set 'only=["{name}={first}"]'""",
        )


def quantity_cells(cells: Sequence[Cells], selected: Selected) -> list[list[str]]:
    """Return the cells of each column of a quantity, as plain numbers or empty texts."""
    return [[_plain(row.get(name, "")) for row in cells] for name in selected.names]


def _plain(cell: str) -> str:
    """Return a number without unit, plus sign and exponent; an empty text if it is unknown."""
    text = PLUS.sub("", UNIT_BEHIND.sub("", cell.strip()), count=1)
    if text.lower() in UNKNOWN:
        return ""
    if EXPONENT.fullmatch(text) or LONG.fullmatch(text):
        whole = f"{Decimal(text):f}".partition(".")[0]
        return f"{Decimal(text):.{max(0, MAX_DIGITS - len(whole))}f}".rstrip("0").rstrip(".")
    return text


def _split(lines: Sequence[str], shape: Shape, report: Report) -> Iterator[tuple[int, Cells | str]]:
    """Yield the number and the cells of each line below the header.

    A line that is no row has its text in place of cells.
    """
    separator, first, names = _header(lines, shape, report)
    width = len(names) or _usual_width(lines[first:], separator, shape)
    header = list(names)
    if not header:
        first += _titles(lines[first:], separator, shape)
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in _cells(line, separator)]
        if cells == header or (shape.lines and not shape.lines.search(line)):
            yield number, line
            continue
        numbered = {str(place): cell for place, cell in enumerate(cells, 1)}
        named = dict(zip(header, cells, strict=False)) | numbered
        fits = len(cells) == width or _filtered(named, shape)
        yield number, named if fits else _stamped(named, shape)


def _titles(lines: Sequence[str], separator: str, shape: Shape) -> int:
    """Return how many lines at the beginning are titles, which lack a number in its column."""
    place = int(shape.wanted[next(iter(shape.wanted))].names[0])
    for count, line in enumerate(lines):
        cells = _cells(line, separator)
        if len(cells) >= place and cells[place - 1].strip()[:1] in set("0123456789-.+"):
            return count if count < HEADER_WITHIN else 0
    return 0


def _filtered(named: Cells, shape: Shape) -> bool:
    """Return whether the setting `only` leaves this row out: it may have other columns then."""
    return any(name in named and named[name] != v for name, v in shape.only.items())


def _stamped(named: Cells, shape: Shape) -> Cells:
    """Return only the time of a damaged row."""
    return {name: named[name] for name in shape.time if name in named}


def _cells(line: str, separator: str) -> list[str]:
    return line.split() if separator == "blank" else split(line, SEPARATORS[separator])


def _usual_width(lines: Sequence[str], separator: str, shape: Shape) -> int:
    counts = Counter(
        len(_cells(line, separator))
        for line in lines
        if line.strip() and (shape.lines is None or shape.lines.search(line))
    )
    return counts.most_common(1)[0][0] if counts else 0


def shown_columns(text: str) -> list[str]:
    """Return the names of the columns that a table seems to have, or numbers without a header.

    The separator is the one that gives most lines the most cells. The header is the first line near
    the beginning that has as many cells as most lines.
    """
    lines = [line for line in split_lines(text)[0] if line.strip()]
    if lines and lines[0].lstrip().startswith("{"):
        with suppress(ValueError, RecursionError):
            return list(dict(_flat(json.loads(lines[0]), "")))
    widths = {
        name: Counter(len(_cells(line, name)) for line in lines).most_common(1)[0][0]
        for name in [*reversed(SEPARATORS), "blank"]
    }
    name = max(widths, key=lambda name: (widths[name] > 1, name != "blank", widths[name]))
    near = (_cells(line, name) for line in lines[:HEADER_WITHIN])
    header = next(cells for cells in near if len(cells) == widths[name])
    if any(NUMBER.match(cell.strip()) for cell in header):
        return [f"{nth} ({cell.strip()})" for nth, cell in enumerate(header, 1)]
    return [cell.strip() for cell in header]


def _header(lines: Sequence[str], shape: Shape, report: Report) -> tuple[str, int, Sequence[str]]:
    """Return the separator, the place of the first row, and the names of the columns.

    There are no names if columns are declared by number. The separator is one by which a line near
    the beginning has all columns.
    """
    tried = [shape.settings.separator] if shape.settings.separator else [*SEPARATORS, "blank"]
    wanted = [name for name in shape.names if not name.isdecimal()]
    nearest: tuple[int, list[str]] = (0, [])
    if not wanted:
        places = max(map(int, shape.names))
        widths = {name: _usual_width(lines, name, shape) for name in tried}
        fitting = [name for name in tried if widths[name] >= places]
        if not fitting:
            report.refuse(
                f"the table has no column {places}", "count the columns from 1, or name separator"
            )
        return max(fitting, key=lambda name: (name != "blank", widths[name])), 0, ()
    for place, line in enumerate(lines[:HEADER_WITHIN]):
        for name in tried:
            cells = [cell.strip() for cell in _cells(line, name)]
            if set(wanted) <= set(cells):
                if twice := [c for c in wanted if cells.count(c) > 1]:
                    report.refuse(f"two columns are called {twice[0]}", "name it by its number")
                return name, place + 1, cells
            nearest = max(nearest, (len(set(wanted) & set(cells)), cells), key=lambda n: n[0])
    lacking = sorted(set(wanted) - set(nearest[1]))
    seen = nearest[1] or [cell.strip() for cell in _cells(lines[0], tried[0])]
    report.refuse(
        f"no line names the columns {some(lacking)}; an early line has: {some(seen, 20)}",
        "name columns as the file does, or by their number from 1",
    )


def _objects(lines: Sequence[str], shape: Shape) -> Iterator[tuple[int, Cells | str]]:
    """Yield the number and the values of each line of JSON; text may stand before its object."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line[line.index("{") :], parse_float=str, parse_int=str)
        except (ValueError, RecursionError):
            yield number, {} if "{" in line else line
            continue
        flat = dict(_flat(value, "")) | {"before": line[: line.index("{")].strip()}
        known = any(name in flat for each in shape.wanted.values() for name in each.names)
        yield number, flat if known else line


def _flat(value: Any, prefix: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _flat(each, f"{prefix}.{name}" if prefix else str(name))
    elif not isinstance(value, list):
        yield prefix, "" if value is None else str(value)
