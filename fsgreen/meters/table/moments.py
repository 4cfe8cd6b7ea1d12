"""The moments of a table's rows.

Times are numbers, dates, times of day, or one interval. Rows of one moment are added up, such as
one row for each processor, socket or counter. If power is written only when it changes, it is
turned into means at even times.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

import numpy as np

from fsgreen.meters.core.readings import NAN, Floats
from fsgreen.meters.files.checks import Flags
from fsgreen.meters.files.dates import DAY_S, OFFSET, UNIX_S, Stamps, decide_times, offset_s, on_utc
from fsgreen.meters.files.numbers import POINT
from fsgreen.meters.files.rows import Column, Rows
from fsgreen.meters.files.text import Report, some
from fsgreen.meters.table.declared import FIRST, INSIDE, TIME_UNITS, Shape, TableSettings
from fsgreen.meters.table.lines import Cells, quantity_cells

NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,12})?")
ZONE = re.compile(r"(?<=\d) ?(Z|UTC|[+-]\d\d:?\d\d)$")
CLOCK = re.compile(r"\d{1,2}:\d\d:\d\d(?:\.\d+)?")
GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")

ROUNDING = 1e-6
"""The share of a step by which a sum of steps may be off."""


def row_times(rows: Rows, settings: TableSettings, report: Report) -> Floats:
    """Return the time of each row: since 1970 UTC if the file says so, else from some beginning.

    A time that cannot be read is NaN. Raises FsgreenError if dates can be read in two ways.
    """
    if not settings.time:
        report.tell(
            f"Rows have no time: one every {settings.interval_s:g} s, as if none were missing."
        )
        return settings.interval_s * np.arange(len(rows.stamps), dtype=float)
    if settings.time_unit != "date":
        values = [float(t) if NUMBER.fullmatch(t) else NAN for t in rows.stamps]
        time_s = TIME_UNITS[settings.time_unit] * np.array(values)
        dated = np.nanmax(time_s, initial=0.0) > UNIX_S
        report.tell(
            "Times are since 1970 UTC."
            if dated
            else "Times count from some beginning, without a date."
        )
        return time_s
    zones = [ZONE.search(stamp) for stamp in rows.stamps]
    texts = [ZONE.sub("", stamp).replace("T", " ").strip() for stamp in rows.stamps]
    if sum(bool(CLOCK.fullmatch(text)) for text in texts) > len(texts) / 2:
        return _of_day(texts, report)
    time_s = decide_times(Stamps.of(texts), settings.dates, report)
    if any(zones):
        shifts_s = np.array([NAN if zone is None else _zone_s(zone[1]) for zone in zones])
        wanted_s = offset_s(set(), settings.gmt_offset, report)
        if wanted_s is not None and (shifts_s[np.isfinite(shifts_s)] != wanted_s).any():
            report.refuse(
                f"gmt_offset = {settings.gmt_offset} contradicts the offsets that the times have",
                "leave gmt_offset out",
            )
        report.tell("Times are in UTC, by the offset of each.")
        return time_s - shifts_s
    return on_utc(time_s, offset_s(set(), settings.gmt_offset, report), report)


def _zone_s(text: str) -> float:
    match = OFFSET.fullmatch(text)
    if match is None:
        return 0.0
    size_s = int(match[2]) * 3600 + int(match[3]) * 60
    return float(-size_s if match[1] == "-" else size_s)


def _of_day(texts: list[str], report: Report) -> Floats:
    """Return the seconds since the first row, from times of day, which restart at midnight."""
    second_s = Stamps.of([f"2000-01-01 {text}" for text in texts]).second_s
    known = np.flatnonzero(np.isfinite(second_s))
    nights = np.diff(second_s[known], prepend=second_s[known][:1]) < -DAY_S / 2
    second_s[known] += DAY_S * np.cumsum(nights)
    report.tell("Times are of the day, without a date: they count from the first row.")
    return second_s - second_s[known[0]] if len(known) else second_s


SUMS = ("-", "all", "sum", "total")
"""The names that programs give to a row with the sum of the others; `-` is turbostat's."""


