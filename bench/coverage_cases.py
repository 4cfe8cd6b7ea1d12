"""What `bench.coverage` simulates: a case for each estimator and test.

A case draws trials whose truth is known, gives them to the function of `fsgreen.stats` that
reports use, and returns whether the interval covered the truth or the test raised an alarm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from bench.coverage_trials import DISTRIBUTIONS, Floats, Rng, Trials
from fsgreen import stats
from fsgreen.stats.coverage import Kind
from fsgreen.stats.interactions import contrast

LEVEL = 0.05
RESAMPLES = 2_000
"""Of each bootstrap: its error of 1.6 % of an interval's width is lost in the simulation's."""

BLOCK_SD = 0.05
"""Scatter of the logarithms between blocks."""

CELLS = 6
COMPARISONS = 10
BOUND = 0.05
TARGET_PERCENT = 5.0


@dataclass(frozen=True)
class Case:
    """An estimator or test, and how one repetition of it comes out.

    `hit` takes the distribution, n and a generator and returns the share of intervals that covered
    or of tests that raised an alarm in one repetition, or NaN where there is none. A repetition
    costs about as much as `cost` of the cheapest.
    """

    estimator: str
    kind: Kind
    hit: Callable[[Trials, int, Rng], float]
    cost: int = 1
    distributions: Sequence[str] = tuple(DISTRIBUTIONS)
    counts: Sequence[int] = (5, 10, 30)


def rate(case: Case, distribution: str, n: int, repetitions: int, seed: int) -> float:
    """Return the share of hits in per cent, NaN where the estimator gives nothing at this n."""
    rng = np.random.default_rng(seed)
    trials = DISTRIBUTIONS[distribution]
    return 100 * float(np.mean([case.hit(trials, n, rng) for _ in range(repetitions)]))


def covers(estimate: stats.Estimate, truth: float) -> float:
    """Return whether an interval holds the truth; NaN without one."""
    return float(estimate.low <= truth <= estimate.high) if estimate.has_interval else math.nan


def mean_t(trials: Trials, n: int, rng: Rng) -> float:
    """The mean of a cell."""
    return covers(stats.mean_ci(trials.draw(rng, n)), 1.0)


def median_ranks(trials: Trials, n: int, rng: Rng) -> float:
    """The median of a cell."""
    return covers(stats.median_ci(trials.draw(rng, n)), trials.median)


def ratio_of_totals(trials: Trials, n: int, rng: Rng) -> float:
    """Operations over seconds, in trials whose lengths scatter by 1 %."""
    duration_s = rng.normal(10, 0.1, n)
    return covers(stats.ratio_of_totals(duration_s * trials.draw(rng, n), duration_s), 1.0)


def studentised(trials: Trials, n: int, rng: Rng) -> float:
    """The same with the studentised bootstrap."""
    duration_s = rng.normal(10, 0.1, n)
    work = duration_s * trials.draw(rng, n)
    return covers(stats.studentised_ratio(work, duration_s, resamples=RESAMPLES), 1.0)


def harmonic_mean(trials: Trials, n: int, rng: Rng) -> float:
    """The rate of trials of the same work, whose times are drawn.

    An unbounded interval covers from its lower bound on.
    """
    found = stats.harmonic_mean(1 / trials.draw(rng, n))
    return float(found.low <= 1.0 <= found.high)


def sequential(trials: Trials, n: int, rng: Rng) -> float:
    """Total over total where blocks are added until the half-width meets the target (rule 27)."""
    work, duration_s = trials.draw(rng, 2 * n), rng.normal(1, 0.01, 2 * n)
    for count in range(n, 2 * n + 1):
        found = stats.ratio_of_totals((work * duration_s)[:count], duration_s[:count])
        if found.half_width_percent < TARGET_PERCENT:
            break
    return covers(found, 1.0)


def in_blocks(values: Floats) -> pd.DataFrame:
    """Return trials of shape (blocks, trials) as `stats.compare` reads them."""
    blocks, most = values.shape
    return pd.DataFrame(
        {"block": np.repeat(np.arange(blocks), most), "above": values.ravel(), "below": 1.0}
    )


def pair(
    trials: Trials, n: int, rng: Rng, most: int = 1, baseline: Trials | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two cells with the same mean, in blocks that do the same to both."""
    block = rng.lognormal(0, BLOCK_SD, (n, 1))
    one, other = (which.draw(rng, (n, most)) * block for which in (trials, baseline or trials))
    return in_blocks(one), in_blocks(other)


def effect(trials: Trials, n: int, rng: Rng) -> float:
    """The ratio of two cells whose trials are distributed alike."""
    return covers(stats.effect(*pair(trials, n, rng), resamples=RESAMPLES), 1.0)


def effect_of_three(trials: Trials, n: int, rng: Rng) -> float:
    """The same with three trials of each cell in a block."""
    return covers(stats.effect(*pair(trials, n, rng, most=3), resamples=RESAMPLES), 1.0)


