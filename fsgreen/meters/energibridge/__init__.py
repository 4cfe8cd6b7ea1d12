"""CSV of EnergiBridge 0.0.7 and later: its recording of a command.

The header is `Delta,Time,...`, then the other columns, sorted by name. Each line stands for one
interval. `Time` is the system clock in ms since 1970 UTC when the line's values were taken; `Delta`
is the time in ms until the line was written, and the next line's values were taken. The columns are
power in W (`CPU_POWER (Watts)`, `SYSTEM_POWER (Watts)`: Apple's SMC), or counters in J
(`PACKAGE_ENERGY (J)`: Intel, `CPU_ENERGY (J)`: AMD), which are a 32-bit register times a power of
two. The first line is taken at nearly the time of the second.
Source: github.com/tdurieux/EnergiBridge, src/main.rs, src/cpu/*.rs and its history: before 0.0.7
(commit f5578cd) counters of Intel were scaled wrongly; before 0.0.5 the column of the package was
spelt PACAKGE_ENERGY, and before 0.0.3 energy was labelled (W). These are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.readings import NAN, Floats, Readings
from fsgreen.meters.core.settings import Above0, FileSettings, Texts
from fsgreen.meters.files.checks import Flags, imported, mark_steps
from fsgreen.meters.files.rows import Rows, mark_faults, mark_repeats, timed
from fsgreen.meters.files.text import Report, decode, few, some, split_lines
from fsgreen.trace import Boundary, MeterInfo
from fsgreen.units import JOULES_PER_WH

HEADER = re.compile(r"Delta([^\w\s]|\t| )Time\1.+")
NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{1,40})?")
WHOLE = re.compile(r"\d{1,15}")
DEFAULTS = (
    "CPU_POWER (Watts)",
    "SYSTEM_POWER (Watts)",
    "CPU_ENERGY (J)",
    "PACKAGE_ENERGY (J)",
)
"""Power is taken from the first of these that exists: the order of EnergiBridge's --summary."""

UNITS = {"(Watts)": 1.0, "(mWatts)": 1e-3, "(J)": 1.0}
OLD = re.compile(r"PACAKGE|_ENERGY \(W\)")
WITHIN = {
    "PACKAGE_ENERGY (J)": re.compile(r"PP[01]_ENERGY"),
    "CPU_ENERGY (J)": re.compile(r"CORE\d*_ENERGY"),
    "SYSTEM_POWER (Watts)": re.compile(r"."),
}
"""Columns that are part of the named one, and would count twice."""

REGISTER_BITS = 32
MOST_BITS = 31
"""The energy unit is 2**-n J, and n has five bits (Intel SDM vol. 3B, 15.10.1)."""

RANGE_W = 1000.0


@dataclass(frozen=True)
class Recording:
    """All kept rows of a file, with their flags.

    The first of the `readings` of counters has an energy, but no power. After `wrap_j` joules, a
    counter may restart at 0 (infinite for power).
    """

    info: MeterInfo
    readings: Readings
    flags: Flags
    wrap_j: float
    name: Callable[[int], str]
    """Name the place of a reading in the file."""


class EnergiBridgeSettings(FileSettings):
    """The settings of a file."""

    columns: Texts = ()
    """The columns of power or energy to add; by default as EnergiBridge's summary."""
    model: str = "EnergiBridge"
    covers: Texts = ("cpu",)
    range_w: Above0 = RANGE_W


def read(data: bytes, settings: EnergiBridgeSettings) -> Imported:
    """Read a file; see docs/meters/energibridge.md for the settings.

    Raises FsgreenError as `recording` does.
    """
    report = Report(settings.name)
    found = recording(data, settings, report)
    readings, flags = found.readings, found.flags
    if readings.energy_wh is not None:
        report.tell("The first answer of a counter has no power of its own: it has the next one's.")
        readings.power_w[0] = readings.power_w[1]
    flags.mark(np.isnan(readings.power_w) & ~flags.any(len(readings)), "missing")
    means = readings.energy_wh is not None
    return imported(found.info, readings, flags, report, found.name, means=means)


