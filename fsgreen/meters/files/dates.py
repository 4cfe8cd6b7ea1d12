"""The times of a file's rows. The order of day and month is decided from all rows together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from operator import ge

import numpy as np

from fsgreen.meters.core.readings import NAN, Floats
from fsgreen.meters.files.checks import GAP_INTERVALS
from fsgreen.meters.files.text import Report, choose, few

ORDERS = ("MDY", "DMY", "YMD")
STAMP = re.compile(
    r"(?P<day>\d{1,4}([/.-])\d{1,2}\2\d{1,4}) +"
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?"
    r"(?: *(?P<half>[AaPp])[Mm])?"
)
OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)")
DAY_S = 86400.0
EPOCH = date(1970, 1, 1).toordinal()
UNIX_S = 1e8
"""Larger times are seconds since 1970 UTC. Smaller ones count from some beginning."""

CENTURY = 2000
"""The century of two-digit years, as no supported meter is older."""


@dataclass(frozen=True)
class Stamps:
    """The dates of rows as text ("" if a row has none), and their seconds since midnight."""

    dates: tuple[str, ...]
    second_s: Floats

    @classmethod
    def of(cls, cells: Sequence[str]) -> Stamps:
        """Read cells such as `01/31/10 02:00:00 PM`.

        A damaged cell is not read. It lacks seconds, or AM or PM, which most cells have; or it is
        one of a few cells that have fewer digits in some part than most, or more digits after the
        second. More digits in other parts are no damage, as 10:00 follows 9:59.
        """
        matches = [STAMP.fullmatch(cell.strip()) for cell in cells]
        forms = Counter(_form(match) for match in matches if match)
        kinds = Counter(_form(match)[0] for match in matches if match)
        usual = kinds.most_common(1)[0][0] if kinds else None
        of_kind = [(form, count) for form, count in forms.most_common() if form[0] == usual]
        *digits, part = of_kind[0][0][1] if of_kind else (0,)
        read = {
            form
            for form, count in of_kind
            if count > few(len(matches)) or (form[1][-1] == part and all(map(ge, form[1], digits)))
        }
        seconds = [_second_of_day(m) if m and _form(m) in read else NAN for m in matches]
        dates = [m["day"] if m and s == s else "" for m, s in zip(matches, seconds, strict=True)]
        return cls(tuple(dates), np.array(seconds, dtype=float))

    def times_s(self, order: str) -> Floats:
        """Return the seconds since 1970 on the file's own clock; NaN for an impossible date."""
        days_s = {text: _day(text, order) * DAY_S for text in set(self.dates)}
        return np.array([days_s[text] for text in self.dates]) + self.second_s


def _form(match: re.Match[str]) -> tuple[tuple[bool, bool], tuple[int, ...]]:
    """Return whether a stamp has seconds, whether it has AM or PM, and the digits of its parts."""
    parts = (*re.split(r"[/.-]", match["day"]), match["hour"], match["part"] or "")
    return (bool(match["second"]), bool(match["half"])), tuple(map(len, parts))


def _second_of_day(match: re.Match[str]) -> float:
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    if match["half"]:
        if not 1 <= hour <= 12:
            return NAN
        hour = hour % 12 + (12 if match["half"] in "pP" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return NAN
    return hour * 3600.0 + minute * 60 + second + float(f"0.{match['part'] or 0}")


def _day(text: str, order: str) -> float:
    """Return the day since 1970 of a date; NaN if there is no such date in this order."""
    parts = re.split(r"[/.-]", text)
    if len(parts) != 3:
        return NAN
    of = dict(zip(order, parts, strict=True))
    if len(of["Y"]) not in (2, 4) or len(of["M"]) > 2 or len(of["D"]) > 2:
        return NAN
    year = int(of["Y"]) + (CENTURY if len(of["Y"]) == 2 else 0)
    try:
        return date(year, int(of["M"]), int(of["D"])).toordinal() - EPOCH
    except ValueError:
        return NAN


def decide_times(
    stamps: Stamps, wanted: str, report: Report, *, about_s: Floats | None = None
) -> Floats:
    """Return the times of rows in seconds since 1970 on the file's clock; NaN if unreadable.

    `choose` decides the order of day, month and year. It prefers an order in which every change of
    date is one usual step, and one that agrees within a day with `about_s`, approximate times from
    elsewhere in the file. Raises FsgreenError if no date can be read, or if the order is open.
    """
    counts = Counter(filter(None, stamps.dates))
    dates = list(counts)
    ways = {order: np.array([_day(text, order) for text in dates]) for order in ORDERS}
    if all(np.isnan(days).all() for days in ways.values()):
        first = "".join(f": {text}" for text in dates[:1])
        report.refuse(
            f"no row has a date and a time that can be read{first}",
            "export the file again with the default date format",
        )

    def unbroken(order: str) -> bool:
        return _unbroken(stamps.times_s(order), stamps.dates)

    def near(order: str) -> bool:
        return about_s is not None and _near(stamps.times_s(order), about_s)

    often, makes_sense = list(counts.values()), [unbroken, near]
    order = choose("dates", ways, dates, often, wanted, makes_sense, _shown, report)
    return stamps.times_s(order)


def _unbroken(time_s: Floats, dates: Sequence[str]) -> bool:
    """Return whether dates change, and each change is one usual step."""
    kept = np.isfinite(time_s)
    steps_s = np.diff(time_s[kept])
    texts = np.array(dates)[kept]
    changes = steps_s[texts[1:] != texts[:-1]]
    if not len(changes):
        return False
    return bool(((changes > 0) & (changes <= GAP_INTERVALS * np.median(steps_s))).all())


def _near(time_s: Floats, about_s: Floats) -> bool:
    apart_s = np.abs(time_s - about_s)
    apart_s = apart_s[np.isfinite(apart_s)]
    return bool(len(apart_s) and np.median(apart_s) <= DAY_S)


def _shown(text: str, order: str) -> str:
    day = _day(text, order)
    if day != day:
        return f"no date ({order})"
    when = date.fromordinal(int(day) + EPOCH)
    return f"{when.day} {when:%B %Y}"


def offset_s(texts: set[str], wanted: str, report: Report) -> float | None:
    """Return the offset from GMT in seconds, from the file's `texts` or the setting `wanted`.

    None if neither has it. Raises FsgreenError if they differ or do not have the form -07:00.
    """
    offsets = set()
    for text in texts | ({wanted} if wanted else set()):
        match = OFFSET.fullmatch(text)
        if not match or int(match[2]) > 14 or int(match[3]) > 59:
            report.refuse(f"{text} is no offset from GMT such as -07:00", "correct gmt_offset")
        size_s = int(match[2]) * 3600 + int(match[3]) * 60
        offsets.add(-size_s if match[1] == "-" else size_s)
    if len(offsets) > 1:
        report.refuse(
            f"offsets from GMT contradict each other: {', '.join(sorted(texts | {wanted} - {''}))}",
            "leave gmt_offset out, or export the file again",
        )
    return float(offsets.pop()) if offsets else None


def on_utc(time_s: Floats, offset: float | None, report: Report) -> Floats:
    """Return times in seconds since 1970 UTC; without an offset, since the first row.

    `report` gets a sentence on which one it is.
    """
    if offset is None:
        report.tell("The file does not say its offset from GMT: times count from its first row.")
        return time_s - time_s[np.isfinite(time_s)][0]
    report.tell(f"The clock is GMT{offset / 3600:+g} h; times are in UTC.")
    return time_s - offset
