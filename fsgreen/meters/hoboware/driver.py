"""HOBOware CSV of an Onset HOBO UX120-018 plug load logger.

The forms of the file follow HOBOware's export preferences (Onset, HOBOware User's Guide 12730)
and exports in the wild, among them the samples of github.com/nicholas512/LoggerRead and
github.com/scoyoc/raindancer: a title or none; header cells such as
`Active Power, W (LGR S/N: 10123, SEN S/N: 10123, LBL: server)`, or `Active Power (W)  #10123`
without quotes and commas; three separators; four number styles, three of negatives; three orders
of dates; events; details in a column of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

import numpy as np

from fsgreen.meters.core.base import Imported, Importer
from fsgreen.meters.core.readings import Floats, Readings
from fsgreen.meters.core.settings import Settings
from fsgreen.meters.files.checks import (
    Flags,
    imported,
    interval_s,
    mark_steps,
    refuse_disorder,
    timed_rows,
)
from fsgreen.meters.files.dates import ORDERS, Stamps, decide_times, offset_s, on_utc
from fsgreen.meters.files.numbers import STYLES, decide_style
from fsgreen.meters.files.text import Report, decode, some
from fsgreen.meters.hoboware.layout import SEPARATORS, Header, Rows, layout
from fsgreen.meters.hoboware.values import (
    Column,
    contradict,
    mark_unsound,
    plausible,
    read_columns,
)
from fsgreen.trace import MeterInfo

MODEL = "Onset HOBO UX120-018"
GAIN_ERROR = 0.005
GAIN_ERROR_HIGH = 0.01
HIGH_A = 14.0
"""Accuracy up to and beyond 14 A (Onset, UX120-018 manual, specifications)."""

RANGE_W = 1800.0
"""15 A at 120 V."""

PRODUCT = re.compile(r"Product: *(.*)")
DETAIL_OFFSET = re.compile(r"GMT([+-]\d\d:\d\d)")
ENERGY_AGREEMENT = 0.2


def read(data: bytes, settings: Settings) -> Imported:
    """Read a file; see docs/meters/hoboware.md for the settings.

    Raises FsgreenError on a file that is none of HOBOware's, stays ambiguous, contradicts a
    setting, or has rows out of order.
    """
    report = Report(settings.name)
    style = settings.choice("numbers", ["", *STYLES], "")
    order = settings.choice("dates", ["", *ORDERS], "")
    separator = settings.choice("separator", ["", *SEPARATORS], "")
    offset = settings.text("gmt_offset", "")
    range_w, gain = settings.number("range_w", RANGE_W), settings.number("gain_error", -1.0)
    boundary = settings.boundary("wall")
    covers = settings.texts("covers", ("system",))
    settings.finish()

    header, rows = layout(decode(data, report), separator, report)
    model = _model(rows, gain, report)
    times_s = decide_times(Stamps.of(rows.stamps), order, report)
    shift_s = offset_s(_offsets(header, rows), offset, report)
    style = decide_style(rows.cells, style, partial(plausible, header, rows, range_w), report)
    texts = list(zip(rows.faults, *rows.cells.values(), strict=True))
    kept = timed_rows(times_s, texts, rows.names, report)
    time_s = times_s[kept]
    refuse_disorder(time_s, lambda n: rows.names[kept[n]], report)
    usual_s = interval_s(time_s, report)

    flags = Flags()
    columns = read_columns(header, rows, kept, style)
    mark_unsound(columns, rows, kept, flags, report)
    _check(columns, range_w, flags)
    mark_steps(time_s, usual_s, flags)
    power = columns["power"]
    current_a = columns["current"].values if "current" in columns else None
    readings = Readings(
        time_s=on_utc(time_s, shift_s, report),
        power_w=power.values,
        voltage_v=columns["voltage"].values if "voltage" in columns else None,
        current_a=current_a,
        energy_wh=_energy(columns.get("energy"), power.values, usual_s, flags, report),
    )
    info = MeterInfo(
        driver="hoboware",
        model=model,
        serial=_serial(header, report),
        boundary=boundary,
        covers=covers,
        rate_hz=1 / usual_s,
        range_w=range_w,
        resolution_w=power.step,
        gain_error=_gain(gain, current_a, report),
        constant_error_w=0.0,
        source="Onset, HOBO Plug Load Logger UX120-018 manual: 0.5 % to 14 A, 1 % beyond",
    )
    return imported(info, readings, flags, report)


def _offsets(header: Header, rows: Rows) -> set[str]:
    said = {offset for text in rows.details for offset in DETAIL_OFFSET.findall(text)}
    return set(header.offsets) | (said if len(said) == 1 else set())


def _model(rows: Rows, gain: float, report: Report) -> str:
    products = sorted({m[1].strip() for text in rows.details if (m := PRODUCT.search(text))})
    if not products:
        return f"{MODEL} (the file does not name it)"
    if gain < 0 and not all("UX120-018" in product for product in products):
        report.refuse(
            f"the file is of another logger, whose accuracy is not known: {some(products)}",
            "set gain_error to its share of the reading, such as gain_error = 0.01",
        )
    return some(products)


def _serial(header: Header, report: Report) -> str:
    if len(header.serials) > 1:
        report.refuse(
            f"the columns are of several loggers: {some(list(header.serials))}",
            "export each logger by itself",
        )
    if header.labels:
        report.tell(f"Label: {some(list(header.labels))}.")
    return header.serials[0] if header.serials else "?"


def _gain(gain: float, current_a: Floats | None, report: Report) -> float:
    if gain >= 0:
        return gain
    if current_a is not None and (current_a > HIGH_A).any():
        report.tell(f"Some currents exceed {HIGH_A:g} A, where the accuracy is 1 %.")
        return GAIN_ERROR_HIGH
    return GAIN_ERROR


def _check(columns: Mapping[str, Column], range_w: float, flags: Flags) -> None:
    for name in ("power", "voltage", "current"):
        if name in columns:
            flags.mark(columns[name].values < 0, "negative")
    flags.mark(columns["power"].values > range_w, "over-range")
    flags.mark(contradict(columns), "inconsistent")


def _energy(
    column: Column | None, power_w: Floats, usual_s: float, flags: Flags, report: Report
) -> Floats | None:
    """Return the meter's counter in Wh. Whether it counts on or anew in each row, the sum tells."""
    if column is None:
        return None
    energy_wh = column.values
    known = energy_wh[np.isfinite(energy_wh)]
    expected_wh = float(np.nansum(power_w)) * usual_s / 3600
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
    read=read,
)
