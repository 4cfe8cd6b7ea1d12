"""Parts of claims that are recomputed from a paper's own printed numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fsgreen.claims import Band, Part, band, judge, unit_of, written
from fsgreen.stats import Estimate


def implied(number: Mapping[str, Any], what: str, value: float) -> Part:
    """Return the part in which a printed number meets the one that other printed numbers imply."""
    point = Estimate(value, value, value, 1)
    target = band(number, "published", bound=0.0)
    verdict = judge(point, target)
    return Part(what, verdict, "published", written(number), target, point, unit_of(number))


def holds(what: str, condition: bool, published: str) -> Part:
    """Return the part in which something printed is so or not."""
    return Part(what, "reproduced" if condition else "not reproduced", "published", published)


def inside(
    what: str, value: float, target: Band, published: str, unit: Literal["x", "share", ""] = ""
) -> Part:
    """Return the part in which a number computed from printed ones lies in a band or not."""
    point = Estimate(value, value, value, 1)
    return Part(what, judge(point, target), "published", published, target, point, unit)


def beyond(what: str) -> Part:
    """Return the part that no printed number decides; its need is a name of `needs.yaml`."""
    return Part(what, "not testable here", needs="numbers-not-printed")
