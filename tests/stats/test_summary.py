"""Centre, interval and variation against values worked out by hand or by textbooks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.stats import mean_ci, median_ci, normality_p, ratio_of_totals, variation

positive = st.floats(0.1, 1e6, allow_nan=False)
samples = st.lists(positive, min_size=2, max_size=30)


def test_mean_interval_of_one_to_five():
    """mean 3, sd sqrt(2.5), t(0.975, 4) = 2.776445: half-width 1.963243."""
    estimate = mean_ci([1, 2, 3, 4, 5])
    assert estimate.value == 3
    assert estimate.high - 3 == pytest.approx(1.963243, abs=1e-6)
    assert 3 - estimate.low == pytest.approx(1.963243, abs=1e-6)
    assert estimate.half_width_percent == pytest.approx(65.4414, abs=1e-3)


def test_one_trial_has_no_interval():
    """A single trial must not look certain."""
    assert not mean_ci([7.0]).has_interval
    assert not ratio_of_totals([7.0], [2.0]).has_interval


def test_median_ranks_are_those_of_the_binomial_table():
    """n = 6: ranks 1 and 6 (96.9 %); n = 10: ranks 2 and 9 (97.9 %); n = 5 has none."""
    assert not median_ci(range(5)).has_interval
    six, ten = median_ci(range(6)), median_ci(range(10))
    assert (six.low, six.high) == (0, 5)
    assert (ten.low, ten.value, ten.high) == (1, 4.5, 8)


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


def test_variation_is_relative_to_the_mean():
    """8, 10, 12: sd 2, range 4."""
    result = variation([8, 10, 12])
    assert result.cv_percent == pytest.approx(20)
    assert result.range_percent == pytest.approx(40)
    assert math.isnan(variation([5.0]).cv_percent)


def test_normality_tells_a_bell_from_a_long_tail():
    """The star on a t interval rests on this."""
    rng = np.random.default_rng(2)
    assert normality_p(rng.normal(size=30)) > 0.05
    assert normality_p(rng.lognormal(sigma=1.5, size=30)) < 0.001
    assert math.isnan(normality_p([1.0, 1.0, 1.0]))
