"""Comparisons of two cells: inside the blocks that both have, or without any (Welch)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from fsgreen.stats import distributions
from fsgreen.stats.bootstrap import MIN_BLOCKS, RESAMPLES, BlockTrials, resampled_totals
from fsgreen.stats.logratio import LogRatio, Scatter
from fsgreen.stats.sample import LEVEL, Floats
from fsgreen.stats.summary import Estimate


@dataclass(frozen=True)
class Comparison:
    """A cell against its baseline over the blocks that both have.

    `ratio` is candidate over baseline, `candidate` and `baseline` are the values themselves;
    `difference_p` belongs to "no difference", `equivalence_p` to "differs by the bound or more".
    A p-value never stands alone (rule 35): both are NaN where the ratio has no interval. `pooled`
    says whether these rest on the scatter of all cells; `bootstrap` is the ratio if not.
    """

    ratio: Estimate
    candidate: float
    baseline: float
    difference_p: float
    equivalence_p: float
    pooled: bool
    bootstrap: Estimate


def compare(
    candidate: pd.DataFrame,
    baseline: pd.DataFrame,
    bound: float,
    scatter: Scatter | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Return effect size, test of difference and test of equivalence.

    The error is that of the bootstrap, or, where the scatter of all cells is given, follows from
    that: five blocks leave four degrees of freedom for a pair and many more for all cells together.
    Cells with several trials in a block keep the bootstrap, which knows how these go together.

    `candidate` and `baseline` have a row per trial with the columns `block`, `above` and `below`;
    the value of a cell is the total of `above` over the total of `below` (operations over seconds,
    say). `bound` is the largest relative difference that counts as none, declared in the plan (0.05
    for 5 %). `scatter` is that of all cells, from `MixedModel.scatter`; not for a cell over itself.
    `seed` and `resamples` are those of the bootstrap.
    """
    pair = _Pair.of(candidate, baseline, scatter, seed, resamples)
    logs = pair.log_ratio
    ratio = pair.estimate(logs)
    return Comparison(
        ratio,
        *pair.values,
        logs.difference_p() if ratio.has_interval else math.nan,
        logs.equivalence_p(bound) if ratio.has_interval else math.nan,
        pair.pooled,
        pair.estimate(pair.resampled_ratio),
    )


def compare_unpaired(
    candidate: pd.DataFrame, baseline: pd.DataFrame, bound: float = math.nan
) -> Comparison:
    """Return effect size and tests by Welch's t of the logarithms (Welch 1947), without blocks.

    The ratio is one of geometric means; drift while the runs were made is scatter, or looks like an
    effect. Without two runs of each cell, or where one is not positive, there is no interval.

    `candidate` and `baseline` have a row per run with the columns `above` and `below`, as in
    `compare`. Without a `bound` nothing is shown to be equivalent.
    """
    cells = (candidate, baseline)
    n = min(map(len, cells))
    ours, theirs = (
        float(cell["above"].sum() / cell["below"].sum()) if n else math.nan for cell in cells
    )
    rates = [(cell["above"] / cell["below"]).to_numpy(dtype=float) for cell in cells]

    def untested(ratio: float) -> Comparison:
        bare, none = Estimate.without_interval(ratio, n), Estimate.without_interval()
        return Comparison(bare, ours, theirs, math.nan, math.nan, False, none)

    if n == 0:
        return untested(math.nan)
    if any((of_cell <= 0).any() for of_cell in rates):
        return untested(ours / theirs if theirs else math.nan)
    logs = [np.log(of_cell) for of_cell in rates]
    difference = float(logs[0].mean() - logs[1].mean())
    ratio = math.exp(difference)
    if n < 2:
        return untested(ratio)
    squares = [float(of_cell.var(ddof=1)) / of_cell.size for of_cell in logs]
    parts = [square**2 / (of_cell.size - 1) for square, of_cell in zip(squares, logs, strict=True)]
    degrees = sum(squares) ** 2 / sum(parts) if sum(parts) else n - 1
    log_ratio = LogRatio(difference, math.sqrt(sum(squares)), degrees)
    return Comparison(
        Estimate(ratio, *log_ratio.interval(), n, degrees),
        ours,
        theirs,
        log_ratio.difference_p(),
        log_ratio.equivalence_p(bound),
        False,
        Estimate.without_interval(),
    )