def recording(data: bytes, settings: EnergiBridgeSettings, report: Report) -> Recording:
    """Read the rows of a file.

    Raises FsgreenError if the file is not from EnergiBridge, or from a version that wrote wrong
    numbers, and if columns are missing, count twice, or mix power with counters.
    """
    lines, cut = split_lines(decode(data, report))
    separator, header = _header(lines, report)
    columns = _columns(header, settings.columns, report)
    whole_system = any(name.startswith("SYSTEM") for name in columns)
    default: Boundary = "dc-rail" if whole_system else "cpu"

    rows = _rows(lines, cut, separator, header, report)
    all_s = np.array([_number(text, WHOLE) for text in rows.stamps]) / 1000
    found = timed(rows, all_s, report, skipped=_doubled(all_s, report))
    kept, time_s, usual_s = found.kept, found.time_s, found.usual_s

    flags = Flags()
    mark_faults(rows, kept, flags)
    mark_repeats(rows, kept, flags)
    wait_s = np.array([_number(rows.cells["Delta"][n], WHOLE) for n in kept]) / 1000
    astray_s = np.abs(np.diff(time_s) - wait_s[:-1])
    flags.mark(np.concatenate(([False], ~(astray_s <= usual_s / 2))), "lost")
    mark_steps(time_s, usual_s, flags)
    total: Floats = np.zeros(len(kept))
    counters = columns[0].endswith("(J)")
    wrap_j = math.inf
    for name in columns:
        values = _values(rows, kept, name, flags) * UNITS[name.split()[-1]]
        if counters:
            most_j = settings.range_w * np.diff(time_s)
            values, its_wrap_j = _unwrapped(name, values, most_j, flags, report)
            wrap_j = min(wrap_j, its_wrap_j)
        total = total + values
    power_w = total
    if counters:
        power_w = np.diff(total, prepend=NAN) / np.diff(time_s, prepend=NAN)
        power_w[flags.places("reset")] = NAN
    flags.mark(power_w > settings.range_w, "over-range")
    flags.mark(power_w < 0, "negative")
    readings = Readings(time_s, power_w, energy_wh=total / JOULES_PER_WH if counters else None)
    info = settings.info(
        boundary=settings.boundary or default, rate_hz=1 / usual_s, source="settings"
    )
    return Recording(info, readings, flags, wrap_j, rows.name_of(kept))


def _header(lines: Sequence[str], report: Report) -> tuple[str, list[str]]:
    found = HEADER.fullmatch(lines[0].strip())
    if not found:
        report.refuse(
            "this is no CSV of EnergiBridge: it does not begin with Delta,Time",
            "give the file of energibridge --output",
        )
    header = lines[0].strip().split(found[1])
    if old := [name for name in header if OLD.search(name)]:
        report.refuse(
            f"{old[0]} is of an EnergiBridge before 0.0.5, whose energies are wrong",
            "measure again with EnergiBridge 0.0.7 or later",
        )
    if len(set(header)) < len(header) or not all(name.strip() for name in header):
        report.refuse("a column of the header has no name, or stands there twice", "record again")
    return found[1], header


def _columns(header: Sequence[str], wanted: Sequence[str], report: Report) -> list[str]:
    known = [name for name in header if name.split()[-1] in UNITS]
    columns = list(wanted) or [name for name in DEFAULTS if name in known][:1]
    absent = [name for name in columns if name not in known]
    if absent or not columns:
        what = f"no column {absent[0]}" if absent else "no power and no energy of the processor"
        report.refuse(f"the file has {what}", f"columns = [...] of: {', '.join(known) or 'none'}")
    if len({name.endswith("(J)") for name in columns}) > 1 or len(set(columns)) < len(columns):
        report.refuse("power and counters cannot be added", "name columns of one kind")
    for name in columns:
        part = WITHIN.get(name)
        if twice := [other for other in columns if part and other != name and part.match(other)]:
            report.refuse(f"{twice[0]} is part of {name} and would count twice", "name one of them")
    report.tell(f"Power is taken from {' + '.join(columns)}.")
    if left := [name for name in known if name not in columns]:
        report.tell(f"Left out: {some(left)}.")
    return columns


