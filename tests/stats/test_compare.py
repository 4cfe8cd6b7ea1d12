"""Effect sizes, equivalence and families of comparisons."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.stats import MIN_BLOCKS, compare, effect, equivalence_p, holm


def cell(values, below=1.0):
    return pd.DataFrame(
        {"block": range(1, len(values) + 1), "above": values, "below": [below] * len(values)}
    )


def test_effect_is_the_ratio_of_totals():
    """Twice the work in the same time is 2x."""
    estimate = effect(cell([20, 22, 18, 20, 21]), cell([10, 11, 9, 10, 10.5]))
    assert estimate.value == pytest.approx(2)
    assert estimate.n == 5


def test_what_a_block_does_to_both_cells_cancels():
    """A slow block slows candidate and baseline alike and must not widen the interval."""
    base = np.array([10, 20, 30, 40, 50.0])
    estimate = effect(cell(1.1 * base), cell(base))
    assert estimate.low == pytest.approx(1.1)
    assert estimate.high == pytest.approx(1.1)


def test_too_few_blocks_give_no_interval():
    """Four blocks cannot carry 95 %, so the tool must not print an interval."""
    few = cell([10.0, 11, 12, 13][: MIN_BLOCKS - 1])
    assert not effect(few, few).has_interval


def test_interval_covers_the_truth():
    """At n = 5 a plain percentile interval covers about 83 %; the widened one must reach 90 %."""
    rng = np.random.default_rng(3)
    hits = 0
    for index in range(100):
        base, other = rng.normal(100, 8, 5), rng.normal(120, 8, 5)
        estimate = effect(cell(other), cell(base), seed=index)
        hits += estimate.low <= 1.2 <= estimate.high
    assert 90 <= hits <= 100


def test_nothing_is_no_multiple_of_zero():
    """A baseline without any I/O wait has no ratio, rather than an infinite or a crash."""
    zero = effect(cell([1.0, 2, 3, 4, 5]), cell([0.0] * 5))
    assert math.isnan(zero.value)
    assert not zero.has_interval
    assert not effect(cell([1.0] * 5), cell([0.0, 0, 0, 0, 1])).has_interval


def test_same_seed_same_interval():
    """Reports must be byte-stable."""
    a, b = cell([10, 12, 11, 13, 10.0]), cell([9, 8, 9, 10, 9.5])
    assert effect(a, b, seed=4) == effect(a, b, seed=4)


def test_trials_inside_blocks_are_resampled_too():
    """Several trials in a block belong to that block and do not count as blocks."""
    two = pd.DataFrame(
        {"block": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5], "above": [9, 11] * 5, "below": [1.0] * 10}
    )
    estimate = effect(two, cell([10.0] * 5))
    assert estimate.n == 5
    assert 0.9 <= estimate.low < 1 < estimate.high <= 1.1


def test_equivalence_by_hand():
    """Log ratios +-0.01 (n = 5) against a bound of 5 %: t = 0.0493 / 0.0045."""
    logs = np.array([0.01, -0.01, 0.01, -0.01, 0.01])
    assert equivalence_p(logs, 0.05) < 0.001
    assert equivalence_p(logs, 0.001) > 0.05


def test_noise_is_not_equivalence():
    """Not significant is not equal: wide scatter must leave both questions open."""
    result = compare(cell([10, 14, 8, 13, 9.0]), cell([11, 9, 13, 8, 12.0]), 0.05)
    assert result.difference_p > 0.05
    assert not result.equivalent()


@given(st.lists(st.floats(-0.2, 0.2), min_size=2, max_size=12), st.floats(0.01, 0.3))
def test_equivalence_has_no_side(logs, bound):
    """A against B and B against A are the same question."""
    values = np.array(logs)
    assert equivalence_p(values, bound) == pytest.approx(equivalence_p(-values, bound))


def test_holm_by_hand():
    """0.01 0.04 0.03 0.005 become 0.03 0.06 0.06 0.02 (textbook example)."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_leaves_what_was_not_tested():
    """A missing comparison is not in the family."""
    adjusted = holm([0.02, math.nan])
    assert adjusted[0] == pytest.approx(0.02)
    assert math.isnan(adjusted[1])


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_never_lowers_a_p_value(p_values):
    """Adjustment must be conservative and keep the order."""
    adjusted = holm(p_values)
    assert all(a >= p for a, p in zip(adjusted, p_values, strict=True))
    ranked = [a for _, a in sorted(zip(p_values, adjusted, strict=True))]
    assert ranked == sorted(ranked)
