"""What scatters where cells take turns: each component is told from the others."""

import math

import numpy as np
import pytest

from fsgreen import stats

CELLS, BLOCKS, ROUNDS = 4, 6, 20


def simulated(rng, block=0.0, making=0.0, round_=0.0, window=0.0):
    """Rates of (blocks, cells, rounds), with these standard deviations of their logarithms."""
    logs = (
        rng.normal(0, block, (BLOCKS, 1, 1))
        + np.linspace(7, 8, CELLS)[None, :, None]
        + rng.normal(0, making, (BLOCKS, CELLS, 1))
        + rng.normal(0, round_, (BLOCKS, 1, ROUNDS))
        + rng.normal(0, window, (BLOCKS, CELLS, ROUNDS))
    )
    return np.exp(logs)


def components(rates):
    return stats.turn_components(list(rates), rates.mean(axis=2).T)


@pytest.mark.parametrize(
    "true",
    [
        {"block": 0.1, "making": 0.05, "round_": 0.2, "window": 0.03},
        {"block": 0.2, "making": 0.1, "round_": 0.05, "window": 0.1},
    ],
)
def test_each_component_is_right_in_the_mean(true):
    """Variances are without bias where no estimate below 0 is cut off."""
    rng = np.random.default_rng(1)
    found = [components(simulated(rng, **true)) for _ in range(300)]
    for name in true:
        squares = [getattr(one, f"{name.rstrip('_')}_percent") ** 2 for one in found]
        error = np.std(squares) / math.sqrt(len(squares))
        assert np.mean(squares) == pytest.approx((100 * true[name]) ** 2, abs=4 * error)


def test_what_the_cells_share_is_no_part_of_their_ratio():
    """A host of two speeds, in rounds of its own: makings and windows stay as they were."""
    rng = np.random.default_rng(2)
    calm = simulated(rng, making=0.02, window=0.03)
    host = np.where(rng.random((BLOCKS, 1, ROUNDS)) < 0.5, 0.6, 1.0)
    quiet, restless = components(calm), components(calm * host)
    assert restless.window_percent == pytest.approx(quiet.window_percent)
    assert restless.making_percent == pytest.approx(quiet.making_percent, rel=0.3)
    assert restless.round_percent > 10 * max(quiet.round_percent, 1)


def test_what_dominates_is_bought():
    rng = np.random.default_rng(3)
    assert components(simulated(rng, making=0.1, window=0.05)).buys_most == "making"
    assert components(simulated(rng, making=0.001, window=0.2)).buys_most == "window"


def test_the_planned_half_width_is_what_ratios_of_campaigns_scatter_by():
    """Someone who buys blocks by it would buy too few, or ten times too many."""
    rng = np.random.default_rng(4)
    campaigns = [simulated(rng, 0.1, 0.05, 0.2, 0.1) for _ in range(400)]
    ratios = [
        math.log(rates[:, 0].mean(axis=1).prod() / rates[:, 1].mean(axis=1).prod()) / BLOCKS
        for rates in campaigns
    ]
    planned = np.mean([components(rates).half_width_percent(BLOCKS, ROUNDS) for rates in campaigns])
    within = np.abs(np.array(ratios) + 1 / (CELLS - 1)) < math.log1p(planned / 100)
    assert 0.9 < np.mean(within) < 0.99


def test_groups_that_tell_nothing_leave_nothing_told():
    rng = np.random.default_rng(5)
    alone = [rates[:1] for rates in simulated(rng, window=0.1)]
    found = stats.turn_components(alone, np.ones((1, BLOCKS)))
    assert found.buys_most == "unknown"
    assert math.isnan(found.half_width_percent(5, 20))
    assert stats.turn_components([], np.ones((2, 2))).buys_most == "unknown"


@pytest.mark.parametrize("rates", [[[1.0, 0.0], [1.0, 2.0]], [1.0, 2.0], [[1.0, math.nan]] * 2])
def test_a_rate_without_a_logarithm_is_refused(rates):
    with pytest.raises(ValueError, match="positive rates"):
        stats.turn_components([rates], np.ones((2, 2)))


def test_a_covariate_explains_what_goes_with_it_and_no_more():
    """Rounds that are slow for all cells are no part of what scatters between windows."""
    rng = np.random.default_rng(6)
    steal = rng.uniform(0, 10, (BLOCKS, CELLS, ROUNDS)) + rng.uniform(0, 50, (BLOCKS, 1, ROUNDS))
    noise = simulated(rng, 0.1, 0.1, 0.3, 0.03)
    variance = 0.01**2 * 100 / 12
    found = stats.explained_share(noise * np.exp(-0.01 * steal), steal)
    assert found == pytest.approx(variance / (variance + 0.03**2), abs=0.1)
    assert stats.explained_share(noise, steal) < 0.05
    assert math.isnan(stats.explained_share(noise, np.zeros_like(steal)))
    assert math.isnan(stats.explained_share(noise, np.full_like(steal, math.nan)))
