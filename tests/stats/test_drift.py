"""Drift over the order of a campaign."""

import itertools
import math

import numpy as np
import pytest

from fsgreen.stats import order_drift, trend, trend_percent


def campaign(cells=6, blocks=5, within=0.0, between=0.0, seed=0, sd=0.01):
    """Cell, block, place and value of each trial; `within` per place, `between` per block."""
    rng = np.random.default_rng(seed)
    rows = [
        (cell, block, place)
        for block in range(1, blocks + 1)
        for place, cell in enumerate(rng.permutation(cells), start=1)
    ]
    cell, block, place = np.array(rows).T
    logs = 0.5 * cell + between * block + within * place + sd * rng.normal(size=len(rows))
    return [f"cell {one}" for one in cell], block, place, np.exp(logs)


def test_a_falling_cell_has_a_trend():
    """Six falling values: tau = -1, exact p = 2/720."""
    tau, p = trend(range(6), [6, 5, 4, 3, 2, 1])
    assert tau == pytest.approx(-1)
    assert p == pytest.approx(2 / 720)


def test_three_trials_cannot_show_a_trend():
    """No verdict on drift from three values, nor from equal ones."""
    assert math.isnan(trend(range(3), [3, 2, 1])[1])
    assert math.isnan(trend(range(5), [3, 3, 3, 3, 3])[1])


def test_ties_are_counted_exactly():
    """1 1 2 2 3: as far apart as it gets in 2 of its 30 orders, not the 2 % of an approximation."""
    values = [1, 1, 2, 2, 3]
    ways = set(itertools.permutations(values))
    assert len(ways) == 30
    assert trend(range(5), values)[1] == pytest.approx(2 / 30)


def test_many_trials_with_ties():
    """Above eight trials the approximation serves, and a clear trend is clear."""
    assert trend(range(12), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6])[1] < 0.001


def test_a_trend_has_a_size():
    """1 % a trial over five trials around 100: 4 %; one wild trial does not change it much."""
    assert trend_percent(range(5), [98, 99, 100, 101, 102]) == pytest.approx(4)
    assert abs(trend_percent(range(7), [100, 100, 100, 500, 100, 100, 100])) < 1e-9
    assert math.isnan(trend_percent([1], [5.0]))


def test_heat_inside_blocks_is_found_where_no_cell_shows_it():
    """Each place costs 0.5 %: 2.5 % over six places, though each cell alone looks steady."""
    found = order_drift(*campaign(within=-0.005))
    assert found.within_p < 0.01
    assert found.within_percent.low < -2.47 < found.within_percent.high
    assert found.within_percent.n == 30


def test_drift_between_blocks_is_found():
    """Each of eight blocks a bit slower: tau of the blocks is -1, p = 2 / 8!."""
    found = order_drift(*campaign(blocks=8, between=-0.02, sd=0.001))
    assert found.between_tau == pytest.approx(-1)
    assert found.between_p == pytest.approx(2 / math.factorial(8))
    assert found.within_p > 0.05


def test_no_drift_is_no_alarm():
    """Cells that differ by 50 % are not drift, as their order is random."""
    alarms = [order_drift(*campaign(seed=seed)).within_p < 0.05 for seed in range(100)]
    assert sum(alarms) <= 12


def test_too_little_to_tell():
    """One cell in each block has no place to compare; NaN stops the analysis."""
    found = order_drift(["a"] * 4, [1, 2, 3, 4], [1, 1, 1, 1], [1.0, 2, 3, 4])
    assert math.isnan(found.within_p)
    assert found.between_tau == pytest.approx(1)
    with pytest.raises(ValueError):
        order_drift(["a", "b"], [1, 1], [1, 2], [1.0, math.nan])
    with pytest.raises(ValueError):
        order_drift(["a", "b"], [1, 1], [1, 2], [1.0, 0.0])


def test_what_rounding_leaves_is_no_drift():
    """Cells that repeat exactly: differences of 1e-16 are neither a trend nor an alarm."""
    cells, block, place, _ = campaign(sd=0.0)
    found = order_drift(cells, block, place, [3.1 + int(cell[-1]) for cell in cells])
    assert math.isnan(found.between_p)
    assert found.within_p == 1.0
