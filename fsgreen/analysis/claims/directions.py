"""What virtual time decides of cells: a direction alone, as no interval has its model's error."""

from __future__ import annotations

import math
from dataclasses import replace

from fsgreen.claims import ABOVE, SIZE_OPEN, Band, Part, Verdict, by_construction, judge
from fsgreen.stats import Estimate

REAL_TIME = "real time: no interval in virtual time has the error of its model"
"""What a size takes."""

BELOW = Band(0.0, math.nextafter(1, 0), -1)


def by_direction(part: Part) -> Part:
    """Return a part of virtual time as far as it decides its claim.

    Its interval is how far runs scatter that begin at other moments. The error of the model, by
    which the same cells differ in real time (rule 49), is not in it. So such runs are no sample
    of which a power, or a mean of campaigns, would follow. On cells they decide a direction; what
    has a size alone is left to real time. What holds by construction still does.
    """
    ours, target = part.ours, part.band
    if not part.tested or ours is None or target is None or not ours.has_interval:
        return part
    if not part.cells and ours.low == ours.high:
        return part  # a rule gives it, and no run
    known = replace(part, ours=replace(ours, degrees=math.nan), power=math.nan)
    if not part.cells or part.verdict == "by construction":
        return known
    if target.direction == 0:
        return replace(known, verdict="not testable here", basis=None, needs=REAL_TIME)
    verdict = _on_its_side(ours, target)
    if part.built:
        return by_construction(replace(known, verdict=verdict))
    return replace(known, verdict=verdict, needs=REAL_TIME if verdict == SIZE_OPEN else part.needs)


def _on_its_side(ours: Estimate, target: Band) -> Verdict:
    """Return the verdict on the side of 1 that is claimed; a size beyond that is left open."""
    side = ABOVE if target.direction > 0 else BELOW
    verdict = judge(ours, side)
    return SIZE_OPEN if verdict == "reproduced" and target != side else verdict
