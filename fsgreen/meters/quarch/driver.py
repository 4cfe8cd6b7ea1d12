"""CSV of a Quarch power module (PPM, PAM), as QIS, quarchpy and QPS write it.

The header is `Time uS,5V voltage mV,5V current uA,5V power uW,...,Tot uW`: the time, then rail,
group and unit of each column. One line follows for each sample. Values that a module has not yet
measured are blank. An AC module gives active power as `L1_PAct power mW` and `Tot_PAct power mW`.
If the host was too slow, the stream ends with an overrun. The file holds neither date nor accuracy.

Sources: the sample Stream.csv and connection_QIS.py of github.com/QuarchTechnologyLtd/QuarchPy, and
the application notes AN-021 to AN-025 of github.com/QuarchTechnologyLtd/quarchpy-appnotes
(`Time us`, `Total power uW`, quoted cells, blank lines, statistics at the end).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.readings import Floats, Readings
from fsgreen.meters.core.settings import FileSettings, Texts
from fsgreen.meters.files.checks import (
    Flags,
    disagree,
    imported,
    interval_s,
    mark_frozen,
    mark_steps,
    refuse_disorder,
    same_rows,
)
from fsgreen.meters.files.numbers import last_step
from fsgreen.meters.files.text import BOM, Report, few, some
from fsgreen.meters.quarch.table import Table, read_table

SEPARATORS = ",;\t"
TIMES = ("Time uS", "Time us")
TICK_S = 1e-6
TOTAL = re.compile(r"(?:Tot|Total power|Tot_PAct power) ([num]?)W")
CELL = re.compile(
    r"(?P<rail>\S+) (?P<group>voltage|current|power) (?P<prefix>[num]?)(?P<unit>[VAW])"
)
OTHER = re.compile(r"\S+ (?:VA|VAR|PF%?|Freq) \S+")
"""The other columns that an AC module measures."""

AC_RAIL = re.compile(r"L[123](?:_\w+)?|Neutral(?:_\w+)?")
ACTIVE = "_PAct"
PREFIX = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0}
UNIT = {"voltage": "V", "current": "A", "power": "W"}
MOST_DECIMALS = 6
"""A value with more decimals is a mean, and not the module's."""

WHOLE = 1e-3
PRODUCT_AGREEMENT = 0.05
"""The share by which mean volts times mean amperes may differ from the mean power."""


@dataclass(frozen=True)
class Header:
    """A header: the places of its columns by rail and group, and of the total."""

    separator: str
    time: str
    width: int
    rails: Mapping[str, Mapping[str, tuple[int, float]]]
    total: tuple[int, float] | None
    ac: bool


class QuarchSettings(FileSettings):
    """The settings of a file."""

    rails: Texts = ()
    """The rails to add; by default all."""
    model: str = "Quarch power module"
    covers: Texts = ("disk",)


