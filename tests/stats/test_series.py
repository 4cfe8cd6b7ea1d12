"""Changepoints and what they say about a trial."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.datasets import nile

from fsgreen.stats import (
    SAME_POWER,
    SHORTEST_SETTLED,
    WHOLE,
    changepoints,
    classify_cell,
    classify_series,
)


def noisy(*levels, each=20, sd=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([level + sd * rng.normal(size=each) for level in levels])


def test_a_step_is_found_where_it_is():
    """A jump after 20 s is one changepoint at 20."""
    assert changepoints(noisy(100, 130)) == [20]


def test_two_steps_are_two():
    """The segmentation is exact, not greedy."""
    assert changepoints(noisy(100, 140, 90)) == [20, 40]


def test_the_published_example_of_the_nile():
    """Flow of the Nile at Aswan, 1871 to 1970: one change, with the year 1899 (Cobb 1978)."""
    flow = nile.load_pandas().data["volume"].to_numpy()
    assert [1871 + index for index in changepoints(flow)] == [1899]


def test_a_step_of_power_counts_from_two_per_cent_on():
    """Rule 23: 250 W to 257 W is a change of power, though a rate would be called flat."""
    power_w = noisy(250, 257, sd=0.5)
    assert classify_series(power_w, SAME_POWER) == "warm-up"
    assert classify_series(power_w) == "flat"
    assert classify_series(noisy(250, 252, sd=0.5), SAME_POWER) == "flat"


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_gap_in_a_series_is_refused(bad):
    """A missing second must not pass as a level."""
    with pytest.raises(ValueError):
        changepoints([1.0, 2.0, bad, 1.0, 2.0, 1.0])


def test_nothing_to_segment():
    """Empty, single and constant series have no changepoints."""
    for series in ([], [1.0], [3.0] * 50):
        assert changepoints(series) == []


def test_small_changes_on_a_large_level_are_found():
    """A million operations a second must not drown a step of fifty in rounding."""
    assert changepoints(1e6 + noisy(0, 50, sd=5.0)) == [20]


def test_noise_has_no_changepoints():
    """White noise must not look like a system that changes."""
    found = [len(changepoints(noisy(100, seed=seed, each=60))) for seed in range(50)]
    assert sum(count > 0 for count in found) <= 3


@pytest.mark.parametrize(
    ("series", "state"),
    [
        (noisy(100, 100), "flat"),
        (noisy(60, 100), "warm-up"),
        (noisy(100, 60), "slow-down"),
        (np.concatenate([noisy(100, each=36), noisy(50, each=4)]), "no steady state"),
        (np.full(30, 7.0), "flat"),
        (np.concatenate([np.full(15, 5.0), np.full(15, 9.0)]), "warm-up"),
        (noisy(100, 102, sd=0.2), "flat"),
        ([100, 50, 20, 10, 5], "too short"),
    ],
)
def test_classes(series, state):
    """Each class by a series made to be it; a change of 2 % is still one level."""
    assert classify_series(series) == state


def test_one_bad_second_is_no_state():
    """A single outlier must not turn a flat trial into a slow-down."""
    series = noisy(100, each=30)
    series[12] = 40
    assert classify_series(series) == "flat"


def dependent(kept, n, seed):
    """Seconds around one level, each of which keeps a share of what the last was off."""
    series, rng = np.empty(n), np.random.default_rng(seed)
    series[0] = rng.normal()
    for second in range(1, n):
        series[second] = kept * series[second - 1] + math.sqrt(1 - kept**2) * rng.normal()
    return 100 + 5 * series


@pytest.mark.parametrize(("n", "most"), [(30, 40), (60, 30), (600, 12)])
def test_seconds_that_wander_around_one_level_are_mostly_flat(n, most):
    """A host whose speed wanders would look like warm-ups and slow-downs in every second trial."""
    states = [classify_series(dependent(0.8, n, seed)) for seed in range(100)]
    assert 100 - states.count("flat") <= most


@pytest.mark.parametrize(
    ("n", "last", "step", "least"),
    [(10, 5, 0.2, 95), (10, 2, 0.2, 85), (60, 30, 0.1, 95), (60, 2, 0.2, 85)],
)
def test_the_smallest_step_that_is_found(n, last, step, least):
    """Rules 23 and 24 would be quiet about trials that end a fifth below where they began."""
    found = 0
    for seed in range(100):
        series = noisy(100, each=n, sd=5, seed=seed)
        series[-last:] *= 1 - step
        found += classify_series(series) != "flat"
    assert found >= least


def test_a_step_among_dependent_seconds_is_found():
    """Dependence must not excuse every change."""
    found = [
        changepoints(dependent(0.5, 60, seed) - 20 * (np.arange(60) >= 30)) for seed in range(50)
    ]
    assert sum(map(bool, found)) >= 40


def test_nine_seconds_can_lack_a_steady_state():
    """Rule 24 could never fire in a campaign whose trials last nine seconds."""
    assert SHORTEST_SETTLED == 9
    series = noisy(100, each=9)
    series[-2:] = 60
    assert classify_series(series) == "no steady state"


def test_dips_at_a_regular_distance_are_no_change_of_level():
    """A file system that flushes every five seconds is steady; docs/statistics.md says so."""
    series = noisy(100, each=30)
    series[4::5] = 60
    assert classify_series(series) == "flat"


@given(st.floats(0.01, 1000))
def test_the_unit_does_not_matter(factor):
    """ops/s or kops/s: the same changepoints."""
    series = noisy(100, 130, 90, seed=5)
    assert changepoints(factor * series) == changepoints(series)


def test_cells():
    """Half of the trials without steady state is too many to report a mean as settled."""
    assert classify_cell(["flat", "flat", "warm-up"]) == "flat"
    assert classify_cell(["flat", "no steady state"]) == "inconsistent"
    assert classify_cell([]) == "inconsistent"
    assert classify_cell(["flat", "too short", "too short"]) == "flat"
    assert classify_cell(["no steady state", "too short", "too short"]) == "inconsistent"
    assert classify_cell(["too short"]) == "too short"
    assert classify_cell([WHOLE, WHOLE, "no steady state"]) == WHOLE


@pytest.mark.parametrize(
    "states",
    [
        ["warm-up", "flat", "slow-down", "flat", "slow-down"],
        ["flat", "flat", "no steady state", "no steady state", "slow-down"],
        ["flat", "slow-down"],
    ],
)
def test_a_cell_is_flat_only_where_most_of_its_trials_are(states):
    """Rule 23 would be quiet about cells most of whose trials moved."""
    assert classify_cell(states) == "mixed"
