"""`spl.txt`, the log of SPEC's power daemon (PTDaemon) for a power analyzer.

A reading is a line `Time,01-22-2021 15:05:14.313,Watts,22.970000,Volts,227.370000,Amps,0.204340,
PF,0.494400,Mark,LABEL`, with the fields of each channel (`Ch1,Watts,...`) or analyzer
(`Analyzer1,Time,...`) after it where several are added up; -1 says that there is no value. Other
lines are messages. Source: github.com/mlcommons/power-dev, which runs the daemon, reads its log
(ptd_client_server/lib/server.py and its tests, compliance/check.py) and shows dates both month
first (the code) and day first (its README). The time zone is not in the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.readings import NAN, Floats, Readings
from fsgreen.meters.core.settings import Settings
from fsgreen.meters.files.checks import (
    Flags,
    disagree,
    imported,
    interval_s,
    mark_steps,
    refuse_disorder,
    timed_rows,
)
from fsgreen.meters.files.dates import (
    DAY_S,
    EPOCH,
    ORDERS,
    Stamps,
    decide_times,
    offset_s,
    on_utc,
)
from fsgreen.meters.files.numbers import POINT, UNREAD, numbers, unusual
from fsgreen.meters.files.text import Report, decode, some, split_lines
from fsgreen.trace import MeterInfo

VALUES = r"Watts,([^,]*),Volts,([^,]*),Amps,([^,]*),PF,([^,]*)"
READING = re.compile(
    rf"Time,([^,]*),{VALUES},Mark,([^,]*)"
    rf"((?:,Ch\d+,{VALUES})*|(?:,Analyzer\d+,Time,[^,]*,{VALUES},Mark,[^,]*)*)"
)
PART = re.compile(r",(?:Ch\d+|Analyzer\d+,Time,[^,]*),Watts,([^,]*)")
BEGUN = re.compile(r"Time,([^,]*),Watts,")
MARK_DATE = re.compile(r"(?<!\d)(20\d\d)-(\d\d)-(\d\d)(?!\d)")
NO_VALUE = -1.0
GAIN_ERROR = 0.01
"""SPEC accepts no reading of more uncertainty (compliance/check.py: "above 1.00% limit")."""

MARGIN_W = 0.3
SUM_AGREEMENT = 0.01


@dataclass
class Rows:
    """The readings of a log as text."""

    stamps: list[str] = field(default_factory=list)
    cells: dict[str, list[str]] = field(
        default_factory=lambda: {"power": [], "voltage": [], "current": [], "factor": []}
    )
    parts: list[list[str]] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def add(self, number: int, stamp: str, values: tuple[str, ...], mark: str, tail: str) -> None:
        """Add a line; one without values is damaged."""
        self.stamps.append(stamp)
        for cells, value in zip(self.cells.values(), values or ("",) * 4, strict=True):
            cells.append(value)
        self.parts.append(PART.findall(tail))
        self.marks.append(mark)
        self.faults.append("" if values else "bad-count")
        self.names.append(f"line {number} ({stamp})")


def read(data: bytes, settings: Settings) -> Imported:
    """Read a log; see docs/meters/ptdaemon.md for the settings.

    Raises FsgreenError on a file that is none of the daemon's, whose dates stay ambiguous or
    contradict a setting, or whose times go back.
    """
    report = Report(settings.name)
    order, mark = settings.choice("dates", ["", *ORDERS], ""), settings.text("mark", "")
    offset = settings.text("gmt_offset", "")
    model, serial = settings.text("model", "power analyzer"), settings.text("serial", "?")
    range_w = settings.number("range_w", 0.0)
    gain = settings.number("gain_error", GAIN_ERROR)
    constant_w = settings.number("constant_error_w", 0.0)
    boundary, covers = settings.boundary("wall"), settings.texts("covers", ("system",))
    settings.finish()

    rows = _rows(decode(data, report), mark, report)
    about_s = _about_s(rows.marks)
    times_s = decide_times(Stamps.of(rows.stamps), order, report, about_s=about_s)
    shift_s = offset_s(set(), offset, report)
    texts = list(zip(rows.faults, rows.marks, *rows.cells.values(), strict=True))
    kept = timed_rows(times_s, texts, rows.names, report)
    time_s = times_s[kept]
    refuse_disorder(time_s, lambda n: rows.names[kept[n]], report)
    usual_s = float(f"{interval_s(time_s, report):.2g}")

    flags = Flags()
    flags.mark(np.array([rows.faults[place] == "cut" for place in kept]), "cut")
    flags.mark(np.array([rows.faults[place] == "bad-count" for place in kept]), "bad-count")
    read_columns = {
        name: _values(name, [cells[place] for place in kept], flags, report)
        for name, cells in rows.cells.items()
    }
    columns = {name: values for name, (values, _) in read_columns.items()}
    _check(columns, [rows.parts[place] for place in kept], range_w, flags)
    mark_steps(time_s, usual_s, flags)
    readings = Readings(
        time_s=on_utc(time_s, shift_s, report),
        power_w=columns["power"],
        voltage_v=columns["voltage"],
        current_a=columns["current"],
    )
    info = MeterInfo(
        driver="ptdaemon",
        model=model,
        serial=serial,
        boundary=boundary,
        covers=covers,
        rate_hz=1 / usual_s,
        range_w=range_w or float("inf"),
        resolution_w=read_columns["power"][1],
        gain_error=gain,
        constant_error_w=constant_w,
        source="settings; 1 % is the uncertainty up to which SPEC accepts a reading",
    )
    return imported(info, readings, flags, report)


def _rows(text: str, mark: str, report: Report) -> Rows:
    rows = Rows()
    messages = unmarked = 0
    lines, cut = split_lines(text)
    for number, line in enumerate(lines, 1):
        last = cut and number == len(lines)
        whole = READING.fullmatch(line.rstrip())
        begun = whole or BEGUN.match(line)
        if begun is None:
            messages += bool(line.strip())
        elif mark and whole and whole[6] != mark:
            unmarked += 1
        elif whole and not last:
            rows.add(number, whole[1], whole.groups()[1:5], whole[6], whole[7] or "")
        else:
            rows.add(number, begun[1], (), "", "")
            rows.faults[-1] = "cut" if last else "bad-count"
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
    """The days that marks such as 2021-01-22_15-05-02_ranging name; None if none does."""
    days = {}
    for mark in set(marks):
        day = MARK_DATE.search(mark)
        try:
            days[mark] = DAY_S * (date(*map(int, day.groups())).toordinal() - EPOCH) if day else NAN
        except ValueError:
            days[mark] = NAN
    about_s = np.array([days[mark] for mark in marks]) + DAY_S / 2
    return about_s if np.isfinite(about_s).any() else None


def _values(name: str, cells: list[str], flags: Flags, report: Report) -> tuple[Floats, float]:
    """Return a column, NaN where the log gives no value or no sound one, and its last step."""
    values, decimals = numbers(cells, POINT)
    unknown = np.array([cell.strip().lower() in ("nan", "-nan", "inf", "-inf") for cell in cells])
    blank = np.array([not cell for cell in cells])
    bad = (decimals == UNREAD) & ~unknown & ~blank | unusual(decimals, name, report)
    absent = unknown | (values == NO_VALUE)
    values[bad | absent] = NAN
    flags.mark(bad, "bad-number")
    if name == "power":
        flags.mark(absent, "missing")
    seen = decimals[decimals != UNREAD]
    return values, 10.0 ** -int(np.bincount(seen).argmax()) if len(seen) else NAN


def _check(
    columns: dict[str, Floats], parts: list[list[str]], range_w: float, flags: Flags
) -> None:
    power_w = columns["power"]
    apparent_va = columns["voltage"] * columns["current"]
    flags.mark(power_w < 0, "negative")
    if range_w:
        flags.mark(power_w > range_w, "over-range")
    product_w = apparent_va * columns["factor"]
    flags.mark(disagree(power_w, product_w, apparent_va, MARGIN_W), "inconsistent")
    whole_w = np.array([_sum_w(cells) for cells in parts])
    flags.mark(np.abs(power_w - whole_w) > SUM_AGREEMENT * np.abs(whole_w), "inconsistent")


def _sum_w(cells: list[str]) -> float:
    """The power of channels or analyzers together, those that are off left out; NaN for none."""
    if not cells:
        return NAN
    values, _ = numbers(cells, POINT)
    return float(np.abs(values[values != NO_VALUE]).sum())


IMPORTER = Importer(
    name="ptdaemon",
    summary="spl.txt, the log of SPEC's PTDaemon for a power analyzer",
    read=read,
)
