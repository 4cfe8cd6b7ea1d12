"""Writes a HOBOware CSV in any of its styles, from one recording, and says what is read of it."""

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import pytest
from importing import reader

from fsgreen.errors import FsgreenError
from fsgreen.meters.hoboware.driver import IMPORTER

read = reader(IMPORTER)

NUMBERS = {
    "1,234.56": (",", "."),
    "1 234,56": (" ", ","),
    "1.234,56": (".", ","),
    "1.234 56": (".", " "),
}
NEGATIVES = {"-1": "-{}", "1-": "{}-", "(1)": "({})"}
DATES = {
    ("MDY", 2): "%m/%d/%y",
    ("MDY", 4): "%m/%d/%Y",
    ("DMY", 2): "%d-%m-%y",
    ("DMY", 4): "%d/%m/%Y",
    ("YMD", 2): "%y-%m-%d",
    ("YMD", 4): "%Y-%m-%d",
}
ENCODINGS = ("utf-8-sig", "utf-8", "latin-1")
SERIES = (
    ("RMS Voltage", "V", 1),
    ("RMS Current", "A", 3),
    ("Active Power", "W", 1),
    ("Active Energy", "Wh", 2),
    ("Apparent Power", "VA", 1),
    ("Power Factor", "PF", 3),
)
EVENTS = ("Coupler Detached", "Host Connected", "End Of File")
START = datetime(2010, 1, 13, 23, 59, 50)
OFFSET_H = -7
DETAILS = (
    "Details",
    "Series: Active Power, W",
    "Devices",
    "Device Info",
    "Product: HOBO UX120-018 Plug Load Logger",
    "Launch Time: 01/13/10 01:09:01 GMT-07:00 PM",
    "Max: 1,302.5",
)


@dataclass(frozen=True)
class Style:
    """How HOBOware was told to export."""

    numbers: str = "1,234.56"
    negatives: str = "-1"
    order: str = "MDY"
    year: int = 2
    half_days: bool = False
    two_columns: bool = False
    fractions: bool = False
    separator: str = ","
    encoding: str = "utf-8-sig"
    line_end: str = "\r\n"
    header: str = "quoted"
    title: bool = True
    numbered: bool = True
    details: bool = False
    events: bool = True


def recording(rows=20, start=START):
    """Rows of (time, values by SERIES), whose volts, amperes and watts agree."""
    made, energy_wh = [], 0.0
    for second in range(rows):
        volts, factor = 119.5 + 0.1 * (second % 7), 0.971
        watts = 87.5 + 90.0 * (second % 5) + 1000.0 * (second % 4 == 3)
        energy_wh += watts / 3600
        apparent = watts / factor
        values = (volts, apparent / volts, watts, energy_wh, apparent, factor)
        made.append((start + timedelta(seconds=second), values))
    return made


def number(value, decimals, style):
    """One number with thousands and decimal mark, a negative one in its form."""
    group, mark = NUMBERS[style.numbers]
    text = f"{abs(value):,.{decimals}f}".translate(str.maketrans({",": group, ".": mark}))
    return NEGATIVES[style.negatives].format(text) if value < 0 else text


def stamp(when, style):
    date = when.strftime(DATES[style.order, style.year])
    time = when.strftime("%I:%M:%S" if style.half_days else "%H:%M:%S")
    time += ".0" * style.fractions + ("  " + when.strftime("%p")) * style.half_days
    return [date, time] if style.two_columns else [f"{date} {time}"]


def headings(style):
    """Header cells; `bare` has neither quotes and commas nor an offset."""
    if style.header == "bare":
        times = ["Date", "Time"] if style.two_columns else ["Date Time"]
        series = [f"{name} ({unit})  #10123456" for name, unit, _ in SERIES]
        events = list(EVENTS)
    else:
        serial = "LGR S/N: 10123456"
        sensor = f" ({serial}, SEN S/N: 10123457, LBL: server)" if style.header == "quoted" else ""
        gmt = f", GMT{OFFSET_H:+03d}:00"
        times = ["Date", f"Time{gmt}"] if style.two_columns else [f"Date Time{gmt}"]
        series = [f"{name}, {unit}{sensor}" for name, unit, _ in SERIES]
        events = [f"{name} ({serial})" if sensor else name for name in EVENTS]
    return ["#"] * style.numbered + times + series + events * style.events


def write(style, rows=None):
    """The bytes of an export."""
    rows = recording() if rows is None else rows
    quote = '"{}"'.format if style.header != "bare" else str
    lines = ["Plot Title: server °"] * style.title
    lines[:] = [quote(line) for line in lines]
    lines.append(style.separator.join(quote(cell) for cell in headings(style)))
    table = [
        [*stamp(when, style), *cells(values, style), *blanks(nth, style)]
        for nth, (when, values) in enumerate(rows)
    ]
    if style.events:
        connected = rows[3][0] + timedelta(milliseconds=400)
        row = [*stamp(connected, style), *[""] * len(SERIES), "", "Logged", ""]
        table.insert(4, row)
    for nth, row in enumerate(table):
        row = [str(nth + 1)] * style.numbered + row
        if style.details:
            row += list(DETAILS[nth : nth + 1])
        lines.append(style.separator.join(row))
    return "".join(line + style.line_end for line in lines).encode(style.encoding)


def cells(values, style):
    texts = [
        number(value, decimals, style)
        for value, (_, _, decimals) in zip(values, SERIES, strict=True)
    ]
    return [f'"{text}"' if style.separator in text else text for text in texts]


def blanks(nth, style):
    return ["Logged" if nth == 0 else "", "", ""] if style.events else []


def expected(rows):
    """(time, W, V, A, Wh) as written, rounded as the export rounds them."""
    zone = timezone(timedelta(hours=OFFSET_H))
    return [
        (
            when.replace(tzinfo=zone).timestamp(),
            *(round(values[n], SERIES[n][2]) for n in (2, 0, 1, 3)),
        )
        for when, values in rows
    ]


def values(imported):
    return [(r.time_s, r.power_w, r.voltage_v, r.current_a, r.energy_wh) for r in imported.readings]


def refused(data, **options):
    with pytest.raises(FsgreenError) as error:
        read(data, **options)
    assert error.value.next_step
    return str(error.value)
