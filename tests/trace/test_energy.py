import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from traces import sampled, whole_counter_energy_j, whole_energy_j

from fsgreen.errors import FsgreenError

SECONDS = np.arange(0.0, 61.0)


def test_constant_power_gives_power_times_time():
    readings = sampled(lambda t: 100 + 0 * t, SECONDS)
    assert whole_energy_j(readings, 3.25, 47.5) == pytest.approx(100 * 44.25, rel=1e-12)


def test_ramp_is_exact_between_readings():
    readings = sampled(lambda t: 10 * t, SECONDS)
    assert whole_energy_j(readings, 0.3, 7.7) == pytest.approx(5 * (7.7**2 - 0.3**2), rel=1e-12)


def test_step_errs_by_no_more_than_half_a_sample():
    readings = sampled(lambda t: np.where(t <= 30, 100.0, 200.0), SECONDS)
    assert whole_energy_j(readings, 10, 50) == pytest.approx(2000 + 4000, abs=50.0 + 1e-9)


def test_sine_converges_with_the_square_of_the_interval():
    def power_w(t):
        return 100 + 50 * np.sin(t / 5)

    exact = 100 * 40 + 250 * (np.cos(10 / 5) - np.cos(50 / 5))
    errors = [
        abs(whole_energy_j(sampled(power_w, np.arange(0, 60 + h, h)), 10, 50) - exact)
        for h in (1.0, 0.5)
    ]
    assert errors[0] < 2.0
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05)


def test_counter_is_reported_beside_and_its_absence_is_not_zero():
    readings = sampled(lambda t: 100 + 0 * t, SECONDS)
    assert whole_counter_energy_j(readings, 10, 50) == pytest.approx(4000)
    readings["energy_wh"] = np.nan
    assert np.isnan(whole_counter_energy_j(readings, 10, 50))


def test_counter_that_went_back_is_refused():
    readings = sampled(lambda t: 100 + 0 * t, SECONDS)
    readings.loc[30:, "energy_wh"] = 0.0
    with pytest.raises(FsgreenError, match="went back"):
        whole_counter_energy_j(readings, 10, 50)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda r: r.drop(columns="power_w"), "no column power_w"),
        (lambda r: r.iloc[::-1], "rising times"),
        (lambda r: r.iloc[:1], "two readings"),
        (lambda r: r.assign(power_w=r["power_w"].mask(r["time_s"] == 20)), "without a value"),
        (lambda r: r[r["time_s"] > 15], "outside the trace"),
        (lambda r: r.assign(meter=["a", "b"] * 30 + ["a"]), "several meters"),
    ],
)
def test_energy_of_an_unfit_trace_is_refused(spoil, message):
    readings = spoil(sampled(lambda t: 100 + 0 * t, SECONDS))
    with pytest.raises(FsgreenError, match=message):
        whole_energy_j(readings, 10, 50)


def test_span_without_length_is_refused():
    with pytest.raises(FsgreenError, match="no length"):
        whole_energy_j(sampled(lambda t: t, SECONDS), 20, 20)


powers = hnp.arrays(float, st.integers(12, 40), elements=st.floats(1, 1000))
cut = st.floats(0.05, 0.95)


@settings(max_examples=50)
@given(powers, cut, cut)
def test_energy_is_additive_over_adjacent_phases(power_w, one, two):
    time_s = np.arange(float(len(power_w)))
    readings = sampled(lambda _: power_w, time_s)
    middle_s = one * time_s[-1]
    end_s = middle_s + two * (time_s[-1] - middle_s)
    whole = whole_energy_j(readings, 0.0, end_s)
    parts = whole_energy_j(readings, 0.0, middle_s) + whole_energy_j(readings, middle_s, end_s)
    assert parts == pytest.approx(whole, rel=1e-9)


@settings(max_examples=50)
@given(powers, st.floats(0.01, 100), st.floats(-0.5, 500))
def test_energy_is_linear_in_power(power_w, factor, offset_w):
    time_s = np.arange(float(len(power_w)))
    end_s = time_s[-1] - 0.5
    energy = whole_energy_j(sampled(lambda _: power_w, time_s), 0.5, end_s)
    scaled = whole_energy_j(sampled(lambda _: factor * power_w + offset_w, time_s), 0.5, end_s)
    assert scaled == pytest.approx(factor * energy + offset_w * (end_s - 0.5), rel=1e-9, abs=1e-6)


@settings(max_examples=50)
@given(powers, st.floats(-1e5, 1e5))
def test_energy_does_not_depend_on_when_the_clock_began(power_w, shift_s):
    time_s = np.arange(float(len(power_w)))
    end_s = time_s[-1] - 0.7
    here = whole_energy_j(sampled(lambda _: power_w, time_s), 0.3, end_s)
    there = whole_energy_j(
        sampled(lambda _: power_w, time_s + shift_s), 0.3 + shift_s, end_s + shift_s
    )
    assert there == pytest.approx(here, rel=1e-7)
