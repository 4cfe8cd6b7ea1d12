"""Drift, number of trials, and where the scatter comes from."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.stats import mean_ci, trend, trials_needed, variance_components


def test_a_falling_cell_has_a_trend():
    """Six falling values: tau = -1, exact p = 2/720."""
    tau, p = trend(range(6), [6, 5, 4, 3, 2, 1])
    assert tau == pytest.approx(-1)
    assert p == pytest.approx(2 / 720)


def test_three_trials_cannot_show_a_trend():
    """No verdict on drift from three values."""
    assert math.isnan(trend(range(3), [3, 2, 1])[1])


def test_trials_needed_by_hand():
    """cv 10 %, target 5 %: t(17) 0.1 / sqrt(18) = 4.97 %, while 17 trials give 5.14 %."""
    values = 100 + 10 * np.array([-1, 1]) / math.sqrt(2)
    assert trials_needed(values) == 18


@given(st.lists(st.floats(50, 150), min_size=3, max_size=8))
def test_trials_needed_agrees_with_the_interval(values):
    """The n it names is the first whose half-width would be below the target."""
    n = trials_needed(values, target=0.05)
    estimate = mean_ci(values)
    assert (n is not None and n <= len(values)) == (estimate.half_width_percent < 5)


def test_identical_trials_need_two():
    """No scatter, no more trials than an interval takes; one trial cannot say."""
    assert trials_needed([5, 5, 5]) == 2
    assert trials_needed([5]) is None


def test_components_are_recovered():
    """Blocks that scatter by 5 % and trials by 2 % come back as such."""
    rng = np.random.default_rng(2)
    logs = rng.normal(0, 0.05, 200) + rng.normal(0, 0.02, (12, 200))
    found = variance_components(np.exp(logs + np.arange(12)[:, None]))
    assert found.block_percent == pytest.approx(5, rel=0.15)
    assert found.trial_percent == pytest.approx(2, rel=0.1)
    assert found.buys_most == "block"


def test_one_cell_cannot_separate_block_from_trial():
    """With one cell the two levels are confounded and the answer is unknown."""
    found = variance_components([[1.0, 1.1, 0.9]])
    assert math.isnan(found.block_percent)
    assert found.buys_most == "unknown"
