"""The studentised bootstrap of one cell."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import bootstrap_rate
from fsgreen.stats import ratio_of_totals, studentised_ratio


def test_a_long_tail_pulls_the_interval_to_its_side():
    """One slow trial of ten: the mean may be far above, hardly below."""
    estimate = studentised_ratio([1, 1.1, 0.9, 1.05, 0.95, 1, 1.02, 0.98, 1, 6], np.ones(10))
    assert estimate.value == pytest.approx(1.5)
    assert estimate.high - estimate.value > 2 * (estimate.value - estimate.low)


def test_many_normal_trials_get_the_t_interval():
    """With a thousand trials, both intervals are the same."""
    rng = np.random.default_rng(3)
    work, time_s = rng.normal(100, 5, 1000), rng.normal(10, 0.1, 1000)
    plain, other = ratio_of_totals(work, time_s), studentised_ratio(work, time_s)
    assert other.value == pytest.approx(plain.value)
    assert other.low == pytest.approx(plain.low, rel=0.001)
    assert other.high == pytest.approx(plain.high, rel=0.001)


@given(st.lists(st.floats(1, 100), min_size=5, max_size=12), st.floats(0.01, 100))
def test_the_unit_does_not_matter(work, factor):
    """ops/s or kops/s: the same interval."""
    below = np.ones(len(work))
    one = studentised_ratio(work, below, resamples=200)
    other = studentised_ratio(factor * np.array(work), below, resamples=200)
    assert other.value == pytest.approx(factor * one.value)
    if one.has_interval and one.low < one.high * (1 - 1e-6):
        assert other.low == pytest.approx(factor * one.low, rel=1e-6)


def test_few_or_equal_trials():
    """Four trials: no interval; equal ones: no width; four equal of five: mostly no scatter."""
    assert not studentised_ratio([1, 2, 3, 4], np.ones(4)).has_interval
    same = studentised_ratio(np.full(5, 3.0), np.ones(5))
    assert same.low == same.value == same.high
    assert not studentised_ratio([1, 1, 1, 1, 2], np.ones(5)).has_interval


@pytest.mark.parametrize(
    ("above", "below"), [([1, 2], [1]), ([1.0, 0.0], [1, 1]), ([1, 1], [1, 0]), ([math.nan], [1])]
)
def test_what_has_no_logarithm_is_refused(above, below):
    """Zero work, an unpaired trial or a NaN must stop the analysis."""
    with pytest.raises(ValueError):
        studentised_ratio(above, below)


def test_the_benchmark_explains_itself(monkeypatch, capsys):
    """`--help` has an example that can be typed."""
    monkeypatch.setattr("sys.argv", ["bootstrap_rate", "--help"])
    with pytest.raises(SystemExit, match="0"):
        bootstrap_rate.arguments()
    assert "python -m bench.bootstrap_rate " in capsys.readouterr().out


def test_one_wild_trial_among_equals_is_no_crash():
    """Four trials that hardly differ and one four times as fast: its bound overflowed."""
    estimate = studentised_ratio([100, 100.1, 99.9, 100, 400], np.ones(5))
    assert estimate.value == pytest.approx(160)
    assert not estimate.has_interval
