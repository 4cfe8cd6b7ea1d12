"""The power of a part: how probable each verdict is if the published number is right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy import special
from scipy import stats as distributions

from fsgreen.claims import Band, Part, Verdict, judge, undecided
from fsgreen.stats import LEVEL, Estimate

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


def probabilities(target: Band, known: Precision, bound: float) -> Mapping[Verdict, float]:
    """Return the probability of each verdict if the truth is what the band claims.

    As a Student interval assumes, the estimate is normal around the truth, and its variance is
    distributed as chi squared over the degrees of freedom. For each of `NODES` quantiles of the
    variance, the verdict changes at a few values of the estimate. The probabilities of the ranges
    between these values are exact. `bound` is the relative difference that counts as one, as a
    share.
    """
    to, back = _scale(known.of_logs)
    truth, chance = to(claimed(target, bound)), Counter[Verdict]()
    quantiles = (np.arange(NODES) + 0.5) / NODES
    spread = np.sqrt(distributions.chi2.ppf(quantiles, known.degrees) / known.degrees)
    edges = [to(end) for end in (target.low, 1.0, target.high) if math.isfinite(end)]
    for half in (known.half * spread).tolist():
        turns = sorted({edge + side * half for edge in edges for side in (-1, 1)} - {-math.inf})
        outer = 10 * known.error + half
        ends = [min(turns[0], truth) - outer, *turns, max(turns[-1], truth) + outer]
        below = special.ndtr((np.array(ends) - truth) / known.error)
        below[0], below[-1] = 0.0, 1.0
        for (low, high), mass in zip(pairwise(ends), np.diff(below).tolist(), strict=True):
            middle = (low + high) / 2
            value, lower, upper = (back(middle + side * half) for side in (0, -1, 1))
            chance[judge(Estimate(value, lower, upper, 2), target)] += mass / NODES
    return dict(chance)


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

    NaN if the claimed truth is 0, or is negative although the estimate is a ratio: a relative
    bound means nothing there.
    """
    truth = claimed(target, bound)
    if truth == 0 or (truth < 0 and known.of_logs):
        return math.nan
    return min(probabilities(target, known, bound).get("reproduced", 0.0), 1.0)


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


def _t(degrees: float) -> float:
    return float(distributions.t.ppf(1 - LEVEL / 2, degrees))


def _scale(of_logs: bool) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Return the functions to and from the scale on which the interval is symmetric."""
    if not of_logs:
        return float, float
    return (lambda value: math.log(value) if value > 0 else -math.inf), math.exp
