"""Summaries of one cell: centre with confidence interval, and variation as a result.

How often each interval covers the truth is in docs/statistics.md, and `stats.coverage` reads it.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from fsgreen.stats import distributions
from fsgreen.stats.sample import sample_of


@dataclass(frozen=True)
class Estimate:
    """A value with its confidence interval from `n` trials; the bounds are NaN without one.

    `degrees` are those of freedom of its error; 0 stands for those of `n` trials, NaN for bounds
    that are no interval of Student's (`spanning`).
    """

    value: float
    low: float
    high: float
    n: int
    degrees: float = 0

    @classmethod
    def spanning(cls, value: float, low: float, high: float, n: int) -> Estimate:
        """Return a value between the least and the most that was found, or that may be so.

        Such bounds have no error from which a power, or an interval over several campaigns, would
        follow.
        """
        return cls(value, low, high, n, math.nan)

    @classmethod
    def over_all(cls, values: pd.Series) -> Estimate:
        """Return the mean between the least and the most that was found."""
        return cls.spanning(values.mean(), values.min(), values.max(), len(values))

    @classmethod
    def exactly(cls, value: float, n: int = 1) -> Estimate:
        """Return a value that has no error."""
        return cls(value, value, value, n)

    @classmethod
    def without_interval(cls, value: float = math.nan, n: int = 0) -> Estimate:
        """Return a value of too few trials, or that nothing is known."""
        return cls(value, math.nan, math.nan, n)

    @property
    def half_width_percent(self) -> float:
        """Return half the interval as a percentage of the value."""
        return 50.0 * (self.high - self.low) / abs(self.value) if self.value else math.nan

    @property
    def has_interval(self) -> bool:
        """Return whether there were enough trials for an interval."""
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True)
class Variation:
    """How far trials scatter, as percentages of their mean, with the 5th and 95th percentile."""

    cv_percent: float
    range_percent: float
    p5: float
    p95: float


def mean_ci(values: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the arithmetic mean with its Student-t interval (Hoefler & Belli 2015, section 3.1.1).

    Too short for few trials from a long tail (docs/statistics.md).

    `values`, shape (n,), has one per trial; `level` is that of confidence.
    """
    sample = sample_of(values)
    n = sample.size
    mean = float(sample.mean())
    if n < 2:
        return Estimate.without_interval(mean, n)
    half = _t_quantile(level, n - 1) * float(sample.std(ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, n)


def median_ci(values: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the median with the interval between two ranks (Hoefler & Belli 2015, section 3.1.2).

    The ranks are the narrowest symmetric pair whose binomial coverage reaches `level`, whatever the
    distribution; fewer than six trials have none at 95 %, so that the bounds are NaN.
    """
    sample = np.sort(sample_of(values))
    n = sample.size
    median = float(np.median(sample))
    rank = _rank(n, level)
    if rank < 0:
        return Estimate.without_interval(median, n)
    return Estimate(median, float(sample[rank]), float(sample[n - 1 - rank]), n)


def ratio_of_totals(
    numerators: ArrayLike, denominators: ArrayLike, level: float = 0.95
) -> Estimate:
    """Return total over total with its interval (Cochran, Sampling Techniques, section 6.4).

    The variance is that of the residuals `x - R y`, so that the pairing of work and energy (or of
    work and time) within a trial counts. Rates such as operations per joule must not be averaged.
    Too short for few trials from a long tail (docs/statistics.md).

    Raises ValueError if the two samples differ in length or a denominator is not positive.
    """
    above, below = sample_of(numerators), sample_of(denominators)
    if above.shape != below.shape:
        raise ValueError("numerators and denominators must come from the same trials")
    if (below <= 0).any():
        raise ValueError("denominators must be positive")
    n = above.size
    ratio = float(above.sum() / below.sum())
    if n < 2:
        return Estimate.without_interval(ratio, n)
    residuals = above - ratio * below
    error = math.sqrt(float((residuals**2).sum()) / (n - 1) / n) / float(below.mean())
    half = _t_quantile(level, n - 1) * error
    return Estimate(ratio, ratio - half, ratio + half, n)


def harmonic_mean(rates: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the harmonic mean of rates, for trials that each did the same work.

    It is then total work over total time (Hoefler & Belli 2015, rule 3), which `ratio_of_totals`
    gives for any trials whose totals are known. The interval is that of the mean time per work,
    turned over; its upper bound is infinite where that mean could be zero.

    Raises ValueError if a rate is not positive.
    """
    sample = sample_of(rates)
    if (sample <= 0).any():
        raise ValueError("rates must be positive")
    times = mean_ci(1 / sample, level)
    high = 1 / times.low if times.low > 0 or math.isnan(times.low) else math.inf
    return Estimate(1 / times.value, 1 / times.high, high, times.n)


def variation(values: ArrayLike) -> Variation:
    """Return coefficient of variation, relative range and percentiles (Cao et al. 2017)."""
    sample = sample_of(values)
    mean = abs(float(sample.mean()))
    p5, p95 = (float(q) for q in np.percentile(sample, [5, 95]))
    if sample.size < 2 or mean == 0:
        return Variation(math.nan, math.nan, p5, p95)
    spread = float(sample.max() - sample.min())
    return Variation(100 * float(sample.std(ddof=1)) / mean, 100 * spread / mean, p5, p95)


@functools.cache
def _rank(n: int, level: float) -> int:
    """Return the rank of the lower bound, from 0; negative if there is none."""
    outside = (1 - level) / 2
    rank = int(scipy.stats.binom.ppf(outside, n, 0.5))
    return rank - 1 if scipy.stats.binom.cdf(rank, n, 0.5) > outside else rank


def _t_quantile(level: float, degrees: int) -> float:
    return float(distributions.t_quantile(0.5 + level / 2, degrees))
