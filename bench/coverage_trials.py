"""Distributions of simulated trials, with the truth that estimators are to find."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy import stats as distributions

Floats = NDArray[np.float64]
Rng = np.random.Generator


@dataclass(frozen=True)
class Mixture:
    """Positive trials with mean 1: normal ones, with equal scatter around one or several modes."""

    modes: tuple[float, ...]
    shares: tuple[float, ...]
    sd: float

    def draw(self, rng: Rng, size: int | tuple[int, ...]) -> Floats:
        """Return trials."""
        centres = rng.choice(self.modes, p=self.shares, size=size)
        return np.asarray(rng.normal(centres, self.sd))

    @cached_property
    def median(self) -> float:
        """Return the median."""

        def excess(x: float) -> float:
            return float(np.dot(self.shares, distributions.norm.cdf(x, self.modes, self.sd))) - 0.5

        return float(optimize.brentq(excess, min(self.modes) - 1, max(self.modes) + 1))

    @cached_property
    def log_mean(self) -> float:
        """Return the mean of the logarithms, by Gauss-Hermite quadrature."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        logs = np.log(np.add.outer(np.array(self.modes), self.sd * nodes))
        return float(self.shares @ logs @ weights / weights.sum())


@dataclass(frozen=True)
class LogNormal:
    """Positive trials with mean 1 and a long tail."""

    sd: float

    def draw(self, rng: Rng, size: int | tuple[int, ...]) -> Floats:
        """Return trials."""
        return rng.lognormal(self.log_mean, self.sd, size)

    @property
    def median(self) -> float:
        """Return the median."""
        return math.exp(self.log_mean)

    @property
    def log_mean(self) -> float:
        """Return the mean of the logarithms."""
        return -(self.sd**2) / 2


Trials = Mixture | LogNormal

DISTRIBUTIONS: Mapping[str, Trials] = {
    "normal": Mixture((1.0,), (1.0,), 0.05),
    "log-normal": LogNormal(math.sqrt(math.log(1 + 0.8**2))),
    "bimodal": Mixture((0.9, 1.1), (0.5, 0.5), 0.02),
    "uneven bimodal": Mixture((0.8, 1.05), (0.2, 0.8), 0.02),
}
"""Coefficients of variation: 5 %, 80 % (the Ext2 web cell of fast10 after 30 runs), 10 %, 10 %."""
