"""Campaigns together, and windows by turns."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_ind

from fsgreen.stats.together import random_effects
from fsgreen.stats.turns import left_by_turns


def test_campaigns_that_agree_are_known_better_than_each():
    found = random_effects([0.10, 0.11, 0.09], [0.05, 0.05, 0.05])
    assert found.spread == 0
    assert found.value == pytest.approx(0.1)
    assert found.same_p > 0.9


def test_the_classic_trials_of_bcg():
    """Thirteen trials of a vaccine (Colditz et al. 1994): log risk ratio -0.714, tau^2 0.309."""
    logs = [-0.8893, -1.5854, -1.3481, -1.4416, -0.2175, -0.7861, -1.6209, 0.0120, -0.4694]
    logs += [-1.3713, -0.3394, 0.4459, -0.0173]
    variances = [0.3256, 0.1946, 0.4154, 0.0200, 0.0512, 0.0069, 0.2230, 0.0040, 0.0564]
    variances += [0.0730, 0.0124, 0.5325, 0.0714]
    found = random_effects(logs, np.sqrt(variances))
    assert found.value == pytest.approx(-0.7141, abs=5e-4)
    assert found.spread**2 == pytest.approx(0.3088, abs=5e-4)
    assert found.same_p < 1e-6
    assert found.next_low < found.low < found.high < found.next_high


@pytest.mark.parametrize("spread", [0.0, 0.2])
def test_the_interval_holds_for_the_next_campaign(spread):
    """A verdict that two campaigns gave would not be that of a third."""
    rng, inside = np.random.default_rng(0), []
    for _ in range(400):
        truth = rng.normal(0.3, spread, 5)
        found = random_effects(truth[:4] + rng.normal(0, 0.05, 4), [0.05] * 4)
        inside.append(found.next_low <= truth[4] <= found.next_high)
    assert np.mean(inside) > 0.9


@pytest.mark.parametrize("campaigns", [2, 3])
def test_campaigns_that_agree_are_seldom_said_to_disagree(campaigns):
    """Of five blocks each: the error of a campaign is then known to a third only."""
    rng, blocks = np.random.default_rng(0), 5
    same = []
    for _ in range(2000):
        logs = rng.normal(0.1, 0.05, (campaigns, blocks))
        errors = logs.std(axis=1, ddof=1) / math.sqrt(blocks)
        same.append(random_effects(logs.mean(axis=1), errors, blocks - 1).same_p)
    assert 0.03 < np.mean(np.array(same) < 0.05) < 0.065


def test_two_campaigns_differ_by_the_t_test_of_welch():
    one, two = np.array([1.0, 1.2, 0.9, 1.1, 1.4]), np.array([1.5, 1.6, 1.3, 2.1])
    errors = [sample.std(ddof=1) / math.sqrt(sample.size) for sample in (one, two)]
    found = random_effects([one.mean(), two.mean()], errors, [one.size - 1, two.size - 1])
    assert found.same_p == pytest.approx(ttest_ind(one, two, equal_var=False).pvalue, rel=1e-9)


def test_one_campaign_is_not_several():
    for values, errors in (([0.1], [0.1]), ([0.1, 0.2], [0.1, 0.0])):
        with pytest.raises(ValueError):
            random_effects(values, errors)


def wandering(seconds, memory_s, rng):
    """A rate whose level forgets itself in this time, with independent noise on it."""
    kept = math.exp(-1 / memory_s)
    level = np.empty(seconds)
    level[0] = rng.normal()
    for second in range(1, seconds):
        level[second] = kept * level[second - 1] + math.sqrt(1 - kept**2) * rng.normal()
    return 1000 * np.exp(0.1 * level + 0.02 * rng.normal(size=seconds))


def left(memory_s):
    rng = np.random.default_rng(1)
    trials = [wandering(10, memory_s, rng) for _ in range(60)]
    sd = float(np.std([math.log(trial.sum()) for trial in trials], ddof=1))
    return left_by_turns(trials, sd)


def test_turns_buy_where_the_level_moves_slower_than_a_window():
    assert left(30) < 0.25
    assert left(3) < 0.6


def test_turns_buy_nothing_where_seconds_are_independent():
    assert left(0.05) == pytest.approx(1, abs=0.15)


def test_short_trials_tell_nothing_of_turns():
    assert math.isnan(left_by_turns([[1.0] * 6] * 9, 0.1))