def read(data: bytes, settings: QuarchSettings) -> Imported:
    """Read a file; see docs/meters/quarch.md for the settings.

    Raises FsgreenError if the file is not from Quarch or has no power, if a rail is missing, if
    times go back, or if more than a few rows are damaged.
    """
    report = Report(settings.name)
    wanted, range_w = settings.rails, settings.range_w or float("inf")
    line, _, body = data.removeprefix(BOM).lstrip(b"\r\n").partition(b"\n")
    header = _header(line.decode("latin-1").strip(), report)
    rails = _rails(header, wanted, report)
    used = [place for rail in rails for place, _ in header.rails[rail].values()]
    total = header.total if header.total and not wanted else None
    places = list(dict.fromkeys([0, *used, *([total[0]] if total else [])]))
    table = _kept(read_table(body, header.separator, header.width, places), report)
    ticks = table.values[:, 0]
    refuse_disorder(ticks, lambda n: f"{ticks[n]:.0f}", report)
    time_s = ticks * TICK_S
    usual_s = interval_s(time_s, report)
    column = {at: table.values[:, nth] for nth, at in enumerate(places)}

    flags = Flags()
    for fault in ("cut", "bad-count", "bad-number"):
        faulty = [place for place, name in table.faults.items() if name == fault]
        flags.mark(_in(faulty, len(ticks)), fault)
    flags.mark(table.ends_cut & (np.arange(len(ticks)) == len(ticks) - 1), "cut")
    power_w, step_w = _power(header, rails, total, column, flags)
    blank = np.isnan(table.values).any(axis=1)
    flags.mark(blank & ~_in(table.faults, len(ticks)), "missing")
    flags.mark(power_w < 0, "negative")
    flags.mark(power_w > range_w, "over-range")
    mark_steps(time_s, usual_s, flags)
    mark_frozen(same_rows(table.values[:, 1:]), power_w, step_w, len(places) - 1, flags)
    if table.overruns:
        report.tell("The stream overran: samples are missing where it did, and after its end.")
        flags.mark(_in([min(n, len(ticks) - 1) for n in table.overruns], len(ticks)), "lost")
    only = header.rails[rails[0]] if len(rails) == 1 else {}
    readings = Readings(
        time_s=time_s,
        power_w=power_w,
        voltage_v=_scaled(column, only["voltage"]) if "voltage" in only else None,
        current_a=_scaled(column, only["current"]) if "current" in only else None,
    )
    report.tell("The file has no date: times count from the start of the stream.")
    info = settings.info(
        boundary=settings.boundary or ("wall" if header.ac else "dc-rail"),
        rate_hz=1 / usual_s,
        range_w=range_w,
        resolution_w=step_w,
        source="settings",
    )
    return imported(info, readings, flags, report, lambda n: f"{header.time} {ticks[n]:.0f}")


def _header(line: str, report: Report) -> Header:
    for separator in SEPARATORS:
        cells = [cell.strip().strip('"') for cell in line.split(separator)]
        if len(cells) > 1 and cells[0] in TIMES:
            break
    else:
        report.refuse(
            f"this is no Quarch CSV: it does not begin with a column {TIMES[0]}",
            "export the stream from QIS or QPS as CSV",
        )
    rails: dict[str, dict[str, tuple[int, float]]] = {}
    totals = []
    for place, cell in enumerate(cells[1:], 1):
        if total := TOTAL.fullmatch(cell):
            totals.append((place, PREFIX[total[1]]))
        elif match := CELL.fullmatch(cell):
            groups = rails.setdefault(match["rail"], {})
            if match["unit"] != UNIT[match["group"]] or match["group"] in groups:
                report.refuse(
                    f"the column {cell} is not in {UNIT[match['group']]}, or stands there twice",
                    "export the file again",
                )
            groups[match["group"]] = (place, PREFIX[match["prefix"]])
        elif not OTHER.fullmatch(cell):
            report.refuse(
                f"the column '{cell}' is not known: a rail, a group and a unit are expected",
                "record only voltage, current and power",
            )
    if len(totals) > 1:
        report.refuse("several columns are the total power", "name the rails: rails = [...]")
    ac = any(AC_RAIL.fullmatch(rail) for rail in rails)
    return Header(separator, cells[0], len(cells), rails, totals[0] if totals else None, ac)


def _rails(header: Header, wanted: Sequence[str], report: Report) -> list[str]:
    """Return the rails to add up: those wanted, else all that have power or volts and amperes."""
    usable = [
        rail
        for rail, groups in header.rails.items()
        if ("power" in groups or {"voltage", "current"} <= groups.keys())
        and (not header.ac or rail.endswith(ACTIVE))
    ]
    for rail in wanted:
        if rail not in usable:
            report.refuse(f"no power of a rail {rail}", f"rails here: {', '.join(usable)}")
    if not usable and header.total is None:
        kind = "active power (PAct)" if header.ac else "power, and no rail with volts and amperes"
        report.refuse(f"the file has no {kind}", "record it with these channels on")
    rails = list(wanted) or usable
    products = [rail for rail in rails if "power" not in header.rails[rail]]
    how = "the total column" if header.total and not wanted else f"the sum of {', '.join(rails)}"
    report.tell(f"Power is {how}.")
    if products and not (header.total and not wanted):
        report.tell(f"Power of {', '.join(products)} is the product of volts and amperes.")
    return rails


