"""What a design can show before it is measured."""

from __future__ import annotations

import math

import scipy

from fsgreen.stats import distributions
from fsgreen.stats.sample import LEVEL


def smallest_difference(
    error: float, degrees: float, level: float = LEVEL, power: float = 0.8
) -> float:
    """Return the least difference that a two-sided t test finds with a given probability.

    The test's statistic has the noncentral t distribution (Johnson, Kotz & Balakrishnan, Continuous
    Univariate Distributions, chapter 31). What it would find on the wrong side is next to nothing,
    and left out. NaN without a degree of freedom.

    `error` is the standard error of what is tested, a difference of logarithms, say, and `degrees`
    are its degrees of freedom. `level` is that of the test; that of a family over its size, for one
    that Holm's way finds in any case. `power` is how probable it is to be found.
    """
    if not (degrees >= 1 and error > 0):
        return math.nan
    quantile = float(distributions.t_quantile(1 - level / 2, degrees))

    def short(shift: float) -> float:
        return float(scipy.stats.nct.sf(quantile, degrees, shift)) - power

    most = quantile + float(distributions.t_quantile(power, degrees)) + 10
    while short(most) < 0:
        most *= 2
    return error * float(scipy.optimize.brentq(short, 0.0, most))
