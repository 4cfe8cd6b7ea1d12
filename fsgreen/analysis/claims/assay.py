"""The power of a part: how probable each verdict is if the published number is right."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import scipy
from numpy.typing import NDArray

from fsgreen.claims import Band, Part, undecided
from fsgreen.stats import LEVEL, Estimate, distributions

ENOUGH = 0.8
"""A part with this power or more is decidable."""

NODES = 48
"""Number of quantiles of the variance over which probabilities are summed. Twice as many change
them by less than 0.005."""


@dataclass(frozen=True)
class Precision:
    """The precision of an estimate."""

    error: float
    """The standard error; of the logarithm if `of_logs`."""
    degrees: float
    """The degrees of freedom of that error."""
    of_logs: bool = True
    """Whether the estimate is a ratio, whose interval is symmetric in the logarithm."""

    @classmethod
    def of(cls, ours: Estimate) -> Precision | None:
        """Return the precision of an estimate; None if it has no interval, or one without width."""
        if not ours.has_interval or ours.n < 2 or math.isnan(ours.degrees):
            return None
        degrees = ours.degrees or ours.n - 1
        of_logs = ours.low > 0
        low, high = (math.log(end) if of_logs else end for end in (ours.low, ours.high))
        error = (high - low) / 2 / _t(degrees)
        return cls(error, degrees, of_logs) if error > 0 else None

    @property
    def half(self) -> float:
        """Return half the average width of the 95 % interval; of the logarithm if `of_logs`."""
        return _t(self.degrees) * self.error

    def over(self, blocks: int, of: int) -> Precision:
        """Return the precision with `blocks` blocks, given that this one is with `of` blocks."""
        degrees = self.degrees * (blocks - 1) / (of - 1)
        return replace(self, error=self.error * math.sqrt(of / blocks), degrees=degrees)


def claimed(target: Band, bound: float) -> float:
    """Return the value that is taken for the truth: the middle of a band.

    For a band with one end, it is `bound` inside that end, as no trial can show a claim that is
    true exactly at its end.
    """
    if math.isfinite(target.high) and target.low > 0:
        return math.sqrt(target.low * target.high)
    if math.isfinite(target.high):
        return target.high - bound * abs(target.high)
    return target.low + bound / (1 - bound) * abs(target.low)


def power(target: Band, known: Precision, bound: float) -> float:
    """Return the probability of "reproduced" if the truth is what the band claims.

    As a Student interval assumes, the estimate is normal around the truth, and its variance is
    distributed as chi squared over the degrees of freedom. For each of `NODES` quantiles of the
    variance, the chance that the interval lies within the band is exact. `bound` is the relative
    difference that counts as one, as a share.

    NaN if the claimed truth is 0, or is negative although the estimate is a ratio: a relative
    bound means nothing there.
    """
    truth = claimed(target, bound)
    if truth == 0 or (truth < 0 and known.of_logs):
        return math.nan
    low, high, middle = (
        _log(end) if known.of_logs else end for end in (target.low, target.high, truth)
    )
    half = known.half * _spread(known.degrees)
    below = scipy.special.ndtr((high - half - middle) / known.error)
    above = scipy.special.ndtr((low + half - middle) / known.error)
    return float(np.clip(below - above, 0.0, 1.0).mean())


def with_power(part: Part, bound: float) -> Part:
    """Return a part with its power; if it is inconclusive and has little, it is underpowered.

    The power is 0 without an interval, and 1 for a value that never varies. It stays unknown for
    bounds that are no Student interval.
    """
    target, ours = part.band, part.ours
    if target is None or ours is None or target.low >= target.high:
        return part
    if math.isnan(ours.degrees) and ours.low < ours.high:
        return part
    known = Precision.of(ours)
    if known is None:
        chance = float(ours.has_interval) if claimed(target, bound) else math.nan
    else:
        chance = power(target, known, bound)
    if math.isnan(chance):
        return part
    verdict = undecided(chance) if part.verdict == "inconclusive" else part.verdict
    return replace(part, power=chance, verdict=verdict)


@cache
def _t(degrees: float) -> float:
    return float(distributions.t_quantile(1 - LEVEL / 2, degrees))


@cache
def _spread(degrees: float) -> NDArray[np.float64]:
    """Return quantiles of the estimated standard error over the true one."""
    quantiles = (np.arange(NODES) + 0.5) / NODES
    return np.sqrt(distributions.chi2_quantile(quantiles, degrees) / degrees)


def _log(end: float) -> float:
    return math.log(end) if end > 0 else -math.inf
