"""How well blocks to come make an estimate known, and what power that gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from fsgreen import stats
from fsgreen.analysis.claims.assay import Precision, power
from fsgreen.claims import Band, Part


@dataclass(frozen=True)
class Reach:
    """How precise an estimate becomes with each block."""

    error: float
    """Standard error with one block; of the logarithm if `of_logs`."""
    degrees: float
    """Degrees of freedom that each block beyond the first brings."""
    of_logs: bool = True

    def after(self, blocks: int) -> Precision | None:
        """Return the precision after this many blocks; None if they are too few for an interval."""
        if blocks < stats.MIN_BLOCKS:
            return None
        error = self.error / math.sqrt(blocks)
        return Precision(error, self.degrees * (blocks - 1), self.of_logs)


@dataclass(frozen=True)
class Expected(stats.Estimate):
    """An estimate to come: its value is a placeholder of 1, its interval has the expected width.

    `reach` is None if the width cannot be predicted.
    """

    reach: Reach | None = None

    @classmethod
    def of(cls, reach: Reach | None, blocks: int) -> Expected:
        """Return the expected estimate after this many blocks."""
        known = None if reach is None else reach.after(blocks)
        if known is None:
            return cls(1.0, math.nan, math.nan, blocks, reach=reach)
        half = known.half
        ends = (math.exp(-half), math.exp(half)) if known.of_logs else (1 - half, 1 + half)
        return cls(1.0, *ends, blocks, known.degrees, reach)


def power_of(part: Part, blocks: int, bound: float) -> float:
    """Return the power that a part to come has after so many blocks; NaN where nobody knows."""
    if part.band is None or not isinstance(part.ours, Expected) or part.ours.reach is None:
        return math.nan
    return _power(part.band, part.ours.reach, blocks, bound)


@cache
def _power(target: Band, reach: Reach, blocks: int, bound: float) -> float:
    known = reach.after(blocks)
    if target.low >= target.high:
        return math.nan
    if known is None:
        return 0.0
    return power(target, known, bound) if known.error > 0 else 1.0  # what never varies is decided
