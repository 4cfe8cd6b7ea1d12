"""`spl.txt`, the log of SPEC's power daemon (PTDaemon) for a power analyzer.

A reading is a line `Time,01-22-2021 15:05:14.313,Watts,22.970000,Volts,227.370000,Amps,0.204340,
PF,0.494400,Mark,LABEL`. If several channels or analyzers are added up, the fields of each follow
(`Ch1,Watts,...` or `Analyzer1,Time,...`). -1 stands for no value. Other lines are messages.
Source: github.com/mlcommons/power-dev, which runs the daemon, reads its log
(ptd_client_server/lib/server.py and its tests, compliance/check.py) and shows dates both month
first (the code) and day first (its README). The time zone is not in the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.readings import NAN, Floats, Readings
from fsgreen.meters.core.settings import FileSettings, GainError, Order
from fsgreen.meters.files import rows as files
from fsgreen.meters.files.checks import Flags, imported, mark_steps
from fsgreen.meters.files.dates import DAY_S, EPOCH, Stamps, decide_times, offset_s, on_utc
from fsgreen.meters.files.numbers import POINT, numbers
from fsgreen.meters.files.rows import mark_unsound, timed
from fsgreen.meters.files.text import Report, decode, some, split_lines

VALUES = r"Watts,([^,]*),Volts,([^,]*),Amps,([^,]*),PF,([^,]*)"
READING = re.compile(
    rf"Time,([^,]*),{VALUES},Mark,([^,]*)"
    rf"((?:,Ch\d+,{VALUES})*|(?:,Analyzer\d+,Time,[^,]*,{VALUES},Mark,[^,]*)*)"
)
PART = re.compile(r",(?:Ch\d+|Analyzer\d+,Time,[^,]*),Watts,([^,]*)")
BEGUN = re.compile(r"Time,([^,]*),Watts,")
MARK_DATE = re.compile(r"(?<!\d)(20\d\d)-(\d\d)-(\d\d)(?!\d)")
NO_VALUE = re.compile(r"-[12](?:\.0*)?|-?nan|-?inf", re.IGNORECASE)
"""-1: the value was not asked for, or there is none yet; -2: the analyzer gave no value."""

QUANTITIES = ("power", "voltage", "current", "factor")
GAIN_ERROR = 0.01
"""SPEC accepts no reading with a higher uncertainty (compliance/check.py: "above 1.00% limit")."""

MARGIN_W = 0.3
SUM_AGREEMENT = 0.01


@dataclass
class Log(files.Rows):
    """The readings of a log, the power of each channel or analyzer in them, and their marks."""

    parts: list[list[str]] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)


class PtdaemonSettings(FileSettings):
    """The settings of a log."""

    dates: Order = ""
    mark: str = ""
    """Keep only the readings with this mark."""
    gmt_offset: str = ""
    model: str = "power analyzer"
    gain_error: GainError = GAIN_ERROR


def read(data: bytes, settings: PtdaemonSettings) -> Imported:
    """Read a log; see docs/meters/ptdaemon.md for the settings.

    Raises FsgreenError if the file is not from the daemon, if its dates are ambiguous or contradict
    a setting, or if its times go back.
    """
    report = Report(settings.name)
    range_w = settings.range_w or float("inf")
    rows = _rows(decode(data, report), settings.mark, report)
    about_s = _about_s(rows.marks)
    times_s = decide_times(Stamps.of(rows.stamps), settings.dates, report, about_s=about_s)
    shift_s = offset_s(set(), settings.gmt_offset, report)
    found = timed(rows, times_s, report, skipped=_unanswered(rows, times_s, report))

    flags = Flags()
    columns = files.columns(rows, found.kept, flags, report)
    mark_unsound(columns, range_w, MARGIN_W, flags)
    _check_sum(columns["power"].values, [rows.parts[place] for place in found.kept], flags)
    mark_steps(found.time_s, found.usual_s, flags)
    readings = Readings(
        time_s=on_utc(found.time_s, shift_s, report),
        power_w=columns["power"].values,
        voltage_v=columns["voltage"].values,
        current_a=columns["current"].values,
    )
    info = settings.info(
        boundary=settings.boundary or "wall",
        rate_hz=1 / found.usual_s,
        range_w=range_w,
        resolution_w=columns["power"].step,
        source="settings; 1 % is the uncertainty up to which SPEC accepts a reading",
    )
    return imported(info, readings, flags, report, rows.name_of(found.kept))


def _rows(text: str, mark: str, report: Report) -> Log:
    lines, cut = split_lines(text)
    rows = Log(cells={name: [] for name in QUANTITIES}, ends_cut=cut)
    messages = unmarked = 0
    for number, line in enumerate(lines, 1):
        last = cut and number == len(lines)
        whole = READING.fullmatch(line.rstrip())
        begun = whole or BEGUN.match(line)
        if begun is None:
            messages += bool(line.strip())
        elif mark and whole and whole[6] != mark:
            unmarked += 1
        else:
            values = [_known(text) for text in whole.groups()[1:5]] if whole else []
            fault = "cut" if last else "" if whole else "bad-count"
            rows.add(number, begun[1], dict(zip(QUANTITIES, values, strict=False)), fault)
            rows.parts.append(PART.findall(whole[7] or "") if whole and not last else [])
            rows.marks.append(whole[6] if whole else "")
    if not any(not fault for fault in rows.faults):
        what = f"no reading has the mark {mark}" if unmarked else "this is no log of PTDaemon"
        report.refuse(
            f"{what}: no line such as Time,01-22-2021 15:05:14.313,Watts,...",
            "give spl.txt, the log of readings, not ptd_logs.txt",
        )
    if unmarked:
        report.tell(f"{unmarked} readings with another mark than {mark} were left out.")
    elif len(marks := sorted(set(rows.marks) - {""})) > 1:
        report.tell(f"The log holds several measurements, marked {some(marks)}.")
    if messages:
        report.tell(f"{messages} lines are no readings and were left out.")
    return rows


def _about_s(marks: list[str]) -> Floats | None:
    """Return the days in marks such as 2021-01-22_15-05-02_ranging; None if no mark has one."""
    days = {}
    for mark in set(marks):
        day = MARK_DATE.search(mark)
        try:
            days[mark] = DAY_S * (date(*map(int, day.groups())).toordinal() - EPOCH) if day else NAN
        except ValueError:
            days[mark] = NAN
    about_s = np.array([days[mark] for mark in marks]) + DAY_S / 2
    return about_s if np.isfinite(about_s).any() else None


def _known(text: str) -> str:
    return "" if NO_VALUE.fullmatch(text.strip()) else text


def _unanswered(rows: Log, time_s: Floats, report: Report) -> set[int]:
    """Return the lines without power whose time is not after the previous line's.

    The daemon writes such a line if the analyzer did not answer. The gap marks the next reading.
    """
    latest_s, found = -np.inf, set()
    for place, now_s in enumerate(time_s):
        if now_s <= latest_s and not rows.cells["power"][place] and not rows.faults[place]:
            found.add(place)
        elif np.isfinite(now_s):
            latest_s = now_s
    if found:
        report.tell(f"{len(found)} lines without an answer and without a time were left out.")
    return found


def _check_sum(power_w: Floats, parts: Sequence[Sequence[str]], flags: Flags) -> None:
    """Mark a power that is not the sum of its channels or analyzers, or lacks one of them.

    A channel that never has a value is off. If a channel lacks a value only sometimes, it was left
    out of the sum then.
    """
    count = max(map(len, parts))
    parts_w = np.full((len(parts), count), NAN)
    for place, cells in enumerate(parts):
        parts_w[place, : len(cells)], _ = numbers([_known(cell) for cell in cells], POINT)
    known = np.isfinite(parts_w)
    sum_w = np.where(known.any(axis=1), np.nansum(np.abs(parts_w), axis=1), NAN)
    flags.mark(np.abs(power_w - sum_w) > SUM_AGREEMENT * np.abs(sum_w), "inconsistent")
    lacking = (known.any(axis=0) & ~known).any(axis=1)
    flags.mark(lacking & np.isfinite(power_w), "missing")


IMPORTER = Importer(
    name="ptdaemon",
    summary="spl.txt, the log of SPEC's PTDaemon for a power analyzer",
    settings=PtdaemonSettings,
    read=read,
)