def added(
    rows: Rows, cells: Sequence[Cells], shape: Shape, report: Report
) -> tuple[Rows, list[Cells]]:
    """Return one row for each moment, with the sum over the parts in the column `together`.

    Parts that another part contains are left out. A moment has no value if it lacks a part, or if a
    part has no number. A new moment begins when the parts start again from the first, because some
    programs give each part a stamp of its own. Refuses numbers in which a comma may be a decimal
    mark, and a part whose name says that it is the sum of the others.
    """
    together = shape.settings.together
    parts = Counter(row[together] for row in cells if together in row)
    most = max(parts.values(), default=0)
    usual = [part for part, count in parts.items() if count > most / 2]
    contained = _contained(list(parts), usual, shape.settings.inside)
    for part, whole in contained.items():
        report.tell(f"Left out: {part}, as {whole} contains it.")
    usual = [part for part in usual if part not in contained]
    for part in usual if len(usual) > 1 else []:
        if part.lower() in SUMS:
            report.refuse(
                f"{part} of {together} is the sum of the others by its name, and would count twice",
                f"""take it alone, without `together`: --set 'only=["{together}={part}"]'""",
            )
    report.tell(f"Added up over {together}: {some(usual)}.")
    groups: list[list[int]] = []
    last = len(usual)
    for place, row in enumerate(cells):
        part = row.get(together, "")
        if part in contained:
            continue
        nth = usual.index(part) if part in usual else last + 1
        if nth <= last:
            groups.append([])
        groups[-1].append(place) if groups else groups.append([place])
        last = nth
    names = [n for q in FIRST if q in shape.wanted for n in shape.wanted[q].names]
    commas = [row[name] for row in cells for name in names if "," in row.get(name, "")]
    if commas and shape.settings.numbers != POINT:
        report.refuse(
            f"the comma of {commas[0]} may be a decimal mark, and numbers are added with a point",
            f'export numbers as {POINT}, and set numbers = "{POINT}" where commas group thousands',
        )
    moments = Rows(ends_cut=rows.ends_cut)
    sums: list[Cells] = []
    for places in groups:
        there = [cells[place].get(together, "") for place in places]
        faults = [rows.faults[place] for place in places if rows.faults[place]]
        complete = there == usual and not faults
        moments.stamps.append(rows.stamps[places[0]])
        moments.names.append(rows.names[places[0]])
        moments.faults.append("" if complete else (faults or ["bad-count"])[0])
        of_time = {n: v for n, v in cells[places[0]].items() if n not in names}
        total = {name: _sum([cells[p] for p in places], name, shape) for name in names}
        sums.append({**of_time, **total})
    return moments, sums


def _contained(parts: Sequence[str], wholes: Sequence[str], rules: Sequence[str]) -> dict[str, str]:
    """Return each part that one of `wholes` contains, and the whole that contains it."""
    pairs = [rule.split(INSIDE) for rule in rules]
    return {
        part: whole
        for inner, outer in pairs
        for part in parts
        for whole in wholes
        if inner in part and outer in whole
    }


def _sum(cells: Sequence[Cells], name: str, shape: Shape) -> str:
    """Return the sum of a column as text; empty if one part has no number."""
    selected = next(s for s in shape.wanted.values() if name in s.names)
    texts = quantity_cells(cells, selected)[selected.names.index(name)]
    if shape.settings.numbers == POINT:
        texts = [text.replace(",", "") if GROUPED.fullmatch(text) else text for text in texts]
    try:
        return f"{sum((Decimal(text) for text in texts), Decimal(0)):f}"
    except InvalidOperation:
        return ""


def held(
    time_s: Floats, columns: dict[str, Column], flags: Flags, step_s: float, report: Report
) -> tuple[Floats, dict[str, Column], Flags]:
    """Return even times, and the mean power of each step, if power holds until its next change.

    A step has no power if the power is unknown for a part of the step. It gets the flags of the
    changes in it. Time after the last whole step is left out.
    """
    power = columns["power"]
    steps_count = int((time_s[-1] - time_s[0]) / step_s + ROUNDING)
    if steps_count < 1:
        report.refuse(
            f"the changes span {time_s[-1] - time_s[0]:g} s, and one mean takes {step_s:g} s",
            "set held_s to fewer seconds, or give a longer log",
        )
    grid_s = time_s[0] + step_s * np.arange(steps_count + 1)
    lasted_s = np.diff(time_s)
    known = np.isfinite(power.values[:-1])
    joules = np.append(0.0, np.cumsum(np.where(known, power.values[:-1], 0.0) * lasted_s))
    unknown_s = np.append(0.0, np.cumsum(np.where(known, 0.0, lasted_s)))
    power_w = np.diff(np.interp(grid_s, time_s, joules), prepend=NAN) / step_s
    power_w[0] = power.values[0]
    power_w[np.diff(np.interp(grid_s, time_s, unknown_s), prepend=0.0) > 0] = NAN
    ends = np.searchsorted(grid_s, time_s).clip(max=len(grid_s) - 1)
    moved = Flags()
    for flag, mask in flags.masks.items():
        places = np.zeros(len(grid_s), dtype=bool)
        places[ends[mask]] = True
        moved.mark(places, flag)
    report.tell(
        f"Power is written where it changes: it is held until the next change, as means of "
        f"{step_s:g} s."
    )
    return grid_s, {"power": Column(power_w, power.step)}, moved
