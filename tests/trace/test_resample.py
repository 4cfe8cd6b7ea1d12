"""Another time axis must not make or lose a joule, nor hide a flaw."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from traces import sampled

from fsgreen import trace
from fsgreen.errors import FsgreenError

powers = hnp.arrays(float, st.integers(12, 40), elements=st.floats(0, 1000))
share = st.floats(0.05, 0.95)


@settings(max_examples=60)
@given(powers, st.floats(0, 0.45), st.floats(0.55, 1.0), st.integers(2, 200))
def test_energy_of_the_whole_is_kept_at_any_rate(power_w, first, last, points):
    time_s = np.arange(float(len(power_w)))
    readings = sampled(lambda _: power_w, time_s)
    grid = np.linspace(first * time_s[-1], last * time_s[-1], points)
    new = trace.resample(readings, grid, 1.0)
    assert list(new["time_s"]) == list(grid)
    before_j = trace.energy_j(readings, grid[0], grid[-1])
    assert trace.energy_j(new, grid[0], grid[-1]) == pytest.approx(before_j, rel=1e-9, abs=1e-9)
    after_j = trace.counter_energy_j(readings, grid[0], grid[-1])
    assert trace.counter_energy_j(new, grid[0], grid[-1]) == pytest.approx(after_j, abs=1e-6)
    assert new["power_w"].between(power_w.min() - 1e-9, power_w.max() + 1e-9).all()


@settings(max_examples=40)
@given(powers, st.lists(share, min_size=2, max_size=20, unique=True))
def test_energy_of_the_whole_is_kept_on_uneven_times(power_w, places):
    readings = sampled(lambda _: power_w, np.arange(float(len(power_w))))
    grid = np.unique(np.array(places) * (len(power_w) - 1))
    if len(grid) > 1 and np.diff(grid).min() > 1e-6:
        before_j = trace.energy_j(readings, grid[0], grid[-1])
        after_j = trace.energy_j(trace.resample(readings, grid, 1.0), grid[0], grid[-1])
        assert after_j == pytest.approx(before_j, rel=1e-9, abs=1e-9)


def test_ten_kilohertz_in_seconds_keep_each_phase_but_for_its_edges():
    time_s = np.arange(0, 20, 1e-4)
    readings = sampled(lambda t: np.where((t > 5) & (t <= 15), 200.0, 100.0), time_s)
    seconds = trace.resample(readings, np.arange(0.0, 20.0), 10_000)
    assert trace.energy_j(seconds, 6, 14) == pytest.approx(trace.energy_j(readings, 6, 14))
    # A step on a point is spread over both its intervals: a quarter of one is lost at either edge.
    assert trace.energy_j(seconds, 5, 15) == pytest.approx(2000 - 2 * 100 / 4)


def test_line_stays_a_line():
    readings = sampled(lambda t: 3 * t, np.arange(0.0, 61.0))
    inner = trace.resample(readings, np.arange(10.0, 50.0, 2.5), 1.0)[1:-1]
    assert list(inner["power_w"]) == pytest.approx(list(3 * inner["time_s"]))


def test_flags_and_gaps_stay_with_the_points_that_rest_on_them():
    readings = sampled(lambda t: 100 + 0 * t, np.arange(0.0, 61.0))
    readings.loc[20, "quality"] = "clipped"
    readings.loc[21, "quality"] = "clipped|stale"
    readings = readings[(readings["time_s"] < 40) | (readings["time_s"] > 43)]
    seconds = trace.resample(readings, np.arange(5.0, 56.0, 5.0), 1.0)
    marked = seconds[seconds["quality"] != "ok"].set_index("time_s")["quality"]
    assert dict(marked) == {
        15.0: "clipped",
        20.0: "clipped|stale",
        25.0: "clipped|stale",
        35.0: "lost",
        40.0: "lost",
        45.0: "lost",
    }
    assert {flaw.name for flaw in trace.check_trace(seconds, 10, 50, 0.2)} == {"clipped", "lost"}


@pytest.mark.parametrize("grid", [[10.0], [10.0, 10.0], [20.0, 10.0], [[1.0, 2.0]], [50.0, 90.0]])
def test_times_that_cannot_be_are_refused(grid):
    with pytest.raises(FsgreenError):
        trace.resample(sampled(lambda t: 0 * t, np.arange(61.0)), grid, 1.0)


def test_reading_without_a_value_is_not_averaged_away():
    readings = sampled(lambda t: 100 + 0 * t, np.arange(0.0, 61.0))
    readings.loc[30, "power_w"] = np.nan
    with pytest.raises(FsgreenError, match="without a value"):
        trace.resample(readings, [10.0, 50.0], 1.0)
