"""Which of several parts is worst for a claim on all of them."""

from __future__ import annotations

import math

from fsgreen.claims import AGREES, Part, Verdict

WORST_FIRST: tuple[Verdict, ...] = (
    *("reversed", "not reproduced", "inconclusive", "underpowered"),
    *reversed(AGREES),
)


def badness(part: Part) -> tuple[int, float, float]:
    """Return a key by which the part that is worst for a claim comes first."""
    return WORST_FIRST.index(part.verdict), _room(part), part.power


def _room(part: Part) -> float:
    """Return how far inside its band a ratio lies, as a logarithm; negative beyond an end."""
    if part.ours is None or part.band is None or math.isnan(part.ours.value):
        return -math.inf
    value, low, high = part.ours.value, part.band.low, part.band.high
    if value <= 0:
        return -math.inf if low > 0 else math.inf
    above = math.log(value / low) if low > 0 else math.inf
    return min(above, math.log(high / value))
