"""The lines of a declared table as rows of text: from CSV, blanks between columns, or JSON."""

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
"""Numbers of Python and C++ with all their digits, of which a double holds 15."""

PLUS = re.compile(r"\+(?=\d)")
UNIT_BEHIND = re.compile(r"(?<=\d) (?:[munk]?(?:W|V|A|VA|Wh|J)|Joules)$")

Cells = Mapping[str, str]


def table_rows(text: str, shape: Shape, report: Report) -> tuple[Rows, list[Cells]]:
    """Return the rows of a table, as yet without quantities, and for each its cells by column.

    Raises FsgreenError where the columns are not there.
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
    """Refuse rows of several meters or runs, which would be read as one that goes to and fro."""
    words = {row[name].split()[-1] for row in cells if row.get(name, "").strip()}
    if len(words) > 1:
        first, *_ = several = sorted(words)
        report.refuse(
            f"{name} is not the same in all rows: {some(several)}",
            f"""take the rows of one: --set 'only=["{name}={first}"]'""",
        )


def quantity_cells(cells: Sequence[Cells], selected: Selected) -> list[list[str]]:
    """Return the cells of the columns of a quantity, as plain numbers or blank."""
    return [[_plain(row.get(name, "")) for row in cells] for name in selected.names]


def _plain(cell: str) -> str:
    """Return a number without its unit, its plus sign and its exponent; blank where unknown."""
    text = PLUS.sub("", UNIT_BEHIND.sub("", cell.strip()), count=1)
    if text.lower() in UNKNOWN:
        return ""
    if EXPONENT.fullmatch(text) or LONG.fullmatch(text):
        whole = f"{Decimal(text):f}".partition(".")[0]
        return f"{Decimal(text):.{max(0, MAX_DIGITS - len(whole))}f}".rstrip("0").rstrip(".")
    return text


def _split(lines: Sequence[str], shape: Shape, report: Report) -> Iterator[tuple[int, Cells | str]]:
    """Yield number and cells of each line below the header; the text of one that is no row."""
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
    """Return how many lines at the beginning are titles: no number stands where one should."""
    place = int(shape.wanted[next(iter(shape.wanted))].names[0])
    for count, line in enumerate(lines):
        cells = _cells(line, separator)
        if len(cells) >= place and cells[place - 1].strip()[:1] in set("0123456789-.+"):
            return count if count < HEADER_WITHIN else 0
    return 0


def _filtered(named: Cells, shape: Shape) -> bool:
    """Whether a row is another than the wanted, and so may have other columns."""
    return any(name in named and named[name] != v for name, v in shape.only.items())


def _stamped(named: Cells, shape: Shape) -> Cells:
    """Return of a damaged row the time alone."""
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
    """Return the names of the columns that a table seems to have; their numbers without a header.

    The header is the first line near the beginning that has as many cells as most lines have, and
    more than under any other separator.
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
    """Return separator, place of the first row, and names of the columns, none if by number.

    Of the separators that exist, the one under which a line near the beginning has all columns.
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
        f"no line names the columns {some(lacking)}; one near the beginning has: {some(seen, 20)}",
        "name columns as the file does, or by their number from 1",
    )


def _objects(lines: Sequence[str], shape: Shape) -> Iterator[tuple[int, Cells | str]]:
    """Yield number and values of each line of JSON, whatever stands before its object."""
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
