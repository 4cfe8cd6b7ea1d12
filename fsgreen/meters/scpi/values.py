"""Readings from the numeric values that an SCPI power analyzer answers, by the items asked for."""

from __future__ import annotations

import re

from fsgreen.meters.common.answers import Answer, Checks
from fsgreen.meters.core.base import Chunk
from fsgreen.meters.core.readings import NAN, Reading
from fsgreen.trace import MeterInfo

NUMBER = re.compile(r"[+-]?[0-9]{1,12}(\.[0-9]{0,12})?([eE][+-]?[0-9]{1,2})?", re.ASCII)
NOT_A_NUMBER, INFINITY = 9.91e37, 9.9e37
"""What SCPI-1999, volume 1, 7.2.1.4, and the WT300 series answer for no value and for too large."""

MISSING = re.compile(r"NAN|-{2,}|\*{2,}", re.IGNORECASE)
OVER = re.compile(r"[+-]?INF|-*(O\.?L|OF|OVER)-*", re.IGNORECASE)
RANGE_TOLERANCE = 1e-3


class ScpiParser:
    """Readings of one element of an analyzer.

    Flags: cut (no end of line), bad-count, bad-number, missing (NAN, dashes), over-range (INF, OL,
    huge numbers), inconsistent also where a range is not the one that was fixed, and those of
    `Checks`.
    """

    def __init__(self, info: MeterInfo) -> None:
        options = info.options
        self._items: list[str] = list(options.get("items", ()))
        self._fixed: dict[str, float] = dict(options.get("ranges", {}))
        # Where volts and amperes are means over several elements, their product says nothing.
        slack_va = float("inf") if options.get("sigma") else 0.005 * info.range_w
        self._checks = Checks(info.range_w, slack_va)

    def feed(self, chunk: Chunk) -> list[Reading]:
        """Return the reading of one answer."""
        return [self._checks.reading(chunk.time_s, self._answer(chunk.data.decode("latin-1")))]

    def _answer(self, text: str) -> Answer:
        answer = Answer()
        cells = [cell.strip() for cell in text.split(",")]
        if not text.endswith("\n"):
            answer.flags.append("cut")
        elif len(cells) != len(self._items):
            answer.flags.append("bad-count")
        else:
            value = {
                item: _number(cell, answer.flags)
                for item, cell in zip(self._items, cells, strict=True)
            }
            answer.power_w, answer.voltage_v = value.get("P", NAN), value.get("U", NAN)
            answer.current_a, answer.energy_wh = value.get("I", NAN), value.get("WH", NAN)
            for item, fixed in self._fixed.items():
                if abs(value.get(item, NAN) - fixed) > RANGE_TOLERANCE * fixed:
                    answer.flags.append("inconsistent")
        answer.flags = list(dict.fromkeys(answer.flags))
        return answer


def _number(cell: str, flags: list[str]) -> float:
    """Return the number in a cell; NaN, and a flag, where there is none."""
    if NUMBER.fullmatch(cell):
        number = float(cell)
        if abs(number) < INFINITY:
            return number
        flags.append("missing" if number == NOT_A_NUMBER else "over-range")
    elif MISSING.fullmatch(cell):
        flags.append("missing")
    elif OVER.fullmatch(cell):
        flags.append("over-range")
    else:
        flags.append("bad-number")
    return NAN
