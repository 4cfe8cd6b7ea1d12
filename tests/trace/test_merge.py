"""Power of several channels: nothing is added twice, from two boundaries, or without its flags."""

import numpy as np
import pytest
from traces import INFO, sampled

from fsgreen import trace
from fsgreen.errors import FsgreenError

SECONDS = np.arange(0.0, 61.0)


def rail(volts, amps):
    readings = sampled(lambda t: volts * amps + 0 * t, SECONDS)
    return readings.assign(voltage_v=volts, current_a=amps).drop(columns="power_w")


def test_rails_are_volts_times_amperes_and_add_up():
    rails = {
        name: trace.with_power(rail(*at), "dc-rail")
        for name, at in {"5 V": (5.0, 1.5), "12 V": (12.0, 0.5)}.items()
    }
    total = trace.sum_channels(rails)
    assert trace.energy_j(total, 10, 50) == pytest.approx((7.5 + 6.0) * 40)
    assert trace.counter_energy_j(total, 10, 50) == pytest.approx((7.5 + 6.0) * 40)


def test_missing_current_is_no_power_and_not_zero():
    broken = rail(5.0, 1.5)
    broken.loc[20, "current_a"] = np.nan
    total = trace.sum_channels({"a": trace.with_power(broken, "dc-rail")})
    with pytest.raises(FsgreenError, match="without a value"):
        trace.energy_j(total, 10, 50)


def test_apparent_power_is_not_taken_for_watts():
    with pytest.raises(FsgreenError, match="apparent power"):
        trace.with_power(rail(120.0, 2.0), "wall")


def test_measured_power_is_not_replaced():
    with pytest.raises(FsgreenError, match="its power already"):
        trace.with_power(sampled(lambda t: t, SECONDS), "dc-rail")


def test_sum_has_the_flags_of_every_channel():
    one, other = (sampled(lambda t: 100 + 0 * t, SECONDS) for _ in range(2))
    one.loc[20, "quality"] = "clipped"
    other.loc[21, "quality"] = "over-range"
    total = trace.sum_channels({"one": one, "other": other.assign(time_s=SECONDS + 0.5)})
    marked = total[total["quality"] != "ok"].set_index("time_s")["quality"]
    assert dict(marked) == {
        19.5: "clipped",
        20.0: "clipped",
        20.5: "clipped",
        21.0: "over-range",
        21.5: "over-range",
        22.0: "over-range",
    }


def test_sum_with_a_channel_that_has_no_counter_has_none():
    readings = sampled(lambda t: 100 + 0 * t, SECONDS)
    total = trace.sum_channels({"one": readings, "other": readings.drop(columns="energy_wh")})
    assert np.isnan(trace.counter_energy_j(total, 10, 50))


def test_nothing_has_no_sum():
    with pytest.raises(FsgreenError, match="no channel"):
        trace.sum_channels({})


def test_sum_of_meters_carries_flags_too():
    readings = sampled(lambda t: 100 + 0 * t, SECONDS)
    readings.loc[20, "quality"] = "inconsistent"
    total = trace.sum_meters({"system": readings}, {"system": INFO})
    assert "inconsistent" in set(total["quality"])
