"""One claim from several campaigns (rule 49)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fsgreen.stats import distributions
from fsgreen.stats.sample import Floats


@dataclass(frozen=True)
class Together:
    """The logarithm of a ratio from several campaigns.

    `low` and `high` hold the mean of all campaigns, `next_low` and `next_high` what a further one
    like these would find, both by `degrees` of freedom; `spread` is the standard deviation between
    campaigns beyond that inside them, and `same_p` belongs to "there is none".
    """

    value: float
    low: float
    high: float
    next_low: float
    next_high: float
    degrees: int
    spread: float
    same_p: float


def random_effects(
    values: ArrayLike, errors: ArrayLike, degrees: ArrayLike = math.inf, level: float = 0.95
) -> Together:
    """Return what campaigns say together, each with an error of its own.

    The spread is that of DerSimonian & Laird 1986, the interval of the mean that of Hartung & Knapp
    2001, no shorter than without their factor. That of the next is that of Higgins et al. 2009 with
    a degree of freedom more than theirs, who have none for two campaigns. Whether campaigns differ
    is tested as Welch 1951 does, as their errors are estimates too.

    `values` and `errors`, shape (campaigns,), are logarithms of ratios and their standard errors.
    `degrees`, of the same shape or a number, are those of freedom of each error; infinite where
    errors are known. Raises ValueError if there are not two campaigns, or an error or its degrees
    are not positive.
    """
    effects, error = np.asarray(values, dtype=float), np.asarray(errors, dtype=float)
    freedom = np.broadcast_to(np.asarray(degrees, dtype=float), effects.shape)
    k = effects.size
    if k < 2 or not ((error > 0).all() and (freedom > 0).all()):
        raise ValueError("it takes two campaigns with errors above zero")
    fixed = error**-2.0
    apart = float(fixed @ (effects - fixed @ effects / fixed.sum()) ** 2)
    spare = fixed.sum() - (fixed**2).sum() / fixed.sum()
    variance = max(0.0, (apart - (k - 1)) / spare)
    weights = 1 / (error**2 + variance)
    value = float(weights @ effects / weights.sum())
    factor = max(1.0, float(weights @ (effects - value) ** 2) / (k - 1))
    mean_error = math.sqrt(factor / weights.sum())
    quantile = float(distributions.t_quantile(0.5 + level / 2, k - 1))
    next_error = math.sqrt(variance + mean_error**2)
    return Together(
        value,
        value - quantile * mean_error,
        value + quantile * mean_error,
        value - quantile * next_error,
        value + quantile * next_error,
        k - 1,
        math.sqrt(variance),
        _same_p(apart, fixed / fixed.sum(), freedom),
    )


def _same_p(apart: float, shares: Floats, degrees: Floats) -> float:
    """Return the p-value of "means are the same" (Welch 1951), by their weighted squares."""
    k = shares.size
    unsure = float(((1 - shares) ** 2 / degrees).sum())
    statistic = apart / (k - 1) / (1 + 2 * (k - 2) / (k**2 - 1) * unsure)
    if unsure == 0:
        return float(distributions.chi2_tail(apart, k - 1))
    return float(distributions.f_tail(statistic, k - 1, (k**2 - 1) / (3 * unsure)))
