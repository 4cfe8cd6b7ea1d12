"""Read the layout of a HOBOware CSV: separator, columns by their header, rows, events, details."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fsgreen.meters.files.rows import Rows
from fsgreen.meters.files.text import SEPARATORS, Report, few, some, split, split_lines

HEADER_WITHIN = 5
"""The header is in these lines: only a title and blank lines may stand before it."""

TITLE = re.compile(r'"?Plot Title:', re.IGNORECASE)
TIME = re.compile(r"(?P<what>Date Time|Time)(?:, GMT *(?P<offset>\S+))?")
PROPERTIES = re.compile(r"\s*\(?\s*(?:LGR S/N|SEN S/N|LBL)\b|\s+#\d|\s+c:\d")
UNIT = re.compile(r"[^,(]+?\s*(?:,\s*(\S+)|\((\S+)\))")
CONTINUED = re.compile(r"\s*#\d+\s*")
"""A serial number whose header cell has no quotes, so that it was cut off at a comma."""

SERIAL = re.compile(r"LGR S/N:\s*(\w+)|#(\d+)")
LABEL = re.compile(r"LBL:\s*([^,)]+)")
STATISTIC = re.compile(r"\b(?:max|min|avg|std ?dev)\b", re.IGNORECASE)
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
    """A header: its cells without the details, and the places of times and of each quantity.

    `width` includes blank cells at its end, which a spreadsheet puts above the details.
    """

    separator: str
    width: int
    cells: tuple[str, ...]
    times: tuple[int, ...]
    series: Mapping[str, int]

    @property
    def units(self) -> dict[str, float]:
        """The size of each series' unit in W, V, A, Wh or VA."""
        return {name: UNITS[_unit(self.cells[at])][1] for name, at in self.series.items()}

    @property
    def offset(self) -> set[str]:
        """The offset from GMT in the time's cell; empty if it names none."""
        match = TIME.fullmatch(self.cells[self.times[-1]])
        return {match["offset"]} - {None} if match else set()

    def found(self, pattern: re.Pattern[str]) -> list[str]:
        """Return the different texts that a pattern finds in the cells."""
        matches = [match for cell in self.cells if (match := pattern.search(cell))]
        return sorted({next(filter(None, match.groups())).strip() for match in matches})

    def others(self) -> list[int]:
        """Return the places of the columns that are neither times nor series."""
        taken = {*self.times, *self.series.values()}
        return [at for at, cell in enumerate(self.cells) if at not in taken and cell != "#"]


@dataclass
class Table(Rows):
    """The rows of a file, and its column of details."""

    details: list[str] = field(default_factory=list)


def layout(text: str, separator: str, report: Report) -> tuple[Header, Table]:
    """Return the header and the rows of a file; `separator` is a setting or "".

    Raises FsgreenError if there is no HOBOware header with a time and a power, or if more than a
    few rows do not fit the header.
    """
    lines, cut = split_lines(text)
    place, header = _header(lines, separator, report)
    return header, _rows(lines, cut, place + 1, header, report)


def _header(lines: Sequence[str], separator: str, report: Report) -> tuple[int, Header]:
    found = []
    for place, line in enumerate(lines[:HEADER_WITHIN]):
        found = [
            (place, header)
            for name, mark in SEPARATORS.items()
            if mark in line and (header := _columns(split(line, mark), name, report)) is not None
        ]
        if found or (line.strip(' ,;\t"') and not TITLE.match(line)):
            break
    if not found:
        report.refuse(
            "this is no HOBOware export: no header with a Date Time column and a series in W",
            "export it from HOBOware as CSV, with the active power; another program's table is "
            "read by --driver table",
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
    """Return a header, or None if these cells are none; refuses two series of one quantity."""
    for place in reversed(range(1, len(cells))):
        if CONTINUED.fullmatch(cells[place]) and PROPERTIES.search(cells[place - 1]):
            cells[place - 1 : place + 1] = [",".join(cells[place - 1 : place + 1])]
    cells = [cell.strip() for cell in cells]
    width = len(cells)
    if DETAILS in cells:
        cells = cells[: cells.index(DETAILS)]
    while cells and not cells[-1]:
        cells.pop()
    clocks = {place: m["what"] for place, cell in enumerate(cells) if (m := TIME.fullmatch(cell))}
    dates = [place for place, cell in enumerate(cells) if cell == "Date"]
    if list(clocks.values()) != ["Time" if dates else "Date Time"] or len(dates) > 1:
        return None
    plain, averages = _series(cells, ""), _series(cells, "avg")
    series = averages | plain
    for name, places in series.items():
        if len(places) > 1:
            report.refuse(
                f"{len(places)} series may be the {name}: " + "; ".join(cells[p] for p in places),
                "export one series of each quantity",
            )
    if "power" not in series:
        return None
    only = {name: places[0] for name, places in series.items()}
    return Header(separator, width, tuple(cells), (*dates, *clocks), only)


def _series(cells: Sequence[str], statistic: str) -> dict[str, list[int]]:
    """Return the places of each quantity, as a plain value or as a statistic of the interval."""
    series: dict[str, list[int]] = {}
    for place, cell in enumerate(cells):
        match = STATISTIC.search(_head(cell))
        unit = "" if BATTERY.search(cell) else _unit(cell)
        if unit in UNITS and (match[0].lower() if match else "") == statistic:
            series.setdefault(UNITS[unit][0], []).append(place)
    return series


def _head(cell: str) -> str:
    """Return a header cell without serial numbers and label."""
    return PROPERTIES.split(cell, maxsplit=1)[0].strip()


def _unit(cell: str) -> str:
    head = _head(cell)
    match = UNIT.fullmatch(head)
    return (match[1] or match[2] if match else "") or ("PF" if FACTOR.search(head) else "")


def _rows(lines: Sequence[str], cut: bool, first: int, header: Header, report: Report) -> Table:
    rows = Table(cells={name: [] for name in header.series}, ends_cut=cut)
    width = len(header.cells)
    events: Counter[str] = Counter()
    blank = 0
    split_rows = [split(line, SEPARATORS[header.separator]) for line in lines[first:]]
    detailed = any(len(cells) > width and cells[width] == DETAILS for cells in split_rows)
    event_places = [place for place in header.others() if not _unit(header.cells[place])]
    for number, cells in enumerate(split_rows, first + 1):
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
        fault = "cut" if cut and number == len(lines) else "" if fits else "bad-count"
        if not fault and not any(data.values()):
            logged = [header.cells[p] for p in event_places if cells[p].strip()]
            if logged:
                events.update(_head(name) for name in logged)
                continue
        rows.add(number, stamp, data, fault)
    if (misfits := rows.faults.count("bad-count")) > few(len(rows.stamps)):
        report.refuse(
            f"{misfits} of {len(rows.stamps)} rows do not have the {width} cells of the header",
            f"if a {header.separator} is also their decimal mark, export with tabs",
        )
    used = ", ".join(f"{name} from '{_head(header.cells[p])}'" for name, p in header.series.items())
    report.tell(f"Columns are separated by a {header.separator}: {used}.")
    if left_out := [_head(header.cells[place]) for place in header.others()]:
        report.tell(f"Left out: the columns {some(left_out)}.")
    for name, count in events.items():
        report.tell(f"Left out: {count} rows that hold only the event '{name}'.")
    if blank:
        report.tell(f"Left out: {blank} rows without time and data.")
    if detailed:
        report.tell("Left out: the column of details.")
    return rows