def effect(
    candidate: pd.DataFrame,
    baseline: pd.DataFrame,
    scatter: Scatter | None = None,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return candidate over baseline with its interval, which rests on what `compare` says.

    Without `scatter`, the error of the logarithm of the ratio is that of a hierarchical bootstrap
    over blocks, then trials, made wider by sqrt(n / (n - 1)), and the interval is Student's
    (Hesterberg 2015, "t with bootstrap standard error"): at five blocks a percentile interval is
    much too short. Still short for a cell with a long tail over one without; docs/statistics.md has
    the coverage of both.

    Without `MIN_BLOCKS` common blocks, or where the baseline can be zero, the bounds are NaN; where
    only the candidate can be zero, which has no logarithm, they are percentiles, expanded for few
    blocks (Hesterberg 2015). Columns as in `compare`; `n` counts common blocks.
    """
    pair = _Pair.of(candidate, baseline, scatter, seed, resamples)
    return pair.estimate(pair.log_ratio, level)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for a family of comparisons (Holm 1979); NaN stays NaN."""
    raw = np.asarray(p_values, dtype=float)
    adjusted = np.full(raw.size, math.nan)
    tested = np.flatnonzero(np.isfinite(raw))
    order = tested[np.argsort(raw[tested], kind="stable")]
    of_rest = np.minimum(raw[order] * np.arange(len(order), 0, -1), 1.0)
    adjusted[order] = np.maximum.accumulate(of_rest)
    return [float(p) for p in adjusted]


def simultaneous(ratio: Estimate, count: int) -> Estimate:
    """Return a ratio with the interval that holds for `count` ratios at once (Bonferroni).

    Where one of several is looked at because of what was found, as is the one that did best, all of
    them may have misled. Bounds that are no interval of Student's are none of many either: NaN.
    """
    degrees = ratio.degrees or ratio.n - 1
    low, high = math.nan, math.nan
    if ratio.has_interval and ratio.low > 0 and degrees > 0:
        half = math.log(ratio.high / ratio.low) / 2
        alone, all_of_them = (
            distributions.t_quantile(1 - LEVEL / 2 / among, degrees) for among in (1, count)
        )
        wider = float(half * all_of_them / alone)
        low, high = ratio.value * math.exp(-wider), ratio.value * math.exp(wider)
    return replace(ratio, low=low, high=high)


@dataclass(frozen=True)
class _Pair:
    """The values of both cells over their common blocks, and as resampled, shape (2, resamples).

    `error` is that of the logarithm of their ratio by the scatter of all cells, with its degrees;
    `widening` is what that of the bootstrap is multiplied by where blocks depend on each other.
    """

    values: tuple[float, float]
    resampled: Floats
    n: int
    error: float = math.nan
    degrees: int = 0
    widening: float = 1.0

    @classmethod
    def of(
        cls,
        candidate: pd.DataFrame,
        baseline: pd.DataFrame,
        scatter: Scatter | None,
        seed: int,
        resamples: int,
    ) -> _Pair:
        blocks = sorted(set(candidate["block"]) & set(baseline["block"]))
        n = len(blocks)
        if n == 0:
            return cls((math.nan, math.nan), np.empty((2, 0)), 0)
        cells = [BlockTrials.of(cell, blocks) for cell in (candidate, baseline)]
        above, below = np.array([cell.values.sum(axis=0) for cell in cells]).T
        if (below <= 0).any():
            raise ValueError("denominators must be positive")
        candidate_value, baseline_value = (above / below).tolist()
        if n == 1:
            return cls((candidate_value, baseline_value), np.empty((2, 0)), 1)
        totals = resampled_totals(cells, seed, resamples)
        resampled = totals[..., 0] / totals[..., 1]
        pair = cls((candidate_value, baseline_value), resampled, n)
        if scatter is None:
            return pair
        pair = replace(pair, widening=scatter.widening)
        if not all(cell.single for cell in cells):
            return pair
        return replace(pair, error=scatter.error(n), degrees=scatter.degrees)

    @property
    def log_ratio(self) -> LogRatio:
        """Return the logarithm of the ratio, with the error by all cells if there is one."""
        own = self.resampled_ratio
        return LogRatio(own.value, self.error, self.degrees) if self.pooled else own

    @property
    def pooled(self) -> bool:
        """Return whether the error by all cells holds: there is one, and nothing can be zero."""
        return math.isfinite(self.error) and math.isfinite(self.resampled_ratio.error)

    @cached_property
    def resampled_ratio(self) -> LogRatio:
        """The same by the bootstrap alone; NaN where a value or one resampled is not positive."""
        if not (np.array(self.values) > 0).all():
            return LogRatio(math.nan, math.nan, self.n - 1)
        value = math.log(self.values[0] / self.values[1])
        if self.n < 2 or not (self.resampled > 0).all():
            return LogRatio(value, math.nan, self.n - 1)
        spread = float(np.log(self.resampled[0] / self.resampled[1]).std())
        wider = self.widening * math.sqrt(self.n / (self.n - 1))
        return LogRatio(value, wider * spread, self.n - 1)

    def estimate(self, logs: LogRatio, level: float = 0.95) -> Estimate:
        """Return the ratio with the interval of its logarithm."""
        candidate, baseline = self.values
        ratio = candidate / baseline if baseline else math.nan
        low, high = math.nan, math.nan
        if self.n >= MIN_BLOCKS and (self.resampled[1] > 0).all():
            low, high = logs.interval(level) if math.isfinite(logs.error) else self._percent(level)
        return Estimate(ratio, low, high, self.n, logs.degrees)

    def _percent(self, level: float) -> tuple[float, float]:
        wider = self.widening * math.sqrt(self.n / (self.n - 1))
        wider *= distributions.t_quantile(0.5 + level / 2, self.n - 1)
        tail = distributions.normal_cdf(-wider)
        low, high = np.quantile(self.resampled[0] / self.resampled[1], [tail, 1 - tail])
        return float(low), float(high)
