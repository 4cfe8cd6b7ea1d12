"""Answers of polled meters: they are parsed without exceptions, checked, and flagged.

For a counter of energy, wraps are undone. A value that cannot be known is not guessed.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fsgreen.meters.core.base import Chunk
from fsgreen.meters.core.readings import AGREEMENT, NAN, Reading
from fsgreen.trace import MeterInfo

MIN_FACTOR = 0.02
"""Least power factor of real loads. A value in a wrong unit looks like a smaller one."""

SLACK_S = 0.01
"""Largest error of the host's time between two answers; ten updates of a RAPL counter."""

_WHOLE = re.compile(r"-?[0-9]{1,18}")
_PLACE = re.compile(r"[0-9]{1,3}")


def json_object(data: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object in an answer; None if it is not one."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def at(tree: Any, *path: str | int) -> Any:
    """Return the value at a path of keys and places in a JSON document; None if there is none.

    A place in a list may be given as digits.
    """
    for step in path:
        if isinstance(tree, dict):
            tree = tree.get(step)
        elif isinstance(tree, list) and _PLACE.fullmatch(str(step)) and int(step) < len(tree):
            tree = tree[int(step)]
        else:
            return None
    return tree


def whole(value: Any) -> int | None:
    """Return the whole number in a text; None if it is anything else."""
    text = value.strip() if isinstance(value, str) else ""
    return int(text) if _WHOLE.fullmatch(text) else None


def number(value: Any) -> float:
    """Return a number of a JSON document; NaN if the value is no number, or too large."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return NAN
    return float(value) if abs(value) < 1e300 else NAN


def quality(flags: Iterable[str]) -> str:
    """Return the quality of a reading: its flags, each once, joined by `|`; "ok" without flags."""
    return "|".join(dict.fromkeys(flags)) or "ok"


@dataclass
class Answer:
    """The values of one answer; NaN if it does not have one. `flags` say why a value is NaN."""

    power_w: float = NAN
    voltage_v: float = NAN
    current_a: float = NAN
    energy_wh: float = NAN
    power_factor: float = NAN
    flags: list[str] = field(default_factory=list)


class Checks:
    """Flags answers that contradict the meter's range, themselves, or the previous answer.

    The flags are missing (no power, and no reason), negative, over-range, inconsistent (W against
    V * I) and reset (the counter went back). The remark stale says that power, voltage, current and
    counter are all unchanged. Values are never changed. `slack_va` is the largest error of V * I by
    rounding.
    """

    def __init__(self, range_w: float, slack_va: float) -> None:
        self._range_w = range_w
        self._slack_va = slack_va
        self._last: tuple[float | None, ...] | None = None
        self._counted_wh = NAN

    def reading(self, time_s: float, answer: Answer) -> Reading:
        """Return the reading of an answer that came at `time_s`."""
        values = (answer.power_w, answer.voltage_v, answer.current_a, answer.energy_wh)
        flags = [*answer.flags, *self._contradictions(answer)]
        known = tuple(None if value != value else value for value in values)
        if known == self._last and answer.power_w == answer.power_w:
            flags.append("stale")
        self._last = known
        if answer.energy_wh == answer.energy_wh:
            self._counted_wh = answer.energy_wh
        return Reading(time_s, *values, quality=quality(flags))

    def _contradictions(self, answer: Answer) -> Iterator[str]:
        power_w, product_va = answer.power_w, answer.voltage_v * answer.current_a
        if power_w != power_w and not answer.flags:
            yield "missing"
        if any(v < 0 for v in (power_w, answer.voltage_v, answer.current_a, answer.energy_wh)):
            yield "negative"
        if power_w > self._range_w:
            yield "over-range"
        real_w = product_va * answer.power_factor
        if (
            power_w > (1 + AGREEMENT) * product_va + self._slack_va
            or (product_va > self._slack_va and 0 <= power_w < MIN_FACTOR * product_va)
            or abs(power_w - real_w) > AGREEMENT * max(power_w, real_w) + self._slack_va
        ):
            yield "inconsistent"
        if answer.energy_wh < self._counted_wh:
            yield "reset"


class AnswerParser(ABC):
    """The parser of a meter whose answers are one reading each. A driver parses the answers.

    `slack_va` is the parameter of `Checks`. A subclass or `__init__` may set it.
    """

    slack_va: ClassVar[float] = 0.0

    def __init__(self, info: MeterInfo, slack_va: float | None = None) -> None:
        self.info = info
        self._checks = Checks(info.range_w, self.slack_va if slack_va is None else slack_va)

    def feed(self, chunk: Chunk) -> list[Reading]:
        """Return the reading of one answer."""
        return [self._checks.reading(chunk.time_s, self.answer(chunk.data))]

    @abstractmethod
    def answer(self, data: bytes) -> Answer:
        """Return the values of an answer. It never raises, on any bytes."""


class EnergyCounter:
    """A counter in microjoules. `total_uj` is what it has counted since the first answer.

    `range_w` is the largest power that the counted part can draw. It tells a wrap from a reset. The
    counter starts again at 0 at the count `wrap_uj`; None means that it never wraps.
    """

    def __init__(self, range_w: float, wrap_uj: int | None = None) -> None:
        self._range_w = range_w
        self._wrap_uj = wrap_uj
        self._last: tuple[float, int] | None = None
        self.total_uj = 0

    def advance(self, time_s: float, count_uj: int) -> tuple[float, str] | None:
        """Return the mean power since the previous answer, in watts, and a flag.

        None at the first answer. The flag is ok or wrapped. Otherwise the power is NaN, and the
        flag says why: lost (the span may have more than one wrap), reset (the counter went back by
        more than a wrap explains), over-range (it grew faster than the part can draw), or
        out-of-order.
        """
        last, self._last = self._last, (time_s, count_uj)
        if last is None:
            return None
        span_s, grown_uj = time_s - last[0], count_uj - last[1]
        if not span_s > 0:
            return NAN, "out-of-order"
        if self._wrap_uj is not None and self._range_w * span_s * 1e6 >= self._wrap_uj:
            return NAN, "lost"
        flag = "ok"
        if grown_uj < 0:
            if self._wrap_uj is None:
                return NAN, "reset"
            grown_uj, flag = grown_uj + self._wrap_uj, "wrapped"
        if not 0 <= grown_uj <= self._range_w * (span_s + SLACK_S) * 1e6:
            return NAN, "over-range" if flag == "ok" else "reset"
        self.total_uj += grown_uj
        return grown_uj / span_s / 1e6, flag