def _rows(
    lines: Sequence[str], cut: bool, separator: str, header: Sequence[str], report: Report
) -> Rows:
    """Return the lines that begin with a number; the command printed the others."""
    rows = Rows(cells={name: [] for name in header if name != "Time"}, ends_cut=cut)
    other: list[str] = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.strip().split(separator)
        if len(cells) < 2 or not WHOLE.fullmatch(cells[0]):
            other += [f"line {number}"] if line.strip() else []
            continue
        last = cut and number == len(lines)
        fault = "cut" if last else "bad-count" * (len(cells) != len(header))
        rows.add(number, cells[1], dict(zip(header, cells, strict=False)), fault)
    if other:
        report.tell(f"Left out, as they are no rows: {some(other)}.")
    if rows.faults.count("bad-count") > few(len(rows.faults)):
        report.refuse("rows do not have the cells of the header", "record it again")
    return rows


def _number(text: str, pattern: re.Pattern[str]) -> float:
    return float(text) if pattern.fullmatch(text) else NAN


def _doubled(time_s: Floats, report: Report) -> set[int]:
    """Return the first rows, if the next row was taken at nearly the same time."""
    early = 0
    steps_s = np.diff(time_s)
    while early < len(steps_s) - 1 and 0 <= steps_s[early] < np.nanmedian(steps_s) / 2:
        early += 1
    if early:
        rows = "first row was" if early == 1 else f"first {early} rows were"
        report.tell(f"The {rows} left out, as taken at nearly the time of the next one.")
    return set(range(early))


def _values(rows: Rows, kept: Sequence[int], name: str, flags: Flags) -> Floats:
    """Return the numbers of a column; mark those that are absent or cannot be read."""
    texts = [rows.cells[name][n] for n in kept]
    values = np.array([_number(text, NUMBER) for text in texts])
    absent = np.array([text in ("", "NaN") for text in texts])
    flags.mark(np.isnan(values) & ~absent, "bad-number")
    flags.mark(absent & np.array([not rows.faults[n] for n in kept]), "missing")
    return values


def _unwrapped(
    name: str, values_j: Floats, most_j: Floats, flags: Flags, report: Report
) -> tuple[Floats, float]:
    """Return a counter without the wraps of its register, and after how many joules it wraps.

    `most_j` is the highest possible energy of each step. The register counts in units of 2**-n J; n
    is the smallest number by which most values are whole.
    """
    known = np.flatnonzero(np.isfinite(values_j))
    bits = min(range(MOST_BITS + 1), key=lambda bits: int(_no_units(values_j, bits).sum()))
    odd = _no_units(values_j, bits)
    if odd.sum() > few(len(known)):
        report.refuse(
            f"{name} does not count in a power of two of joules: "
            "EnergiBridge before 0.0.7 scaled the counters of Intel wrongly",
            "measure again with EnergiBridge 0.0.7 or later",
        )
    flags.mark(odd, "bad-number")
    values_j = np.where(odd, NAN, values_j)
    known = np.flatnonzero(np.isfinite(values_j))
    steps_j = np.diff(values_j[known])
    if not steps_j.any():
        report.refuse(f"{name} never moves", "name a column that counts: columns = [...]")
    wrap_j = 2.0 ** (REGISTER_BITS - bits)
    report.tell(f"{name} counts in steps of 2**-{bits} J and wraps at {wrap_j:g} J.")
    reach_j = np.diff(np.concatenate(([0.0], np.cumsum(most_j)))[known])
    wraps = (steps_j < 0) & (steps_j + wrap_j <= reach_j)
    at = np.zeros(len(values_j), dtype=bool)
    at[known[1:]] = wraps
    flags.mark(at, "wrapped")
    back = np.zeros(len(values_j), dtype=bool)
    back[known[1:]] = (steps_j < 0) & ~wraps
    flags.mark(back, "reset")
    return values_j + wrap_j * np.cumsum(at), wrap_j


def _no_units(values_j: Floats, bits: int) -> NDArray[np.bool_]:
    """Return which values are not a whole number of units of 2**-bits J."""
    units = values_j * 2.0**bits
    return np.isfinite(units) & (units != np.round(units))


IMPORTER = Importer(
    name="energibridge",
    summary="CSV of EnergiBridge 0.0.7 or later",
    settings=EnergiBridgeSettings,
    read=read,
)
