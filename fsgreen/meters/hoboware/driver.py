"""HOBOware CSV of an Onset HOBO UX120-018 plug load logger.

The known forms of the file come from HOBOware's export preferences (Onset, HOBOware User's Guide
12730) and from published exports, among them the samples of github.com/nicholas512/LoggerRead and
github.com/scoyoc/raindancer: a title or none; header cells such as
`Active Power, W (LGR S/N: 10123, SEN S/N: 10123, LBL: server)`, or `Active Power (W)  #10123`
without quotes and commas; three separators; four number styles, three styles of negatives; three
orders of dates; events; details in a separate column.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Literal

import numpy as np

from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.readings import Floats, Readings
from fsgreen.meters.core.settings import Above0, GainError, Order, Settings, Style
from fsgreen.meters.files import rows as files
from fsgreen.meters.files.checks import Flags, imported, mark_steps
from fsgreen.meters.files.dates import Stamps, decide_times, offset_s, on_utc
from fsgreen.meters.files.numbers import decide_style, last_step, numbers
from fsgreen.meters.files.rows import MARGIN_W, Column, contradict, mark_unsound, timed
from fsgreen.meters.files.text import Report, decode, some
from fsgreen.meters.hoboware.layout import LABEL, SERIAL, Header, Table, layout
from fsgreen.units import JOULES_PER_WH

MODEL = "Onset HOBO UX120-018"
GAIN_ERROR = 0.005
GAIN_ERROR_HIGH = 0.01
HIGH_A = 14.0
"""The accuracy up to 14 A and above (Onset, UX120-018 manual, specifications)."""

RANGE_W = 1800.0
"""15 A at 120 V."""

PRODUCT = re.compile(r"Product: *(.*)")
DETAIL_OFFSET = re.compile(r"GMT([+-]\d\d:\d\d)")
ENERGY_AGREEMENT = 0.2

LIMITS = {"voltage": 300.0, "current": 30.0, "factor": 1.05}
POWER_RANGES = 2.0
"""No plug load has values beyond these, or powers beyond twice the range. If most values are beyond
them in a style of numbers, it is not the style of the file."""


class HobowareSettings(Settings):
    """The settings of a file; by default most of them are read from the file."""

    numbers: Style = ""
    dates: Order = ""
    separator: Literal["", "comma", "semicolon", "tab"] = ""
    """The separator of cells."""
    gmt_offset: str = ""
    """The offset of the logger's clock, such as -07:00; by default that in the file."""
    range_w: Above0 = RANGE_W
    gain_error: GainError | None = None
    """By default the accuracy that Onset states for the logger."""


def read(data: bytes, settings: HobowareSettings) -> Imported:
    """Read a file; see docs/meters/hoboware.md for the settings.

    Raises FsgreenError if the file is not from HOBOware, is ambiguous, contradicts a setting, or
    has rows out of order.
    """
    report = Report(settings.name)
    range_w, gain = settings.range_w, settings.gain_error
    header, rows = layout(decode(data, report), settings.separator, report)
    model = _model(header, rows, gain, report)
    times_s = decide_times(Stamps.of(rows.stamps), settings.dates, report)
    shift_s = offset_s(_offsets(header, rows), settings.gmt_offset, report)
    fits = partial(_plausible, header, rows, range_w)
    style = decide_style(rows.cells, settings.numbers, fits, report)
    found = timed(rows, times_s, report)
    time_s, usual_s = found.time_s, found.usual_s

    flags = Flags()
    columns = files.columns(rows, found.kept, flags, report, style=style, units=header.units)
    mark_unsound(columns, range_w, MARGIN_W, flags)
    mark_steps(time_s, usual_s, flags)
    power = columns["power"]
    voltage_v, current_a = (
        columns[name].values if name in columns else None for name in ("voltage", "current")
    )
    readings = Readings(
        time_s=on_utc(time_s, shift_s, report),
        power_w=power.values,
        voltage_v=voltage_v,
        current_a=current_a,
        energy_wh=_energy(columns.get("energy"), power.values, usual_s, flags, report),
    )
    info = settings.info(
        model=model,
        serial=_serial(header, report),
        boundary=settings.boundary or "wall",
        rate_hz=1 / usual_s,
        resolution_w=power.step,
        gain_error=_gain(gain, current_a, report),
        source="Onset, HOBO Plug Load Logger UX120-018 manual: 0.5 % to 14 A, 1 % beyond",
    )
    return imported(info, readings, flags, report, rows.name_of(found.kept))


