"""Centre, interval and variation against values worked out by hand or by textbooks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.stats import harmonic_mean, mean_ci, median_ci, ratio_of_totals, variation

positive = st.floats(0.1, 1e6, allow_nan=False)
samples = st.lists(positive, min_size=2, max_size=30)

# Additional hours of sleep, the differences of Student 1908.
SLEEP_H = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]


def test_mean_interval_of_one_to_five():
    """mean 3, sd sqrt(2.5), t(0.975, 4) = 2.776445: half-width 1.963243."""
    estimate = mean_ci([1, 2, 3, 4, 5])
    assert estimate.value == 3
    assert estimate.high - 3 == pytest.approx(1.963243, abs=1e-6)
    assert 3 - estimate.low == pytest.approx(1.963243, abs=1e-6)
    assert estimate.half_width_percent == pytest.approx(65.4414, abs=1e-3)


def test_mean_interval_of_student():
    """Student 1908: mean 1.58, 95 % from 0.70 to 2.46."""
    estimate = mean_ci(SLEEP_H)
    assert estimate.value == pytest.approx(1.58)
    assert (estimate.low, estimate.high) == pytest.approx((0.7001142, 2.4598858), abs=1e-6)


def test_two_trials_have_a_wide_interval_and_equal_ones_none_to_speak_of():
    """n = 2: t(0.975, 1) = 12.7062 times half the range; no scatter: no width."""
    two = mean_ci([9.0, 11.0])
    assert two.high - 10 == pytest.approx(12.7062, abs=1e-4)
    same = mean_ci([4.0, 4.0, 4.0])
    assert same.low == same.high == 4.0


def test_one_trial_has_no_interval():
    """A single trial must not look certain."""
    assert not mean_ci([7.0]).has_interval
    assert not ratio_of_totals([7.0], [2.0]).has_interval
    assert not harmonic_mean([7.0]).has_interval
    assert not median_ci([7.0]).has_interval


def test_median_ranks_are_those_of_the_binomial_table():
    """n = 6: ranks 1 and 6 (96.9 %); n = 10: ranks 2 and 9 (97.9 %); n = 5 has none."""
    assert not median_ci(range(5)).has_interval
    six, ten = median_ci(range(6)), median_ci(range(10))
    assert (six.low, six.high) == (0, 5)
    assert (ten.low, ten.value, ten.high) == (1, 4.5, 8)


def test_ties_keep_their_ranks():
    """Six trials of which five are equal: the interval reaches the one that is not."""
    estimate = median_ci([2, 2, 9, 2, 2, 2])
    assert (estimate.low, estimate.value, estimate.high) == (2, 2, 9)


def test_ratio_is_total_over_total_not_mean_of_ratios():
    """100 ops in 1 J and 100 ops in 9 J are 20 ops/J, not 55.6."""
    assert ratio_of_totals([100, 100], [1, 9]).value == 20


def test_ratio_interval_by_hand():
    """x = 2 4 6, y = 1 2 2.4: R = 20/9, residuals sum of squares gives the error."""
    x, y = np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 2.4])
    r = 12 / 5.4
    error = math.sqrt(((x - r * y) ** 2).sum() / 2 / 3) / 1.8
    estimate = ratio_of_totals(x, y)
    assert estimate.high - estimate.value == pytest.approx(4.302653 * error, rel=1e-6)


def test_rates_of_the_same_work_have_a_harmonic_mean():
    """60 km/h there and 20 km/h back are 30 km/h, as total over total says."""
    assert harmonic_mean([60, 20]).value == pytest.approx(30)
    assert ratio_of_totals([1, 1], [1 / 60, 1 / 20]).value == pytest.approx(30)


def test_a_rate_that_might_be_boundless_says_so():
    """Times of 1 and 9: their mean's interval reaches below zero."""
    assert harmonic_mean([1, 1 / 9]).high == math.inf
    with pytest.raises(ValueError):
        harmonic_mean([1.0, 0.0])


@given(samples, st.floats(0.1, 10))
def test_proportional_work_and_energy_leave_no_doubt(denominators, rate):
    """If each trial has the same ratio, the interval has no width however much trials differ."""
    below = np.array(denominators)
    estimate = ratio_of_totals(rate * below, below)
    assert estimate.value == pytest.approx(rate)
    assert estimate.high - estimate.low == pytest.approx(0, abs=1e-9 * rate)


@given(samples, st.floats(0.1, 10))
def test_intervals_scale_with_the_unit(values, factor):
    """Reporting in another unit must not change how sure we are."""
    a, b = mean_ci(values), mean_ci(factor * np.array(values))
    assert b.value == pytest.approx(factor * a.value)
    assert b.high == pytest.approx(factor * a.high, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("above", "below"), [([1, 2], [1]), ([1.0], [0.0]), ([], []), ([math.nan], [1.0])]
)
def test_bad_samples_are_refused(above, below):
    """A NaN or an unpaired trial must stop the analysis, not pass through it."""
    with pytest.raises(ValueError):
        ratio_of_totals(above, below)


@pytest.mark.parametrize("statistic", [mean_ci, median_ci, harmonic_mean, variation])
def test_no_summary_of_what_is_missing(statistic):
    """A NaN must not vanish in a mean, nor poison a table unseen."""
    for values in ([], [1.0, math.nan], [1.0, math.inf]):
        with pytest.raises(ValueError):
            statistic(values)


def test_variation_is_relative_to_the_mean():
    """8, 10, 12: sd 2, range 4."""
    result = variation([8, 10, 12])
    assert result.cv_percent == pytest.approx(20)
    assert result.range_percent == pytest.approx(40)
    assert (result.p5, result.p95) == pytest.approx((8.2, 11.8))
    assert variation([-8, -10, -12]).cv_percent == pytest.approx(20)
    assert math.isnan(variation([5.0]).cv_percent)