def _kept(table: Table, report: Report) -> Table:
    """Return the table without rows that repeat the previous row in every column."""
    count = len(table.values)
    if len(table.faults) + table.untimed > few(count):
        report.refuse(
            f"{len(table.faults) + table.untimed} of {count} rows are damaged", "export it again"
        )
    if table.untimed:
        report.tell(f"Left out: {table.untimed} rows whose time cannot be read.")
    if table.messages:
        report.tell(f"Left out: lines that are no rows ({some(table.messages)}).")
    values = table.values
    same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    repeated = np.concatenate(([False], same.all(axis=1)))[:count]
    if not repeated.any():
        return table
    report.tell(f"Left out: {int(repeated.sum())} rows that repeat the row before.")
    moved = np.cumsum(~repeated) - 1
    return Table(
        values[~repeated],
        {int(moved[n]): fault for n, fault in table.faults.items() if not repeated[n]},
        [int(moved[n]) if n < count else count for n in table.overruns],
        table.messages,
        table.untimed,
        table.ends_cut,
    )


def _power(
    header: Header,
    rails: Sequence[str],
    total: tuple[int, float] | None,
    column: Mapping[int, Floats],
    flags: Flags,
) -> tuple[Floats, float]:
    """Return the power and its last digit; mark rows that contradict themselves."""
    sum_w, step_w = np.zeros(len(column[0])), 0.0
    for rail in rails:
        groups = header.rails[rail]
        product_w = None
        if {"voltage", "current"} <= groups.keys():
            volts, amperes = _scaled(column, groups["voltage"]), _scaled(column, groups["current"])
            product_w = volts * amperes
            margin_w = abs(volts) * groups["current"][1] + abs(amperes) * groups["voltage"][1]
        if "power" not in groups:
            assert product_w is not None
            sum_w = sum_w + product_w
            step_w += float(np.nanmax(margin_w, initial=0.0))
            continue
        rail_w = _scaled(column, groups["power"])
        if product_w is not None:
            margin_w = margin_w + groups["power"][1]
            flags.mark(disagree(rail_w, product_w, product_w, margin_w), "inconsistent")
        sum_w = sum_w + rail_w
        step_w += _step(column, groups["power"])
    if total is None:
        return sum_w, step_w
    total_w = _scaled(column, total)
    if rails:
        products = any("power" not in header.rails[rail] for rail in rails)
        margin_w = step_w + total[1] + products * PRODUCT_AGREEMENT * np.abs(total_w)
        flags.mark(np.abs(total_w - sum_w) > margin_w, "inconsistent")
    return total_w, _step(column, total)


def _step(column: Mapping[int, Floats], entry: tuple[int, float]) -> float:
    """Return the size of a column's last digit that is not always zero."""
    values = column[entry[0]]
    values = values[np.isfinite(values)]
    decimals = next(
        (n for n in range(MOST_DECIMALS) if _are_whole(values * 10.0**n)), MOST_DECIMALS
    )
    return entry[1] * last_step(values, np.full(len(values), decimals))


def _are_whole(values: Floats) -> bool:
    return int((np.abs(values - np.round(values)) > WHOLE).sum()) <= len(values) // 100


def _scaled(column: Mapping[int, Floats], entry: tuple[int, float]) -> Floats:
    place, unit = entry
    return column[place] * unit


def _in(places: Mapping[int, str] | Sequence[int], count: int) -> np.ndarray:
    mask = np.zeros(count, dtype=bool)
    mask[list(places)] = True
    return mask


IMPORTER = Importer(
    name="quarch",
    summary="CSV of a Quarch power module (PPM, PAM) on a drive's rails",
    settings=QuarchSettings,
    read=read,
)
