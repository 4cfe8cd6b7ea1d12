"""What a comparison may claim depends on whether one meter has measured both sides."""

from dataclasses import replace

import numpy as np
import pytest
from traces import INFO, sampled

from fsgreen import trace
from fsgreen.errors import FsgreenError


def measured(power_w, duration_s=600.0, campaign="one", **changes):
    info = replace(INFO, **changes)
    readings = sampled(lambda t: power_w + 0 * t, np.arange(0.0, duration_s + 11))
    return trace.MeasuredEnergy(
        energy_j=trace.energy_j(readings, 5, 5 + duration_s),
        duration_s=duration_s,
        budget=trace.error_budget(readings, 5, 5 + duration_s, info),
        meter=info,
        campaign=campaign,
    )


def test_gain_and_offset_cancel_between_equal_energies_of_one_meter():
    found = trace.energy_difference(measured(200), measured(200))
    assert found.difference_j == 0
    assert found.cancelled == ("gain", "constant")
    assert found.error_j == pytest.approx(np.hypot(30, 30))  # rounding of either alone
    assert found.independent_error_j == pytest.approx(np.sqrt(2) * np.hypot(1980, 30))


def test_gain_cancels_in_a_ratio_of_any_energies_and_the_offset_in_part():
    one, other = measured(300), measured(200)
    found = trace.energy_ratio(one, other)
    assert found.ratio_x == pytest.approx(1.5)
    assert found.cancelled == ("gain", "constant")
    offset_j = 0.3 * 600 * 0.5  # what 0.3 W adds to 300 W is less than its share of 200 W
    assert found.error_x * other.energy_j == pytest.approx(np.hypot(offset_j, np.hypot(30, 45)))
    assert found.error_x < found.independent_error_x / 10


@pytest.mark.parametrize(
    "changes", [{"campaign": "another"}, {"serial": "2"}, {"range_w": 600.0}, {"power_cycles": 9}]
)
def test_nothing_cancels_between_two_meters_or_campaigns(changes):
    one, other = measured(300), measured(200, **changes)
    for found in (trace.energy_difference(one, other), trace.energy_ratio(one, other)):
        assert found.cancelled == ()
    difference = trace.energy_difference(one, other)
    assert difference.error_j == difference.independent_error_j
    ratio = trace.energy_ratio(one, other)
    assert ratio.error_x == pytest.approx(ratio.independent_error_x)


def test_fixed_error_of_each_energy_does_not_cancel():
    """fast10 states 0.3 Wh for an energy, not watts for a reading: no reason to call it common."""
    fast10 = {"constant_error_w": 0.0, "constant_error_j": 1080.0}
    found = trace.energy_difference(measured(200, **fast10), measured(200, **fast10))
    assert found.cancelled == ("gain",)
    assert found.error_j == pytest.approx(np.hypot(np.hypot(1080, 1080), np.hypot(30, 30)))


def test_clock_of_one_fit_errs_in_both():
    one = measured(200)
    one = replace(one, budget=replace(one.budget, clock_j=40.0))
    assert trace.energy_difference(one, one).error_j == pytest.approx(
        np.hypot(80, np.hypot(30, 30))
    )


def test_boundaries_are_never_compared():
    one, other = measured(200), measured(200, boundary="dc-rail")
    for compare in (trace.energy_difference, trace.energy_ratio):
        with pytest.raises(FsgreenError, match="different boundaries"):
            compare(one, other)


def test_ratio_to_nothing_is_refused():
    nothing = replace(measured(200), energy_j=0.0)
    with pytest.raises(FsgreenError, match="means nothing"):
        trace.energy_ratio(measured(200), nothing)


@pytest.mark.parametrize("same_meter", [True, False])
def test_stated_errors_cover_what_a_meter_does(same_meter):
    """Monte-Carlo: gain and offset drawn once for one meter, twice for two; rounding each time."""
    rng = np.random.default_rng(3)
    one, other = measured(300), measured(200, serial="1" if same_meter else "2")
    draws = 20_000
    gain, offset = (rng.uniform(-1, 1, (2, draws)) for _ in range(2))
    if same_meter:
        gain[1], offset[1] = gain[0], offset[0]
    rounding = rng.uniform(-1, 1, (2, draws))
    read = [
        side.energy_j * (1 + 0.015 * gain[nth])
        + side.offset_j * offset[nth]
        + side.budget.quantisation_j * rounding[nth]
        for nth, side in enumerate((one, other))
    ]
    difference, ratio = trace.energy_difference(one, other), trace.energy_ratio(one, other)
    off_j = np.abs(read[0] - read[1] - difference.difference_j)
    off_x = np.abs(read[0] / read[1] - ratio.ratio_x)
    assert (off_j <= difference.error_j).mean() > 0.91
    assert (off_x <= ratio.error_x).mean() > 0.91
    if same_meter:  # and they do not claim ten times too much either
        assert off_x.max() > ratio.error_x / 3
