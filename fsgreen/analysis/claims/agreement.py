"""What counts as agreement with a claim, by the kind of its selector."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fsgreen.analysis.claims.kinds import Amount, Order, Ratio, Selector
from fsgreen.claims import ABOVE, Band, about, band


def band_of(selector: Selector, number: Mapping[str, Any] | None, bound: float) -> Band:
    """Return the band in which the estimate of a selector agrees.

    `number` is the published one that the selector names, with the relation that it names. `bound`
    is the relative difference within which two cells are equal.
    """
    match selector:
        case Order():
            return Band(1 / (1 - bound), math.inf, 1) if selector.beyond_bound else ABOVE
        case Ratio(tolerance=float(share)) if number is not None:
            value = number["value"]
            return Band(value * (1 - share), value * (1 + share), 0)
        case Ratio() if number is not None:
            return band(number, "measured", bound)
        case Ratio():
            least, most = selector.at_least or 0.0, selector.at_most or math.inf
            return Band(least, most, 1 if least > 1 else -1 if most < 1 else 0)
        case Amount(unit="x") if number is not None:
            return replace(band(number, "measured", bound), direction=0)
        case Amount() if number is not None:
            return _of_level(float(number["value"]), number["op"])
        case Amount(above=float(least)):
            return Band(math.nextafter(least, math.inf), math.inf, 0)
        case Amount():
            low, high = selector.at_least, selector.at_most
            return Band(low or 0.0, math.inf if high is None else high, 0)
    return Band(1 - bound, 1 / (1 - bound), 0)


def _of_level(value: float, op: str) -> Band:
    """Return what agrees with a published number that is no ratio."""
    near = about(value)
    return {
        "at_least": Band(value, math.inf, 0),
        "greater_than": Band(value, math.inf, 0),
        "at_most": Band(0.0, value, 0),
        "less_than": Band(0.0, value, 0),
        "slightly_above": Band(value, near.high, 0),
        "at_least_about": Band(near.low, math.inf, 0),
    }.get(op, near)
