"""Comparisons of two cells that were measured in the same blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats as distributions

from fsgreen.stats.bootstrap import (
    MIN_BLOCKS,
    NO_SCATTER,
    RESAMPLES,
    BlockTrials,
    resampled_totals,
)
from fsgreen.stats.sample import LEVEL
from fsgreen.stats.summary import Estimate


@dataclass(frozen=True)
class LogRatio:
    """The logarithm of candidate over baseline, its standard error, and the common blocks.

    All that is said about a pair (interval, difference, equivalence) comes from these three, so
    that the answers cannot contradict each other.
    """

    value: float
    error: float
    n: int

    @classmethod
    def of_blocks(cls, log_ratios: ArrayLike) -> LogRatio:
        """Return the mean over blocks, whose logarithms have the shape (n,), and its error."""
        logs = np.asarray(log_ratios, dtype=float)
        n = logs.size
        error = float(logs.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
        return cls(float(logs.mean()) if n else math.nan, error, n)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the Student-t interval of the ratio, with n - 1 degrees of freedom."""
        half = float(distributions.t.ppf(0.5 + level / 2, self.n - 1)) * self.error
        return math.exp(self.value - half), math.exp(self.value + half)

    def difference_p(self) -> float:
        """Return the two-sided p-value of "the ratio is 1"; NaN below two blocks."""
        if self.n < 2 or not math.isfinite(self.error):
            return math.nan
        if self.error < NO_SCATTER:
            return 1.0 if abs(self.value) < NO_SCATTER else 0.0
        return float(2 * distributions.t.sf(abs(self.value) / self.error, self.n - 1))

    def equivalence_p(self, bound: float) -> float:
        """Return the larger p of two one-sided t tests (Schuirmann 1987); NaN below two blocks.

        Parameters
        ----------
        bound : float
            The ratio counts as 1 inside (1 - bound, 1 / (1 - bound)).
        """
        if self.n < 2 or not math.isfinite(self.error):
            return math.nan
        limit = -math.log1p(-bound)
        if self.error < NO_SCATTER:
            return 0.0 if abs(self.value) < limit else 1.0
        return float(distributions.t.sf((limit - abs(self.value)) / self.error, self.n - 1))


@dataclass(frozen=True)
class Comparison:
    """A cell against its baseline over the blocks that both have.

    `ratio` is candidate over baseline, `candidate` and `baseline` are the values themselves;
    `difference_p` belongs to "no difference", `equivalence_p` to "differs by the bound or more".
    """

    ratio: Estimate
    candidate: float
    baseline: float
    difference_p: float
    equivalence_p: float

    def equivalent(self, level: float = LEVEL) -> bool:
        """Return whether equivalence was shown."""
        return self.equivalence_p < level


def compare(
    candidate: pd.DataFrame,
    baseline: pd.DataFrame,
    bound: float,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Return effect size, test of difference and test of equivalence.

    Parameters
    ----------
    candidate, baseline : DataFrame
        A row per trial with the columns `block`, `above` and `below`; the value of a cell is the
        total of `above` over the total of `below` (operations over seconds, say).
    bound : float
        Largest relative difference that counts as none, declared in the plan (0.05 for 5 %).
    seed, resamples : int
        Of the bootstrap.
    """
    pair = _Pair.of(candidate, baseline, seed, resamples)
    logs = pair.log_ratio
    return Comparison(
        pair.estimate(0.95), *pair.values, logs.difference_p(), logs.equivalence_p(bound)
    )


def effect(
    candidate: pd.DataFrame,
    baseline: pd.DataFrame,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return candidate over baseline with a hierarchical bootstrap interval.

    The error of the logarithm of the ratio is that of a bootstrap over blocks, then trials, made
    wider by sqrt(n / (n - 1)), and the interval is Student's (Hesterberg 2015, "t with bootstrap
    standard error"): at five blocks a percentile interval is much too short. Still short for a cell
    with a long tail over one without; docs/statistics.md has its coverage.

    Without `MIN_BLOCKS` common blocks, or where the baseline can be zero, the bounds are NaN; where
    only the candidate can be zero, which has no logarithm, they are percentiles, expanded for few
    blocks (Hesterberg 2015). Columns as in `compare`; `n` counts common blocks.
    """
    return _Pair.of(candidate, baseline, seed, resamples).estimate(level)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for a family of comparisons (Holm 1979); NaN stays NaN."""
    raw = np.asarray(p_values, dtype=float)
    adjusted = np.full(raw.size, math.nan)
    tested = np.flatnonzero(np.isfinite(raw))
    order = tested[np.argsort(raw[tested], kind="stable")]
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, min(1.0, (len(order) - rank) * raw[index]))
        adjusted[index] = running
    return [float(p) for p in adjusted]


@dataclass(frozen=True)
class _Pair:
    """The values of both cells over their common blocks, and as resampled, shape (2, resamples)."""

    values: tuple[float, float]
    resampled: NDArray[np.float64]
    n: int

    @classmethod
    def of(
        cls, candidate: pd.DataFrame, baseline: pd.DataFrame, seed: int, resamples: int
    ) -> _Pair:
        blocks = sorted(set(candidate["block"]) & set(baseline["block"]))
        n = len(blocks)
        if n == 0:
            return cls((math.nan, math.nan), np.empty((2, 0)), 0)
        cells = [BlockTrials.of(cell, blocks) for cell in (candidate, baseline)]
        above, below = np.array([cell.values.sum(axis=0) for cell in cells]).T
        if (below <= 0).any():
            raise ValueError("denominators must be positive")
        one, other = (above / below).tolist()
        if n == 1:
            return cls((one, other), np.empty((2, 0)), 1)
        totals = resampled_totals(cells, seed, resamples)
        return cls((one, other), totals[..., 0] / totals[..., 1], n)

    @property
    def log_ratio(self) -> LogRatio:
        """Return the logarithm of the ratio; NaN where a value or one resampled is not positive."""
        if not (np.array(self.values) > 0).all():
            return LogRatio(math.nan, math.nan, self.n)
        value = math.log(self.values[0] / self.values[1])
        if self.n < 2 or not (self.resampled > 0).all():
            return LogRatio(value, math.nan, self.n)
        spread = float(np.log(self.resampled[0] / self.resampled[1]).std())
        return LogRatio(value, math.sqrt(self.n / (self.n - 1)) * spread, self.n)

    def estimate(self, level: float) -> Estimate:
        """Return the ratio with its interval."""
        candidate, baseline = self.values
        ratio = candidate / baseline if baseline else math.nan
        low, high = math.nan, math.nan
        if self.n >= MIN_BLOCKS and (self.resampled[1] > 0).all():
            logs = self.log_ratio
            low, high = logs.interval(level) if math.isfinite(logs.error) else self._percent(level)
        return Estimate(ratio, low, high, self.n)

    def _percent(self, level: float) -> tuple[float, float]:
        wider = math.sqrt(self.n / (self.n - 1)) * distributions.t.ppf(0.5 + level / 2, self.n - 1)
        tail = distributions.norm.cdf(-wider)
        low, high = np.quantile(self.resampled[0] / self.resampled[1], [tail, 1 - tail])
        return float(low), float(high)
