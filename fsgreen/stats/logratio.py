"""The logarithm of a ratio, how well it is known, and what follows from that."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fsgreen.stats import distributions

NO_SCATTER = 1e-12
"""Standard errors of a logarithm below this are rounding."""


@dataclass(frozen=True)
class Scatter:
    """How far logarithms of trials scatter inside blocks: one number, from all cells of a group.

    `sd` is the standard deviation (0.05 for about 5 %; NaN where cells must not be pooled),
    `degrees` are those of freedom, and `block_degrees` what a further whole block would add to
    them. `widening` is what errors are multiplied by where blocks depend on each other.
    """

    sd: float
    degrees: int
    block_degrees: int
    widening: float = 1.0

    def error(self, blocks: int) -> float:
        """Return the standard error of the logarithm of a ratio of totals over so many blocks.

        The coefficient of variation is that of log-normal trials, as totals are sums of trials.
        """
        return self.widening * math.sqrt(2 * math.expm1(self.sd**2) / blocks)


@dataclass(frozen=True)
class LogRatio:
    """The logarithm of candidate over baseline, its standard error, and the degrees of freedom.

    All that is said about a pair (interval, difference, equivalence) comes from these three, so
    that the answers cannot contradict each other.
    """

    value: float
    error: float
    degrees: float

    @classmethod
    def of_blocks(cls, log_ratios: ArrayLike) -> LogRatio:
        """Return the mean over blocks, whose logarithms have the shape (n,), and its error."""
        logs = np.asarray(log_ratios, dtype=float)
        n = logs.size
        error = float(logs.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        return cls(float(logs.mean()) if n else math.nan, error, n - 1)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the Student-t interval of the ratio."""
        half = float(distributions.t_quantile(0.5 + level / 2, self.degrees)) * self.error
        return math.exp(self.value - half), math.exp(self.value + half)

    def difference_p(self) -> float:
        """Return the two-sided p-value of "the ratio is 1"; NaN without a degree of freedom."""
        if self.degrees < 1 or not math.isfinite(self.error):
            return math.nan
        if self.error < NO_SCATTER:
            return 1.0 if abs(self.value) < NO_SCATTER else 0.0
        return float(2 * distributions.t_tail(abs(self.value) / self.error, self.degrees))

    def equivalence_p(self, bound: float) -> float:
        """Return the larger p of two one-sided t tests (Schuirmann 1987); NaN without a degree.

        The ratio counts as 1 inside (1 - bound, 1 / (1 - bound)).
        """
        if self.degrees < 1 or not math.isfinite(self.error):
            return math.nan
        limit = -math.log1p(-bound)
        if self.error < NO_SCATTER:
            return 0.0 if abs(self.value) < limit else 1.0
        return float(distributions.t_tail((limit - abs(self.value)) / self.error, self.degrees))