def effect_over_normal(trials: Trials, n: int, rng: Rng) -> float:
    """The ratio to a cell whose trials are normal."""
    cells = pair(trials, n, rng, baseline=DISTRIBUTIONS["normal"])
    return covers(stats.effect(*cells, resamples=RESAMPLES), 1.0)


def interaction(trials: Trials, n: int, rng: Rng) -> float:
    """What two options do together over what each lets expect, where they multiply."""
    logs = np.log(trials.draw(rng, (n, 4)) * rng.lognormal(0, BLOCK_SD, (n, 1)))
    return covers(contrast(logs, (1, -1, -1, 1), BOUND).ratio, 1.0)


def difference(trials: Trials, n: int, rng: Rng) -> float:
    """A difference between cells that do not differ."""
    result = stats.compare(*pair(trials, n, rng), BOUND, resamples=RESAMPLES)
    return float(result.difference_p < LEVEL)


def equivalence(trials: Trials, n: int, rng: Rng) -> float:
    """Equivalence of cells that differ by just the bound."""
    one, other = pair(trials, n, rng)
    result = stats.compare(
        one.assign(above=(1 - BOUND) * one["above"]), other, BOUND, resamples=RESAMPLES
    )
    return float(result.equivalence_p < LEVEL)


def family(trials: Trials, n: int, rng: Rng) -> float:
    """Any difference among cells that do not differ from their baseline."""
    block = rng.lognormal(0, BLOCK_SD, (n, 1))
    cells = [in_blocks(trials.draw(rng, (n, 1)) * block) for _ in range(COMPARISONS + 1)]
    return any_difference(
        [stats.compare(cell, cells[0], BOUND, resamples=RESAMPLES) for cell in cells[1:]]
    )


def matrix(trials: Trials, n: int, rng: Rng) -> Floats:
    """Return trials of shape (cells, blocks), in blocks that do the same to all cells."""
    return trials.draw(rng, (CELLS, n)) * rng.lognormal(0, BLOCK_SD, n)


def components(trials: Trials, n: int, rng: Rng) -> float:
    """The level of each cell (mean of logarithms), by the scatter of all cells together."""
    values = matrix(trials, n, rng)
    reach = math.log1p(stats.variance_components(values).half_width_percent(n) / 100)
    return float((np.abs(np.log(values).mean(axis=1) - trials.log_mean) <= reach).mean())


def long_table(values: Floats) -> pd.DataFrame:
    """Return a table of cells and blocks with a row per trial."""
    cell, block = np.indices(values.shape)
    return pd.DataFrame(
        {"cell": cell.ravel(), "block": block.ravel(), "above": values.ravel(), "below": 1.0}
    )


def model_of(values: Floats) -> stats.MixedModel:
    """Return the model of trials of shape (cells, blocks)."""
    return stats.mixed_model(long_table(values), "cell", "above")


def pooled(values: Floats) -> list[stats.Comparison]:
    """Return each further cell over the first, as a campaign compares them."""
    model = model_of(values)
    first, *others = (in_blocks(cell[:, None]) for cell in values)
    return [
        stats.compare(cell, first, BOUND, model.scatter(0, index), resamples=RESAMPLES)
        for index, cell in enumerate(others, start=1)
    ]


def wild(trials: Trials, n: int, rng: Rng) -> Floats:
    """Return trials of shape (cells, blocks) of which the first cell scatters twice as much."""
    values = trials.draw(rng, (CELLS, n))
    values[0] = 1 + 2 * (values[0] - 1)
    return values * rng.lognormal(0, BLOCK_SD, n)


def effect_pooled(trials: Trials, n: int, rng: Rng) -> float:
    """The ratios of cells to the first."""
    return float(np.mean([covers(one.ratio, 1.0) for one in pooled(matrix(trials, n, rng))]))


def effect_over_wild(trials: Trials, n: int, rng: Rng) -> float:
    """The ratios of cells to one that scatters twice as much."""
    return float(np.mean([covers(one.ratio, 1.0) for one in pooled(wild(trials, n, rng))]))


def equivalence_pooled(trials: Trials, n: int, rng: Rng) -> float:
    """Equivalence of cells that differ by just the bound."""
    values = matrix(trials, n, rng)
    values[1:] *= 1 - BOUND
    return float(np.mean([one.equivalence_p < LEVEL for one in pooled(values)]))


def any_difference(found: Sequence[stats.Comparison]) -> float:
    """Return whether any of several comparisons is told to differ."""
    return float(min(stats.holm([one.difference_p for one in found])) < LEVEL)


def family_pooled(trials: Trials, n: int, rng: Rng) -> float:
    """Any difference among cells that do not differ from the first."""
    return any_difference(pooled(matrix(trials, n, rng)))


def family_over_wild(trials: Trials, n: int, rng: Rng) -> float:
    """The same where the first scatters twice as much."""
    return any_difference(pooled(wild(trials, n, rng)))


def model_fails(trials: Trials, n: int, rng: Rng) -> float:
    """The diagnostics of the mixed model reject it."""
    return float(bool(model_of(matrix(trials, n, rng)).trouble))


def trend(trials: Trials, n: int, rng: Rng) -> float:
    """A trend of a cell that has none."""
    return float(stats.trend(np.arange(n), trials.draw(rng, n))[1] < LEVEL)


