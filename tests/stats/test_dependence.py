"""Rule 52: trials that depend on those of the block before, and what intervals cover then."""

import math

import numpy as np
import pandas as pd
import pytest

from fsgreen import stats
from fsgreen.stats.dependence import left_over


def dependent(kept, cells, n, rng):
    """Logarithms of trials, each of which keeps a share of what the last one was off."""
    series = rng.normal(size=(cells, n))
    for block in range(1, n):
        added = math.sqrt(1 - kept**2) * series[:, block]
        series[:, block] = kept * series[:, block - 1] + added
    return 0.05 * series + rng.normal(0, 0.05, n)


def covers(kept, cells, n, campaigns=150):
    """How often intervals of further cells over the first cover, in per cent, and the widening."""
    rng, found = np.random.default_rng(1), []
    for _ in range(campaigns):
        logs = dependent(kept, cells, n, rng)
        degrees = (cells - 1) * (n - 1)
        sd = math.sqrt((left_over(logs) ** 2).sum() / degrees)
        widening = stats.dependence(logs).widening
        error = stats.LogRatio(0.0, widening * sd * math.sqrt(2 / n), degrees)
        reach = math.log(error.interval()[1])
        away = np.abs(logs[1:].mean(axis=1) - logs[0].mean())
        found.append(((away <= reach).mean(), widening > 1))
    return 100 * np.mean(found, axis=0)


@pytest.mark.parametrize(("cells", "n", "least"), [(34, 5, 88), (34, 10, 90), (6, 10, 86)])
def test_intervals_hold_where_trials_depend_on_the_last_block(cells, n, least):
    """Without the widening they cover 56 to 59 %: two of five differences would be none."""
    covered, found = covers(0.7, cells, n)
    assert covered >= least
    assert found >= 90


def test_independent_trials_are_left_alone():
    """A widening for chance would cost every sound campaign its short intervals."""
    covered, found = covers(0.0, 34, 5)
    assert 93 <= covered <= 98
    assert found <= 25


def test_the_coefficient_is_not_that_of_so_few_blocks():
    """Five blocks show 0.7 as about 0: their mean takes with it what they have in common."""
    rng = np.random.default_rng(0)
    seen = [stats.dependence(dependent(0.7, 200, 5, rng)).coefficient for _ in range(20)]
    assert np.mean(seen) == pytest.approx(0.7, abs=0.08)


def test_too_few_cells_or_blocks_tell_nothing():
    """An unknown dependence widens nothing, and says that it is unknown."""
    for shape in ((1, 9), (9, 3), (0, 0)):
        found = stats.dependence(np.ones(shape))
        assert math.isnan(found.p)
        assert found.widening == 1


def test_only_cells_of_every_block_count():
    """A cell that was added late would shift all others against the clock."""
    trials = pd.DataFrame(
        {"cell": [1, 1, 2, 2, 3], "block": [1, 2, 1, 2, 1], "rate": [1.0, 1.0, 2.0, 4.0, 5.0]}
    )
    logs = stats.logs_of_whole(trials["cell"], trials["block"], trials["rate"])
    assert logs.to_numpy() == pytest.approx(np.log([[1.0, 1.0], [2.0, 4.0]]))


def drawn(slow_share, cells, n, seed):
    """Logarithms of trials of which this share is 40 % slow."""
    rng = np.random.default_rng(seed)
    slow = rng.random((cells, n)) < slow_share
    return np.log(np.where(slow, 0.6, 1.0) * rng.normal(1, 0.03, (cells, n)))


def coverage_of(logs):
    return stats.own_coverage(logs, stats.dependence(logs))


@pytest.mark.parametrize("n", [5, 10])
def test_a_rare_slow_mode_is_told_beside_the_intervals_of_cells(n):
    """One trial in eight 40 % slow: intervals of 95 % cover 63 and 71 %, and say so."""
    found = [coverage_of(drawn(1 / 8, 12, n, seed)).cell_percent for seed in range(20)]
    assert sum(percent < stats.LEAST_PERCENT for percent in found) >= 17
    assert 55 <= np.mean(found) <= 80


@pytest.mark.parametrize("n", [5, 10])
def test_trials_that_scatter_as_they_should_get_no_star(n):
    found = [coverage_of(drawn(0, 12, n, seed)) for seed in range(20)]
    assert sum(one.cell_percent < stats.LEAST_PERCENT for one in found) <= 1
    assert min(one.pooled_percent for one in found) >= stats.LEAST_PERCENT
    assert min(one.alone_percent for one in found) >= stats.LEAST_PERCENT


def test_without_blocks_there_is_nothing_to_draw_from():
    assert math.isnan(coverage_of(np.zeros((3, 2))).cell_percent)
