"""When the rows of a table were taken: numbers, dates, times of day, or one interval."""

from __future__ import annotations

import re

import numpy as np

from fsgreen.meters.core.readings import NAN, Floats
from fsgreen.meters.files.dates import DAY_S, OFFSET, Stamps, decide_times, offset_s, on_utc
from fsgreen.meters.files.rows import Rows
from fsgreen.meters.files.text import Report
from fsgreen.meters.table.declared import TIME_UNITS, TableSettings

NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,12})?")
ZONE = re.compile(r"(?<=\d) ?(Z|UTC|[+-]\d\d:?\d\d)$")
CLOCK = re.compile(r"\d{1,2}:\d\d:\d\d(?:\.\d+)?")
UNIX_S = 1e8
"""Times above are seconds since 1970 UTC; those below count from some beginning."""


def row_times(rows: Rows, settings: TableSettings, report: Report) -> Floats:
    """Return the time of each row: since 1970 UTC where the file says so, else since the first.

    NaN where it cannot be read; raises FsgreenError where dates can be read in two ways.
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
        shifts_s = [NAN if zone is None else _zone_s(zone[1]) for zone in zones]
        report.tell("Times are in UTC, by the offset of each.")
        return time_s - np.array(shifts_s)
    return on_utc(time_s, offset_s(set(), settings.gmt_offset, report), report)


def _zone_s(text: str) -> float:
    match = OFFSET.fullmatch(text)
    if match is None:
        return 0.0
    size_s = int(match[2]) * 3600 + int(match[3]) * 60
    return float(-size_s if match[1] == "-" else size_s)


def _of_day(texts: list[str], report: Report) -> Floats:
    """Return seconds since the first row of times of day, which begin anew at midnight."""
    second_s = Stamps.of([f"2000-01-01 {text}" for text in texts]).second_s
    known = np.flatnonzero(np.isfinite(second_s))
    nights = np.diff(second_s[known], prepend=second_s[known][:1]) < -DAY_S / 2
    second_s[known] += DAY_S * np.cumsum(nights)
    report.tell("Times are of the day, without a date: they count from the first row.")
    return second_s - second_s[known[0]] if len(known) else second_s
