"""The meter's own counter against its power."""

import numpy as np
import pytest
from traces import sampled

from fsgreen import trace


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
