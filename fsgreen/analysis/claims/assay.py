"""What a part can decide: how probable each verdict is if the published number is right."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy import special
from scipy import stats as distributions

from fsgreen.claims import EVEN, Band, Part, Verdict, judge
from fsgreen.stats import LEVEL, Estimate

ENOUGH = 0.8
"""A part with so much power is decided."""

NODES = 48
"""Quantiles of the variance that the probabilities are summed over; twice as many change them by
less than 0.005."""


@dataclass(frozen=True)
class Precision:
    """How well a design knows an estimate.

    Attributes
    ----------
    error : float
        Its standard error, of the logarithm where `of_logs`.
    degrees : float
        Of freedom, of that error.
    of_logs : bool
        Whether the interval is that of a ratio, which is symmetric in its logarithm.
    """

    error: float
    degrees: float
    of_logs: bool = True

    @classmethod
    def of(cls, ours: Estimate) -> Precision | None:
        """Return that of an estimate, from its interval; None without one or without a width."""
        if not ours.has_interval or ours.n < 2 or math.isnan(ours.degrees):
            return None
        degrees = ours.degrees or ours.n - 1
        of_logs = ours.low > 0
        low, high = (math.log(end) if of_logs else end for end in (ours.low, ours.high))
        error = (high - low) / 2 / _t(degrees)
        return cls(error, degrees, of_logs) if error > 0 else None

    @property
    def half(self) -> float:
        """Return half the width that an interval of 95 % has on average."""
        return _t(self.degrees) * self.error

    def over(self, blocks: int, of: int) -> Precision:
        """Return that of another number of blocks, where this is of so many."""
        degrees = self.degrees * (blocks - 1) / (of - 1)
        return replace(self, error=self.error * math.sqrt(of / blocks), degrees=degrees)


def probabilities(target: Band, known: Precision, bound: float) -> Mapping[Verdict, float]:
    """Return how probable each verdict is if what the band claims is exactly so.

    The estimate is normal around the truth and its variance has the distribution of chi squared
    over the degrees of freedom, as a Student interval assumes: for each of `NODES` quantiles of the
    variance the verdict changes at a few values of the estimate, whose probabilities are exact.
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
    """Return what is taken for the truth: the middle of a band.

    A claim that has one end, or no size at all, is taken to be right by as much as counts as a
    difference: exactly at its end nothing could show it.
    """
    if math.isfinite(target.high) and target.low > 0:
        return math.sqrt(target.low * target.high)
    if math.isfinite(target.high):
        return target.high - bound * abs(target.high)
    return target.low + bound / (1 - bound) * abs(target.low)


def power(target: Band, known: Precision, bound: float) -> float:
    """Return the probability of "reproduced" if what the band claims is exactly so.

    NaN where no share of the claimed end says what counts as a difference.
    """
    truth = claimed(target, bound)
    if truth == 0 or (truth < 0 and known.of_logs):
        return math.nan
    return min(probabilities(target, known, bound).get("reproduced", 0.0), 1.0)


def with_power(part: Part, bound: float) -> Part:
    """Return a part with its power; what could not be decided in half of all cases says so.

    Without an interval nothing can be decided; of what never varies everything is. Of bounds that
    are no interval of Student's nobody knows.
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
    short = part.verdict == "inconclusive" and chance < EVEN
    return replace(part, power=chance, verdict="underpowered" if short else part.verdict)


def _t(degrees: float) -> float:
    return float(distributions.t.ppf(1 - LEVEL / 2, degrees))


def _scale(of_logs: bool) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Return what takes a value to the scale on which its interval is symmetric, and back."""
    if not of_logs:
        return float, float
    return (lambda value: math.log(value) if value > 0 else -math.inf), math.exp