def order_drift(trials: Trials, n: int, rng: Rng) -> stats.Drift:
    """Return what is found where nothing drifts inside blocks."""
    values = matrix(trials, n, rng)
    order = rng.permuted(np.tile(np.arange(CELLS), (n, 1)), axis=1).T
    cell, block = np.indices(values.shape)
    return stats.order_drift(cell.ravel(), block.ravel(), order.ravel(), values.ravel())


def last_over_first(trials: Trials, n: int, rng: Rng) -> float:
    """The change from the first to the last place of a block."""
    return covers(order_drift(trials, n, rng).within_percent, 0.0)


def drift(trials: Trials, n: int, rng: Rng) -> float:
    """A drift inside blocks where there is none."""
    return float(order_drift(trials, n, rng).within_p < LEVEL)


def changepoint(trials: Trials, n: int, rng: Rng) -> float:
    """A changepoint in a flat series."""
    return float(bool(stats.changepoints(trials.draw(rng, n))))


def changepoint_dependent(trials: Trials, n: int, rng: Rng) -> float:
    """The same where each second keeps half of what the last one was off."""
    series = trials.draw(rng, n)
    for second in range(1, n):
        series[second] = 1 + 0.5 * (series[second - 1] - 1) + math.sqrt(0.75) * (series[second] - 1)
    return float(bool(stats.changepoints(series)))


def not_flat(trials: Trials, n: int, rng: Rng) -> float:
    """A flat series that is not called flat."""
    return float(stats.classify_series(trials.draw(rng, n)) != "flat")


def not_normal(trials: Trials, n: int, rng: Rng) -> float:
    """Shapiro and Wilk reject normal trials: the t interval is starred."""
    return float(stats.normality_p(trials.draw(rng, n)) < LEVEL)


def skewed(trials: Trials, n: int, rng: Rng) -> float:
    """The skewness is beyond that of normal trials."""
    return float(stats.skewness_p(trials.draw(rng, n)) < LEVEL)


def two_modes(trials: Trials, n: int, rng: Rng) -> float:
    """The dip test rejects one mode."""
    return float(stats.dip_p(trials.draw(rng, n)) < LEVEL)


SECONDS = (10, 60, 600)
SYMMETRIC = ("normal", "bimodal")

CASES = (
    Case("mean, Student t", "interval", mean_t),
    Case("median, ranks", "interval", median_ranks),
    Case("ratio of totals", "interval", ratio_of_totals),
    Case("ratio of totals, sequential stop", "interval", sequential, cost=2),
    Case("ratio of totals, studentised", "interval", studentised, cost=2),
    Case("harmonic mean", "interval", harmonic_mean),
    Case("effect, hierarchical bootstrap", "interval", effect, cost=2),
    Case("effect, three trials a block", "interval", effect_of_three, cost=8),
    Case("effect, over a normal baseline", "interval", effect_over_normal, cost=2),
    Case("interaction of two options", "interval", interaction),
    Case("effect, scatter of all cells", "interval", effect_pooled, cost=8),
    Case(
        "effect over a wild cell, scatter of all cells",
        "interval",
        effect_over_wild,
        cost=8,
        distributions=SYMMETRIC,
    ),
    Case("half-width from variance components", "interval", components, cost=2),
    Case("last over first place of a block", "interval", last_over_first, cost=2),
    Case("difference of two cells", "test", difference, cost=2),
    Case("equivalence (TOST) at the bound", "test", equivalence, cost=2),
    Case("any of ten differences, Holm", "test", family, cost=4),
    Case("equivalence at the bound, scatter of all cells", "test", equivalence_pooled, cost=8),
    Case("any of five differences, scatter of all cells, Holm", "test", family_pooled, cost=8),
    Case(
        "any of five over a wild cell, scatter of all cells, Holm",
        "test",
        family_over_wild,
        cost=8,
        distributions=SYMMETRIC,
    ),
    Case("trend of a cell, Kendall", "test", trend),
    Case("drift inside blocks", "test", drift, cost=2),
    Case("changepoint", "test", changepoint, cost=4, counts=SECONDS),
    Case(
        "changepoint, dependent seconds",
        "test",
        changepoint_dependent,
        cost=4,
        distributions=("normal",),
        counts=SECONDS,
    ),
    Case("flat series called otherwise", "test", not_flat, cost=4, counts=SECONDS),
    Case("normality, Shapiro and Wilk", "test", not_normal, distributions=("normal",)),
    Case("skewness", "test", skewed, distributions=SYMMETRIC),
    Case("dip", "test", two_modes, cost=2, distributions=("normal", "log-normal")),
    Case(
        "normality, Shapiro and Wilk",
        "power",
        not_normal,
        distributions=("log-normal", "bimodal", "uneven bimodal"),
    ),
    Case("skewness", "power", skewed, distributions=("log-normal", "uneven bimodal")),
    Case("dip", "power", two_modes, cost=2, distributions=("bimodal", "uneven bimodal")),
    Case("mixed model gives way to the bootstrap", "power", model_fails, cost=8),
)
