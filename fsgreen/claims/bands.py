"""Which ratios agree with a published number, and the verdict on ours (rule 44)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fsgreen.claims.published import as_ratio, unit_of
from fsgreen.claims.verdicts import SIZE_EXCLUDED, SIZE_OPEN, Basis, Verdict

if TYPE_CHECKING:
    from fsgreen.stats import Estimate

MEASURED_TOLERANCE = 0.10
"""A measured ratio agrees within 10 % of the published one, on another machine and kernel, and
within half the published effect where that is less: no effect must not agree with a small one."""

PUBLISHED_TOLERANCE = 0.02
"""Printed numbers agree with each other within 2 %, or within their rounding if that is more: one
percentage point, or half a unit in the last printed place of a factor, but never less closely than
measured ones do: 4.5 is no 4."""

ORDER_OF_MAGNITUDE = math.sqrt(10)
"""A factor is of the order that is named when it is within half a decade of it."""


@dataclass(frozen=True)
class Band:
    """The ratios that count as agreement, and the side of 1 on which the claim is."""

    low: float
    high: float
    direction: Literal[-1, 0, 1]


ABOVE = Band(math.nextafter(1, math.inf), math.inf, 1)
"""One is above another, by the ratio of the two; an interval that begins at 1 does not show it."""


def about(value: float) -> Band:
    """Return the band of an absolute number: within the tolerance of measured ones."""
    return Band(value * (1 - MEASURED_TOLERANCE), value * (1 + MEASURED_TOLERANCE), 0)


def band(number: Mapping[str, Any], basis: Basis, bound: float) -> Band:
    """Return the ratios that agree with a published number.

    `number` is an entry of `numbers` in the published claims. `basis` is what ours rests on; it
    decides the tolerance. `bound` is the relative difference within which two cells are equal, from
    the plan.
    """
    unit, op = unit_of(number), number["op"]
    value = as_ratio(number["value"], unit)
    if op == "order_of_magnitude":
        return Band(value / ORDER_OF_MAGNITUDE, value * ORDER_OF_MAGNITUDE, _side(value))
    if op == "indistinguishable" or value == 1:
        return Band(1 - bound, 1 / (1 - bound), 0)
    if op == "less_than" and unit == "change":
        return Band(1 - number["value"] / 100, value, 0)
    if op in ("greater_than", "at_least"):
        return Band(value, math.inf, _side(value))
    if op in ("less_than", "at_most"):
        return Band(0.0, value, _side(value))
    high = as_ratio(number.get("value_high", number["value"]), unit)
    margins = [_margin(ratio, number, basis) for ratio in (value, high)]
    return Band(value - margins[0], high + margins[1], _side(value))


def judge(ours: Estimate, target: Band) -> Verdict:
    """Return the verdict on a ratio (rule 44).

    reproduced: the interval is inside the band. direction only: it is wholly on the published side
    of 1 but not inside; the size is excluded if it is outside, else open. reversed: wholly on the
    other side. not reproduced: it excludes the band without showing a direction, or shows a
    difference where none was claimed. Otherwise, and without an interval, inconclusive.
    """
    if not ours.has_interval:
        return "inconclusive"
    if target.low <= ours.low and ours.high <= target.high:
        return "reproduced"
    apart = ours.high < target.low or ours.low > target.high
    if target.direction == 0:
        return "not reproduced" if apart else "inconclusive"
    side = 1 if ours.low > 1 else -1 if ours.high < 1 else 0
    if side == target.direction:
        return SIZE_EXCLUDED if apart else SIZE_OPEN
    if side == -target.direction and apart:
        return "reversed"
    return "not reproduced" if apart else "inconclusive"


def _side(ratio: float) -> Literal[-1, 0, 1]:
    return 1 if ratio > 1 else -1 if ratio < 1 else 0


def _margin(ratio: float, number: Mapping[str, Any], basis: Basis) -> float:
    measured = min(MEASURED_TOLERANCE * ratio, abs(ratio - 1) / 2)
    if basis != "published":
        return measured
    places = len(f"{number['value']:g}".partition(".")[2])
    rounding = 0.01 if unit_of(number) == "change" else 0.5 * 10.0**-places
    return min(max(PUBLISHED_TOLERANCE * ratio, rounding), measured)
