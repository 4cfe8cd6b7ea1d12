import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.meters.common.timing import refresh_s


def watched(period_s, poll_s, values, offset_s=0.0, duration_s=None):
    """What a meter shows that measures one of `values` every period, asked every `poll_s`."""
    duration_s = duration_s or period_s * (len(values) - 1)
    time_s = np.arange(0.0, duration_s, poll_s)
    nth = np.floor((time_s + offset_s) / period_s).astype(int)
    return time_s, np.asarray(values, float)[np.minimum(nth, len(values) - 1)]


@pytest.mark.parametrize(
    ("period_s", "poll_s"), [(5.0, 1.0), (3.0, 1.0), (1.0, 0.2), (2.7, 0.5), (10.0, 0.25)]
)
def test_period_of_a_slow_meter_is_recovered(period_s, poll_s):
    time_s, shown = watched(period_s, poll_s, range(60))
    assert refresh_s(time_s, shown) == pytest.approx(period_s, rel=0.05)


@given(st.lists(st.integers(100, 104), min_size=80, max_size=80), st.floats(0, 4.9))
def test_measurements_that_are_equal_by_chance_do_not_lengthen_it(values, offset_s):
    time_s, shown = watched(5.0, 0.5, values, offset_s)
    found_s = refresh_s(time_s, shown)
    if (np.diff(values) != 0).mean() > 0.5:
        assert found_s == pytest.approx(5.0, rel=0.1)


def test_meter_that_measures_faster_than_it_is_asked_shows_the_time_of_the_questions():
    time_s, shown = watched(0.3, 1.0, range(400))
    assert refresh_s(time_s, shown) == pytest.approx(1.0)


@pytest.mark.parametrize("values", [[], [5], [5] * 50, [5, 6, 7, 8]])
def test_value_that_hardly_changes_tells_no_period(values):
    assert math.isnan(refresh_s(range(len(values)), values))
