"""What virtual time decides: only directions, as no interval includes the error of its model."""

from __future__ import annotations

import math
from dataclasses import replace

from fsgreen.claims import ABOVE, SIZE_OPEN, Band, Part, Verdict, by_construction, judge
from fsgreen.stats import Estimate

REAL_TIME = "real time: no interval in virtual time has the error of its model"
"""What a claim on a size needs."""

BELOW = Band(0.0, math.nextafter(1, 0), -1)


def by_direction(part: Part) -> Part:
    """Return a part of virtual time, reduced to what virtual time can decide.

    The interval has only the scatter between runs that begin at different moments. It does not have
    the error of the model, which is the difference from the same cells in real time (rule 49). So
    these runs are no sample, and give neither a power nor a mean over campaigns. They decide only
    the direction of a difference between cells. A claim on a size alone is left to real time. A
    part that holds by construction is unchanged.
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
    """Return the verdict on the claimed side of 1; if a size is claimed, too, it is left open."""
    side = ABOVE if target.direction > 0 else BELOW
    verdict = judge(ours, side)
    return SIZE_OPEN if verdict == "reproduced" and target != side else verdict