def _offsets(header: Header, rows: Table) -> set[str]:
    said = {offset for text in rows.details for offset in DETAIL_OFFSET.findall(text)}
    return header.offset | (said if len(said) == 1 else set())


def _plausible(header: Header, rows: Table, range_w: float, style: str) -> bool:
    """Return whether a style of numbers gives most values that a plug load may have."""
    units = header.units
    columns = {
        name: Column(values * units[name], units[name] * last_step(values, decimals))
        for name, cells in rows.cells.items()
        for values, decimals in [numbers(cells, style)]
    }
    limits = LIMITS | dict.fromkeys(("power", "apparent"), POWER_RANGES * range_w)
    strange = [np.abs(columns[name].values) > limits[name] for name in limits.keys() & columns]
    known = np.isfinite(columns["power"].values)
    return not any(
        (mask & known).sum() > known.sum() / 2 for mask in (*strange, contradict(columns, MARGIN_W))
    )


def _model(header: Header, rows: Table, gain: float | None, report: Report) -> str:
    products = sorted({m[1].strip() for text in rows.details if (m := PRODUCT.search(text))})
    if not products and (header.offset or header.found(SERIAL)):
        return f"{MODEL} (the file does not name it)"
    if not products and gain is None:
        report.refuse(
            "nothing in the file says that it is HOBOware's: no serial number, no offset from GMT",
            "read it with --driver table, or set gain_error: its error as a share of the reading",
        )
    if gain is None and not all("UX120-018" in product for product in products):
        report.refuse(
            f"the file is of another logger, whose accuracy is not known: {some(products)}",
            "set gain_error to its error as a share of the reading, such as gain_error = 0.01",
        )
    return some(products) or "?"


def _serial(header: Header, report: Report) -> str:
    serials, labels = header.found(SERIAL), header.found(LABEL)
    if len(serials) > 1:
        report.refuse(
            f"the columns are of several loggers: {some(serials)}", "export each logger by itself"
        )
    if labels:
        report.tell(f"Label: {some(labels)}.")
    return serials[0] if serials else "?"


def _gain(gain: float | None, current_a: Floats | None, report: Report) -> float:
    if gain is not None:
        return gain
    if current_a is not None and (current_a > HIGH_A).any():
        report.tell(f"Some currents exceed {HIGH_A:g} A, where the accuracy is 1 %.")
        return GAIN_ERROR_HIGH
    return GAIN_ERROR


def _energy(
    column: Column | None, power_w: Floats, usual_s: float, flags: Flags, report: Report
) -> Floats | None:
    """Return the meter's energy in Wh, as a counter.

    Its agreement with the sum of power tells whether the column counts on or restarts in each row.
    """
    if column is None:
        return None
    energy_wh = column.values
    known = energy_wh[np.isfinite(energy_wh)]
    expected_wh = float(np.nansum(power_w)) * usual_s / JOULES_PER_WH
    margin_wh = ENERGY_AGREEMENT * abs(expected_wh) + 2 * column.step
    counts_on = len(known) > 1 and abs(known[-1] - known[0] - expected_wh) <= margin_wh
    anew = abs(float(known.sum()) - expected_wh) <= margin_wh
    if counts_on == anew:
        report.tell(
            "The energy agrees with the power neither as a counter nor row by row: left out."
        )
        return None
    if anew:
        report.tell("The energy is that of each row; it was added up.")
        return np.cumsum(energy_wh)
    report.tell("The energy is a counter that goes on.")
    flags.mark(np.diff(energy_wh, prepend=energy_wh[:1]) < 0, "reset")
    return energy_wh


IMPORTER = Importer(
    name="hoboware",
    summary="HOBOware CSV of an Onset HOBO UX120-018 plug load logger",
    settings=HobowareSettings,
    read=read,
)
