"""The layout of a HOBOware CSV: separator, columns by their header, rows, events, details."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fsgreen.meters.files.checks import few
from fsgreen.meters.files.text import Report, some, split_lines

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
HEADER_WITHIN = 5
"""A title and blank lines may stand before the header, nothing else."""

TITLE = re.compile(r'"?Plot Title:', re.IGNORECASE)
TIME = re.compile(r"(?P<what>Date Time|Time)(?:, GMT *(?P<offset>\S+))?")
PROPERTIES = re.compile(r"\s*\(?\s*(?:LGR S/N|SEN S/N|LBL)\b|\s+#\d|\s+c:\d")
QUANTITY = re.compile(r"(?P<name>[^,(]+?)\s*(?:,\s*(?P<after>\S+)|\((?P<within>\S+)\))?")
CONTINUED = re.compile(r"\s*#\d+\s*")
"""A serial number that a header without quotes cut off at its comma."""

SERIAL = re.compile(r"LGR S/N:\s*(\w+)|#(\d+)")
LABEL = re.compile(r"LBL:\s*([^,)]+)")
STATISTIC = re.compile(r"\b(?:max|min|avg|std ?dev)\b", re.IGNORECASE)
AVERAGE = "avg"
LOGGED = "Logged"
DETAILS = "Details"

UNITS: Mapping[str, tuple[str, float]] = {
    "W": ("power", 1.0),
    "kW": ("power", 1e3),
    "V": ("voltage", 1.0),
    "A": ("current", 1.0),
    "mA": ("current", 1e-3),
    "Wh": ("energy", 1.0),
    "kWh": ("energy", 1e3),
    "VA": ("apparent", 1.0),
    "kVA": ("apparent", 1e3),
    "PF": ("factor", 1.0),
}
BATTERY = re.compile(r"\bbatt", re.IGNORECASE)
FACTOR = re.compile(r"power factor", re.IGNORECASE)


@dataclass(frozen=True)
class Header:
    """Where a header has its columns, and what its cells say besides.

    `width` counts blank cells at its end too, which a spreadsheet puts above the details.
    """

    separator: str
    width: int
    cells: tuple[str, ...]
    times: tuple[int, ...]
    series: Mapping[str, int]
    scale: Mapping[str, float]
    offsets: frozenset[str]
    serials: tuple[str, ...]
    labels: tuple[str, ...]


@dataclass
class Rows:
    """The rows of a file that hold readings: cells by quantity, and what is wrong with a row."""

    stamps: list[str] = field(default_factory=list)
    cells: dict[str, list[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    details: list[str] = field(default_factory=list)


def layout(text: str, separator: str, report: Report) -> tuple[Header, Rows]:
    """Return the header and the rows of a file; `separator` is a setting or "".

    Raises FsgreenError where there is no header of a HOBOware file with a time and a power, or
    more than a few rows do not fit it.
    """
    lines, cut = split_lines(text)
    place, header = _header(lines, separator, report)
    return header, _rows(lines, cut, place + 1, header, report)


def split(line: str, separator: str) -> list[str]:
    """Return the cells of a line, whose quotes never span lines; none if they are astray."""
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader([line], delimiter=separator, strict=True), [])
    except csv.Error:
        return []


def _header(lines: Sequence[str], separator: str, report: Report) -> tuple[int, Header]:
    found = []
    for place, line in enumerate(lines[:HEADER_WITHIN]):
        found = [
            (place, header)
            for name, mark in SEPARATORS.items()
            if mark in line and (header := _columns(split(line, mark), name, report)) is not None
        ]
        if found:
            break
        if line.strip(' ,;\t"') and not TITLE.match(line):
            break
    if not found:
        report.refuse(
            "this is no HOBOware export: no header with a Date Time column and a series in W",
            "export it from HOBOware as CSV, with the active power",
        )
    if len(found) > 1:
        names = " or ".join(header.separator for _, header in found)
        report.refuse(f"the header may be separated by {names}", "export the file with tabs")
    place, header = found[0]
    if separator and separator != header.separator:
        report.refuse(
            f'separator = "{separator}" contradicts the header, which has {header.separator}s',
            "leave the setting out",
        )
    return place, header


def _columns(cells: list[str], separator: str, report: Report) -> Header | None:
    """Return a header, or None where these cells are none; refuses one that has two powers."""
    for place in reversed(range(1, len(cells))):
        if CONTINUED.fullmatch(cells[place]) and PROPERTIES.search(cells[place - 1]):
            cells[place - 1 : place + 1] = [",".join(cells[place - 1 : place + 1])]
    cells = [cell.strip() for cell in cells]
    width = len(cells)
    if DETAILS in cells:
        cells = cells[: cells.index(DETAILS)]
    while cells and not cells[-1]:
        cells.pop()
    clocks = {place: m for place, cell in enumerate(cells) if (m := TIME.fullmatch(cell))}
    dates = [place for place, cell in enumerate(cells) if cell == "Date"]
    if len(clocks) != 1 or len(dates) > 1:
        return None
    ((clock, match),) = clocks.items()
    if (match["what"] == "Time") != bool(dates):
        return None
    series: dict[str, int] = {}
    scale: dict[str, float] = {}
    for statistic in (None, AVERAGE):
        found: dict[str, list[int]] = {}
        for place, cell in enumerate(cells):
            kind = _kind(cell)
            if kind is not None and kind[0] not in series and _statistic(cell) == statistic:
                found.setdefault(kind[0], []).append(place)
        for name, places in found.items():
            if len(places) > 1:
                report.refuse(
                    f"{len(places)} series may be the {name}: "
                    + "; ".join(cells[place] for place in places),
                    "export one series of each quantity",
                )
            series[name] = places[0]
            scale[name] = UNITS[_unit(cells[places[0]])][1]
    if "power" not in series:
        return None
    serials = {m[1] or m[2] for c in cells for m in [SERIAL.search(c)] if m}
    labels = {m[1].strip() for c in cells for m in [LABEL.search(c)] if m}
    return Header(
        separator,
        width,
        tuple(cells),
        (*dates, clock),
        series,
        scale,
        frozenset({match["offset"]} - {None}),
        tuple(sorted(serials)),
        tuple(sorted(labels)),
    )


def _head(cell: str) -> str:
    """A header cell without serial numbers and label."""
    return PROPERTIES.split(cell, maxsplit=1)[0].strip()


def _unit(cell: str) -> str:
    head = _head(cell)
    match = QUANTITY.fullmatch(head)
    unit = (match["after"] or match["within"] or "") if match else ""
    return unit or ("PF" if FACTOR.search(head) else "")


def _kind(cell: str) -> tuple[str, float] | None:
    return None if BATTERY.search(cell) else UNITS.get(_unit(cell))


def _statistic(cell: str) -> str | None:
    """Which statistic over the interval a series is; an average serves where nothing else does."""
    match = STATISTIC.search(_head(cell))
    return match[0].lower() if match else None


def _rows(lines: Sequence[str], cut: bool, first: int, header: Header, report: Report) -> Rows:
    rows = Rows(cells={name: [] for name in header.series})
    width = len(header.cells)
    events: Counter[str] = Counter()
    blank = misfits = 0
    split_rows = [split(line, SEPARATORS[header.separator]) for line in lines[first:]]
    detailed = any(len(cells) > width and cells[width] == DETAILS for cells in split_rows)
    event_places = [place for place in _others(header) if not _unit(header.cells[place])]
    for number, cells in enumerate(split_rows, first + 1):
        last = cut and number == len(lines)
        stamp = " ".join(cells[p].strip() for p in header.times if p < len(cells)).strip()
        data = {n: cells[p].strip() if p < len(cells) else "" for n, p in header.series.items()}
        extra = [cell for cell in cells[width:] if cell.strip()]
        rows.details += extra if detailed else []
        if not stamp and not any(data.values()):
            blank += 1
            continue
        wide = len(cells) > width and not detailed and (extra or len(cells) != header.width)
        strange = any(cells[p].strip() not in ("", LOGGED) for p in event_places if p < len(cells))
        fits = len(cells) >= width and not wide and not strange
        fault = "cut" if last else "" if fits else "bad-count"
        if not fault and not any(data.values()):
            logged = [header.cells[p] for p in event_places if cells[p].strip()]
            if logged:
                events.update(_head(name) for name in logged)
                continue
        misfits += fault == "bad-count"
        rows.stamps.append(stamp)
        rows.faults.append(fault)
        rows.names.append(f"line {number} ({stamp})")
        for name, cell in data.items():
            rows.cells[name].append("" if fault else cell)
    if misfits > few(len(rows.stamps)):
        report.refuse(
            f"{misfits} of {len(rows.stamps)} rows do not have the {width} cells of the header",
            f"if a {header.separator} is also their decimal mark, export with tabs",
        )
    _tell(header, events, blank, detailed, report)
    return rows


def _others(header: Header) -> list[int]:
    taken = {*header.times, *header.series.values()}
    return [place for place, cell in enumerate(header.cells) if place not in taken and cell != "#"]


def _tell(header: Header, events: Counter[str], blank: int, detailed: bool, report: Report) -> None:
    used = ", ".join(f"{name} from '{_head(header.cells[p])}'" for name, p in header.series.items())
    report.tell(f"Columns are separated by a {header.separator}: {used}.")
    left_out = [_head(header.cells[place]) for place in _others(header)]
    if left_out:
        report.tell(f"Left out: the columns {some(left_out)}.")
    for name, count in events.items():
        report.tell(f"Left out: {count} rows that hold only the event '{name}'.")
    if blank:
        report.tell(f"Left out: {blank} rows without time and data.")
    if detailed:
        report.tell("Left out: the column of details.")
