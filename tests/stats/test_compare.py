"""Effect sizes, equivalence and families of comparisons."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from fsgreen.stats import (
    LEVEL,
    MIN_BLOCKS,
    Estimate,
    LogRatio,
    Scatter,
    compare,
    effect,
    holm,
    mean_ci,
    simultaneous,
)


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


def test_a_p_value_never_stands_without_an_interval():
    """Rule 35: four clear blocks have neither; a fifth gives both."""
    apart = [20.0, 22, 18, 20, 21], [10.0, 11.2, 9, 10.3, 10.5]
    for blocks in (MIN_BLOCKS - 1, MIN_BLOCKS):
        found = compare(*(cell(values[:blocks]) for values in apart), 0.05)
        p_values = found.difference_p, found.equivalence_p
        assert [math.isfinite(p) for p in p_values] == 2 * [found.ratio.has_interval]
        assert found.ratio.has_interval == (blocks == MIN_BLOCKS)


def test_the_interval_is_that_of_the_linearised_ratio():
    """Five blocks by hand: the error of log(A / B) is that of a / A - b / B over the blocks."""
    a, b = np.array([20, 22, 18, 20, 21.0]), np.array([10, 11.5, 9, 9.5, 10.5])
    residuals = a / a.sum() - b / b.sum()
    error = math.sqrt(5 / 4 * (residuals**2).sum())
    reach = math.exp(2.776445 * error)
    estimate = effect(cell(a), cell(b))
    value = a.sum() / b.sum()
    assert estimate.low == pytest.approx(value / reach, rel=0.003)
    assert estimate.high == pytest.approx(value * reach, rel=0.003)


POOLED = Scatter(0.1, 100, 20)


def test_the_scatter_of_all_cells_tells_apart_what_five_blocks_of_a_pair_do_not():
    """By hand: log 1.2, whose error is that of ten trials, with 100 degrees instead of four."""
    one, other = cell([12, 13.2, 10.8, 12, 12.0]), cell([10, 9.0, 11, 10.5, 9.5])
    alone = compare(one, other, 0.05)
    result = compare(one, other, 0.05, POOLED)
    error = math.sqrt(2 / 5 * math.expm1(0.1**2))
    value = math.log(60 / 50)
    assert result.pooled
    assert result.ratio.value == alone.ratio.value
    assert result.ratio.low == pytest.approx(math.exp(value - t.ppf(0.975, 100) * error))
    assert result.difference_p == pytest.approx(2 * t.sf(value / error, 100))
    assert result.equivalence_p == pytest.approx(t.sf((-math.log(0.95) - value) / error, 100))
    assert result.difference_p < 0.005 < alone.difference_p
    assert result.bootstrap == alone.ratio
    assert effect(one, other, POOLED) == result.ratio


@pytest.mark.parametrize(
    "cells",
    [
        (cell([12.0]), cell([10.0])),
        (pd.concat([cell([12.0, 11, 13, 12, 12])] * 2), cell([10.0, 9, 11, 10, 10])),
        (cell([0.0, 0, 0, 0, 0]), cell([10.0, 9, 11, 10, 10])),
    ],
    ids=["one block", "two trials in a block", "no work"],
)
def test_what_the_scatter_of_others_says_nothing_about_stays_with_the_bootstrap(cells):
    """However quiet the rest is: one pair has no p-value, and zero no logarithm."""
    alone, result = compare(*cells, 0.05), compare(*cells, 0.05, POOLED)
    assert not result.pooled
    assert str(result) == str(alone)


def test_more_resamples_say_the_same():
    """The interval is that of the data, not of the seed."""
    a, b = cell([10, 12, 11, 13, 10.0]), cell([9, 8, 9, 10, 9.5])
    one, other = effect(a, b), effect(a, b, seed=1, resamples=40_000)
    assert one.low == pytest.approx(other.low, rel=0.005)
    assert one.high == pytest.approx(other.high, rel=0.005)


def test_a_thousand_blocks_are_resampled_in_chunks():
    """Memory must stay small, and the interval that of the normal approximation."""
    rng = np.random.default_rng(5)
    a, b = rng.normal(100, 5, 1000), rng.normal(100, 5, 1000)
    estimate = effect(cell(a), cell(b), resamples=3000)
    error = np.std(a / a.sum() - b / b.sum()) * math.sqrt(1000)
    assert estimate.high / estimate.value == pytest.approx(math.exp(1.962 * error), rel=0.001)


def test_the_tests_and_the_interval_agree():
    """p of 5 % is where the interval ends, on the very ratio that is reported."""
    result = compare(cell([10, 14, 11, 13, 12.0]), cell([9, 8, 13, 10, 9.5]), 0.05)
    logs = math.log(result.ratio.value), math.log(result.ratio.high / result.ratio.value) / 2.776445
    assert result.difference_p == pytest.approx(2 * t.sf(logs[0] / logs[1], 4))
    assert result.candidate / result.baseline == result.ratio.value


def test_nothing_is_no_multiple_of_zero():
    """A baseline without any I/O wait has no ratio, rather than an infinite or a crash."""
    zero = effect(cell([1.0, 2, 3, 4, 5]), cell([0.0] * 5))
    assert math.isnan(zero.value)
    assert not zero.has_interval
    assert not effect(cell([1.0] * 5), cell([0.0, 0, 0, 0, 1])).has_interval


def test_a_candidate_may_be_zero():
    """No I/O wait in three of five trials: an interval from zero, but no test on logarithms."""
    result = compare(cell([0.0, 0, 0, 1, 2]), cell([10.0, 11, 9, 10, 10]), 0.05)
    assert result.ratio.low == 0
    assert 0.06 < result.ratio.high < 0.3
    assert math.isnan(result.difference_p)


def test_no_common_block_no_ratio():
    """Cells that never met in a block are not compared; one block gives a value alone."""
    later = cell([1.0, 2, 3]).assign(block=[7, 8, 9])
    assert math.isnan(compare(cell([1.0, 2, 3]), later, 0.05).ratio.value)
    one = compare(cell([3.0]), cell([2.0]), 0.05)
    assert one.ratio.value == 1.5
    assert math.isnan(one.difference_p)
    assert math.isnan(one.equivalence_p)


def test_a_missing_value_stops_the_comparison():
    """NaN must not vanish in a total."""
    with pytest.raises(ValueError):
        effect(cell([1.0, math.nan]), cell([1.0, 1.0]))
    with pytest.raises(ValueError):
        effect(cell([1.0, 2.0], below=0.0), cell([1.0, 1.0]))


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
    # Ten draws from 9 and 11: sd 1 / sqrt(10) of the mean, 0.0316 of its logarithm.
    assert estimate.n == 5
    reach = math.exp(2.776445 * math.sqrt(5 / 4) * 0.1 / math.sqrt(10))
    assert estimate.high == pytest.approx(reach, rel=0.005)
    assert estimate.low == pytest.approx(1 / reach, rel=0.005)


def test_blocks_in_any_order_with_any_number_of_trials():
    """A repeated trial, and rows that come as they like, belong to their block."""
    ragged = pd.DataFrame(
        {"block": [5, 1, 3, 2, 4, 3], "above": [50.0, 10, 29, 20, 40, 31], "below": 1.0}
    )
    base = cell([10.0, 20, 30, 40, 50])
    estimate = effect(ragged, base)
    assert estimate == effect(ragged.sort_values("block", kind="stable"), base)
    assert (estimate.value, estimate.n) == (1.0, 5)
    assert estimate.low < 1 < estimate.high


def test_equivalence_by_hand():
    """Log ratios +-0.01 (n = 5) against a bound of 5 %: t = (0.0513 - 0.002) / 0.0049."""
    logs = LogRatio.of_blocks([0.01, -0.01, 0.01, -0.01, 0.01])
    assert logs.value == pytest.approx(0.002)
    assert logs.error == pytest.approx(0.01095445 / math.sqrt(5))
    p = t.sf((-math.log(0.95) - 0.002) / 0.004898979, 4)
    assert logs.equivalence_p(0.05) == pytest.approx(p)
    assert logs.equivalence_p(0.05) < 0.001
    assert logs.equivalence_p(0.001) > 0.05


def test_difference_of_student():
    """Student 1908 as paired differences: t = 4.0621, p = 0.002833."""
    logs = LogRatio.of_blocks([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    assert logs.difference_p() == pytest.approx(0.00283289, abs=1e-7)


def test_equal_blocks_are_certain():
    """No scatter: different or equal for sure, and no division by zero."""
    assert LogRatio.of_blocks([0.0, 0.0]).difference_p() == 1
    assert LogRatio.of_blocks([0.2, 0.2]).difference_p() == 0
    assert LogRatio.of_blocks([0.01, 0.01]).equivalence_p(0.05) == 0
    assert LogRatio.of_blocks([0.1, 0.1]).equivalence_p(0.05) == 1
    assert math.isnan(LogRatio.of_blocks([0.1]).difference_p())
    assert math.isnan(LogRatio.of_blocks([]).equivalence_p(0.05))


def test_noise_is_not_equivalence():
    """Not significant is not equal: wide scatter must leave both questions open."""
    result = compare(cell([10, 14, 8, 13, 9.0]), cell([11, 9, 13, 8, 12.0]), 0.05)
    assert result.difference_p > 0.05
    assert not result.equivalence_p < LEVEL


@given(st.lists(st.floats(-0.2, 0.2), min_size=2, max_size=12), st.floats(0.01, 0.3))
def test_equivalence_has_no_side(logs, bound):
    """A against B and B against A are the same question."""
    one, other = LogRatio.of_blocks(logs), LogRatio.of_blocks(-np.array(logs))
    assert one.equivalence_p(bound) == pytest.approx(other.equivalence_p(bound))


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


def test_ties_stay_ties_under_holm():
    """Equal p-values get equal adjusted ones; nothing exceeds 1; an empty family is empty."""
    assert holm([0.02, 0.02, 0.6]) == pytest.approx([0.06, 0.06, 0.6])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_an_interval_for_many_is_that_of_a_smaller_level():
    """Student's at 1 - 0.05 / 14, by the same error: one of fourteen wrong is as likely as one."""
    above, below = cell([20, 22, 18, 20, 21]), cell([10, 11, 9, 10, 10.5])
    one = effect(above, below)
    wider, exact = simultaneous(one, 14), effect(above, below, level=1 - LEVEL / 14)
    assert (wider.low, wider.high) == pytest.approx((exact.low, exact.high))
    assert simultaneous(one, 1) == one
    assert wider.degrees == one.degrees


def test_bounds_of_no_students_interval_hold_for_no_number_of_them():
    """A range of trials has no error that could be made to fit."""
    assert not simultaneous(Estimate.spanning(1.2, 1.1, 1.3, 5), 3).has_interval
    assert not simultaneous(mean_ci([1.0, -1.0]), 3).has_interval
