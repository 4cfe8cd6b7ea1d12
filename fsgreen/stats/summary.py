"""Summaries of one cell: centre with confidence interval, and variation as a result."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats as distributions


@dataclass(frozen=True)
class Estimate:
    """A value with its confidence interval from `n` trials; the bounds are NaN without one."""

    value: float
    low: float
    high: float
    n: int

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

    Parameters
    ----------
    values : array_like, shape (n,)
        One value per trial.
    level : float
        Confidence level.
    """
    sample = _sample(values)
    n = sample.size
    mean = float(sample.mean())
    if n < 2:
        return Estimate(mean, math.nan, math.nan, n)
    half = _t_quantile(level, n - 1) * float(sample.std(ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - half, mean + half, n)


def median_ci(values: ArrayLike, level: float = 0.95) -> Estimate:
    """Return the median with the interval between two ranks (Hoefler & Belli 2015, section 3.1.2).

    The ranks are the widest symmetric pair whose binomial coverage reaches `level`; fewer than six
    trials have none at 95 %, so that the bounds are NaN.
    """
    sample = np.sort(_sample(values))
    n = sample.size
    median = float(np.median(sample))
    rank = int(distributions.binom.ppf((1 - level) / 2, n, 0.5))
    if distributions.binom.cdf(rank, n, 0.5) > (1 - level) / 2:
        rank -= 1
    if rank < 0:
        return Estimate(median, math.nan, math.nan, n)
    return Estimate(median, float(sample[rank]), float(sample[n - 1 - rank]), n)


def ratio_of_totals(
    numerators: ArrayLike, denominators: ArrayLike, level: float = 0.95
) -> Estimate:
    """Return total over total with its interval (Cochran, Sampling Techniques, section 6.4).

    The variance is that of the residuals `x - R y`, so that the pairing of work and energy (or of
    work and time) within a trial counts. Rates such as operations per joule must not be averaged.

    Raises
    ------
    ValueError
        If the two samples differ in length or a denominator is not positive.
    """
    above, below = _sample(numerators), _sample(denominators)
    if above.shape != below.shape:
        raise ValueError("numerators and denominators must come from the same trials")
    if (below <= 0).any():
        raise ValueError("denominators must be positive")
    n = above.size
    ratio = float(above.sum() / below.sum())
    if n < 2:
        return Estimate(ratio, math.nan, math.nan, n)
    residuals = above - ratio * below
    error = math.sqrt(float((residuals**2).sum()) / (n - 1) / n) / float(below.mean())
    half = _t_quantile(level, n - 1) * error
    return Estimate(ratio, ratio - half, ratio + half, n)


def variation(values: ArrayLike) -> Variation:
    """Return coefficient of variation, relative range and percentiles (Cao et al. 2017)."""
    sample = _sample(values)
    mean = float(sample.mean())
    p5, p95 = (float(q) for q in np.percentile(sample, [5, 95]))
    if sample.size < 2 or mean == 0:
        return Variation(math.nan, math.nan, p5, p95)
    spread = float(sample.max() - sample.min())
    return Variation(100 * float(sample.std(ddof=1)) / mean, 100 * spread / mean, p5, p95)


def normality_p(values: ArrayLike) -> float:
    """Return the p-value of Shapiro and Wilk, NaN below three trials or without variation."""
    sample = _sample(values)
    if sample.size < 3 or float(np.ptp(sample)) == 0:
        return math.nan
    return float(distributions.shapiro(sample).pvalue)


def _t_quantile(level: float, degrees: int) -> float:
    return float(distributions.t.ppf(0.5 + level / 2, degrees))


def _sample(values: ArrayLike) -> NDArray[np.float64]:
    sample = np.asarray(values, dtype=float)
    if sample.ndim != 1 or sample.size == 0 or not np.isfinite(sample).all():
        raise ValueError("a sample needs at least one trial and finite values only")
    return sample
