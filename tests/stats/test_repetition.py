"""Number of trials, and where the scatter comes from."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.stats import mean_ci, trials_needed, variance_components


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
    assert trials_needed([1e-9, 1], target=1e-6) is None
    with pytest.raises(ValueError):
        trials_needed([1.0, math.nan])


def test_components_by_hand():
    """Two cells, two blocks, logs 0 1 / 0 3: mean squares 4 (blocks) and 1 (trials)."""
    found = variance_components(np.exp([[0.0, 1.0], [0.0, 3.0]]))
    assert found.trial_percent == pytest.approx(100)
    assert found.block_percent == pytest.approx(100 * math.sqrt((4 - 1) / 2))
    assert found.total_percent == pytest.approx(100 * math.sqrt(2.5))
    # Satterthwaite: 2.5^2 / ((4 / 2)^2 + (1 / 2)^2).
    assert found.degrees == pytest.approx(6.25 / 4.25)


@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=6), st.integers(2, 6))
def test_cells_that_repeat_exactly_have_no_scatter(values, blocks):
    """Rounding must not end the analysis with the root of a negative variance."""
    found = variance_components(np.repeat([values], blocks, axis=0).T)
    assert found.total_percent == pytest.approx(0, abs=1e-9)


def test_components_are_recovered():
    """Blocks that scatter by 5 % and trials by 2 % come back as such."""
    rng = np.random.default_rng(2)
    logs = rng.normal(0, 0.05, 100) + rng.normal(0, 0.02, (6, 100))
    found = variance_components(np.exp(logs + np.arange(6)[:, None]))
    assert found.block_percent == pytest.approx(5, rel=0.2)
    assert found.trial_percent == pytest.approx(2, rel=0.1)
    assert found.buys_most == "block"


def test_cells_that_stopped_early_still_count():
    """Sequential stopping leaves gaps in later blocks, which must not bias the components."""
    rng = np.random.default_rng(4)
    table = np.exp(rng.normal(0, 0.05, 120) + rng.normal(0, 0.02, (6, 120)))
    table[rng.random(table.shape) < 0.4] = math.nan
    found = variance_components(table)
    assert found.block_percent == pytest.approx(5, rel=0.2)
    assert found.trial_percent == pytest.approx(2, rel=0.1)


def test_a_cell_of_one_trial_tells_nothing():
    """A cell or block with a single value is left out, and does not change the rest."""
    whole = np.array([[1.0, 1.1, 0.9], [2.0, 2.3, 1.7]])
    more = np.vstack([whole, [3.0, math.nan, math.nan]])
    assert variance_components(more) == variance_components(whole)


def test_planned_half_width_shrinks_with_blocks():
    """Four times the blocks, half the width; t of the pooled scatter."""
    rng = np.random.default_rng(6)
    found = variance_components(rng.lognormal(0, 0.03, (100, 5)))
    assert found.half_width_percent(5) == pytest.approx(196 * 0.03 / math.sqrt(5), rel=0.1)
    assert found.half_width_percent(20) == pytest.approx(found.half_width_percent(5) / 2, rel=0.02)


def test_one_cell_cannot_separate_block_from_trial():
    """With one cell the two levels are confounded and the answer is unknown."""
    found = variance_components([[1.0, 1.1, 0.9]])
    assert math.isnan(found.block_percent)
    assert math.isnan(found.half_width_percent(5))
    assert found.buys_most == "unknown"


def test_equal_trials_have_no_components_to_speak_of():
    """No scatter at all is zero, not a crash."""
    found = variance_components(np.ones((3, 4)))
    assert (found.block_percent, found.trial_percent) == (0, 0)
    assert math.isnan(found.half_width_percent(5))


@pytest.mark.parametrize("bad", [[[1.0, 0.0], [1, 1]], [[1.0, math.inf], [1, 1]], [1.0, 2.0]])
def test_values_without_logarithm_are_refused(bad):
    """Zero throughput is no small scatter."""
    with pytest.raises(ValueError):
        variance_components(bad)
