"""A counter that wraps is followed, one that is reset never: the two must not be mixed up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import sampled

from fsgreen import trace
from fsgreen.errors import FsgreenError

RANGE_WH = 1.0


def counting(power_w=250.0, start_wh=0.3, step_wh=0.01):
    """A load and its counter, which wraps at 1 Wh after about 14 s, in steps."""
    readings = sampled(lambda t: power_w + 20 * np.sin(t), np.arange(0.0, 61.0))
    true_wh = readings["energy_wh"] + start_wh
    return readings.assign(energy_wh=np.floor(true_wh / step_wh) * step_wh % RANGE_WH), true_wh


def test_wrapped_counter_goes_on_and_says_so():
    raw, true_wh = counting()
    unwrapped = trace.unwrap_counter(raw, RANGE_WH)
    assert (unwrapped["energy_wh"] - true_wh).abs().max() < 0.011
    assert (unwrapped["quality"] == "wrapped").sum() == int(true_wh.iloc[-1])
    assert trace.counter_energy_j(unwrapped, 10, 50) == pytest.approx(
        trace.energy_j(raw, 10, 50), abs=2 * 36
    )
    assert trace.check_trace(unwrapped, 10, 50, 1.0) == []
    with pytest.raises(FsgreenError, match="went back"):
        trace.counter_energy_j(raw, 10, 50)


@settings(max_examples=40)
@given(st.integers(5, 55), st.floats(60.0, 400.0))
def test_reset_is_never_taken_for_a_wrap_of_another_energy(nth, power_w):
    """Unless the wrap would stand for the energy that was used: then it makes no difference."""
    readings = sampled(lambda t: power_w + 0 * t, np.arange(0.0, 61.0))
    true_wh = readings["energy_wh"].to_numpy()
    reset_wh = np.where(np.arange(61) < nth, true_wh, true_wh - true_wh[nth])
    unwrapped = trace.unwrap_counter(readings.assign(energy_wh=reset_wh), 100.0)
    assert unwrapped["quality"][nth] == "reset"
    assert {flaw.name for flaw in trace.check_trace(unwrapped, nth - 3, nth + 3, 1.0)} == {"reset"}
    with pytest.raises(FsgreenError, match="went back"):
        trace.counter_energy_j(unwrapped, nth - 3, nth + 3)


def test_wrap_over_missing_counts_is_followed():
    raw, _ = counting()
    raw.loc[raw.index[5:20], "energy_wh"] = np.nan
    unwrapped = trace.unwrap_counter(raw, RANGE_WH)
    assert (np.diff(unwrapped["energy_wh"].dropna()) >= 0).all()


def test_counter_beyond_its_range_is_refused():
    raw, _ = counting()
    with pytest.raises(FsgreenError, match="said to wrap"):
        trace.unwrap_counter(raw, 0.5)


def test_counter_that_contradicts_the_power_breaks_rule_21():
    raw = sampled(lambda t: 250 + 0 * t, np.arange(0.0, 61.0))
    (flaw,) = trace.check_trace(raw.assign(power_w=220.0), 10, 50, 1.0)
    assert (flaw.rule, flaw.name) == (21, "counter")


@pytest.mark.parametrize(("power_w", "counted"), [(5.0, 0.53), (42.0, 0.97), (42.0, 1.03)])
def test_counter_of_a_real_watts_up_is_sound_where_it_strays(power_w, counted):
    raw = sampled(lambda t: power_w + 0 * t, np.arange(0.0, 601.0))
    steps_wh = np.floor(raw["energy_wh"] * counted * 10) / 10
    assert trace.check_trace(raw.assign(energy_wh=steps_wh), 10, 590, 1.0) == []


def test_steady_load_of_a_coarse_counter_is_not_stale():
    for power_w in (7.0, 60.0, 250.0):
        raw = sampled(lambda t, p=power_w: p + 0 * t, np.arange(0.0, 601.0))
        raw["energy_wh"] = np.floor(raw["energy_wh"] * 10) / 10
        assert trace.check_trace(raw, 10, 590, 1.0) == []


def test_reading_repeated_while_the_counter_should_have_moved_is_stale():
    raw = sampled(lambda t: 250 + np.sin(t), np.arange(0.0, 61.0))
    raw["energy_wh"] = np.floor(raw["energy_wh"] * 10) / 10
    for place in range(31, 35):
        raw.loc[place, ["power_w", "energy_wh"]] = raw.loc[30, ["power_w", "energy_wh"]]
    (flaw,) = trace.check_trace(raw, 10, 50, 1.0)
    assert (flaw.rule, flaw.name) == (14, "stale")
