"""The columns of a window against the readings themselves."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.view.window import FLAGGED, HIGHEST, LOWEST, Window

times = st.floats(-50, 150) | st.sampled_from([np.nan, np.inf, -np.inf, 1e300])
powers = st.floats(-1e6, 1e6, width=32) | st.sampled_from([np.nan, np.inf, 1e300])
readings = st.lists(st.tuples(times, powers, st.booleans()), max_size=60)


def columns_by_hand(window, batch):
    """Lowest, highest and count of flags of each column, reading by reading."""
    layers = np.full((3, window.columns), np.nan)
    layers[FLAGGED] = 0
    for time_s, power_w, flagged in batch:
        for column in range(window.columns):
            start_s = window.start_s + column * window.width_s
            if start_s <= time_s < start_s + window.width_s:
                layers[LOWEST, column] = np.fmin(layers[LOWEST, column], power_w)
                layers[HIGHEST, column] = np.fmax(layers[HIGHEST, column], power_w)
                layers[FLAGGED, column] += flagged
    return layers


def add(window, batch):
    time_s, power_w, flagged = (np.array(column) for column in zip(*batch, strict=True))
    window.add(0, time_s.astype(float), power_w.astype(float), np.flatnonzero(flagged).tolist())


@given(batch=readings, until_s=st.floats(0, 200), cuts=st.lists(st.integers(0, 60), max_size=5))
def test_no_spike_is_lost_however_the_readings_come(batch, until_s, cuts):
    """Widths of powers of two, so that this test and the window agree on the edges."""
    window = Window(series=1, columns=16, start_s=0.0, width_s=4.0)
    window.move(until_s)
    for first, last in pairwise([0, *sorted(cuts), 60]):
        if batch[first:last]:
            add(window, batch[first:last])
    expected = columns_by_hand(window, batch)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(window.layers()[:, 0], expected.astype(np.float32))


@given(steps_s=st.lists(st.floats(0, 30), max_size=12))
def test_a_window_that_moves_shows_what_one_that_begins_there_would(steps_s):
    """Nothing old comes back when places of the ring are used again."""
    batch = [(float(nth), float(nth % 7), nth % 5 == 0) for nth in range(300)]
    moving = Window(series=1, columns=8, start_s=0.0, width_s=2.0)
    until_s = 0.0
    shown_s = -1.0
    for step_s in steps_s:
        until_s += step_s
        moving.move(until_s)
        new = [reading for reading in batch if shown_s < reading[0] <= until_s]
        shown_s = until_s
        if new:
            add(moving, new)
    seen = [reading for reading in batch if reading[0] <= shown_s]
    expected = columns_by_hand(moving, seen)
    np.testing.assert_array_equal(moving.layers()[:, 0], expected.astype(np.float32))


def test_it_ends_with_the_column_of_now_and_never_goes_back():
    window = Window(series=1, columns=10, start_s=100.0, width_s=0.5)
    assert (window.start_s, window.end_s) == (100.0, 105.0)
    window.move(106.2)
    assert (window.start_s, window.end_s) == (101.5, 106.5)
    window.move(103.0)
    assert window.end_s == 106.5


def test_series_do_not_mix():
    window = Window(series=3, columns=4, start_s=0.0, width_s=1.0)
    window.add(1, np.array([0.5]), np.array([7.0]))
    layers = window.layers()
    assert layers[HIGHEST, 1, 0] == 7.0
    assert np.isnan(layers[HIGHEST, [0, 2]]).all()


@pytest.mark.parametrize("rate_hz", [1, 1000, 10_000])
def test_one_reading_among_six_hundred_seconds_of_them_is_seen(rate_hz):
    window = Window(series=1, columns=800, start_s=0.0, width_s=600 / 800)
    time_s = np.arange(600 * rate_hz) / rate_hz
    power_w = np.full(time_s.size, 214.0)
    power_w[123 * rate_hz] = 999.0
    window.add(0, time_s, power_w)
    highest = window.layers()[HIGHEST, 0]
    assert highest[int(123 / 0.75)] == 999.0
    assert np.nansum(highest == 999.0) == 1
