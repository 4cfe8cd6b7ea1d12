"""Loads whose energy is known exactly, through a meter that only averages and rounds.

Gain and offset of this meter are sound, so its budget is rounding, edges and clock alone: nothing
else may hide an error of the algebra.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from traces import INFO, whole_budget, whole_counter_energy_j, whole_energy_j

from fsgreen import trace

IDEAL = replace(INFO, gain_error=0.0, constant_error_w=0.0, resolution_w=0.1)
END_S = 90.0


def metered(energy_at, first_s=0.0, rate_hz=1.0, resolution_w=0.1):
    """The readings of a load whose energy up to a time is known: means of intervals, rounded."""
    time_s = np.arange(first_s, END_S + 5, 1 / rate_hz)
    power_w = np.diff(energy_at(time_s)) * rate_hz
    return pd.DataFrame(
        {
            "time_s": time_s[1:],
            "power_w": np.round(power_w / resolution_w) * resolution_w,
            "energy_wh": (energy_at(time_s[1:]) - energy_at(time_s[:1])) / 3600,
            "quality": "ok",
        }
    )


def constant(base_w):
    return lambda t: base_w * t


def ramp(base_w, slope):
    return lambda t: base_w * t + slope * t**2 / 2


def step(base_w, height_w, at_s):
    return lambda t: base_w * t + height_w * np.clip(t - at_s, 0, None)


def sine(base_w, height_w, period_s):
    turn = 2 * np.pi / period_s
    return lambda t: base_w * t - height_w / turn * np.cos(turn * t)


def decay(base_w, height_w, at_s, half_life_s):
    """Idle, then a peak that decays: the load begins at the phase's start."""
    constant_s = half_life_s / np.log(2)
    return lambda t: (
        base_w * t + height_w * constant_s * (1 - np.exp(-np.clip(t - at_s, 0, None) / constant_s))
    )


def burst(base_w, height_w, at_s, length_s):
    return lambda t: base_w * t + height_w * np.clip(t - at_s, 0, length_s)


fraction = st.floats(0.0, 1.0)
base = st.floats(5.0, 300.0)
height = st.floats(1.0, 300.0)


def errs_within(energy_at, start_s, end_s, first_s):
    readings = metered(energy_at, first_s)
    budget = whole_budget(readings, start_s, end_s, IDEAL)
    assert budget.gain_j == budget.constant_j == 0.0
    exact_j = float(energy_at(end_s) - energy_at(start_s))
    error_j = abs(whole_energy_j(readings, start_s, end_s) - exact_j)
    assert error_j <= budget.quantisation_j + budget.edges_j + 1e-6
    return error_j, budget


@settings(max_examples=40)
@given(base, fraction, fraction, fraction)
@example(5.95, 0.0, 0.0, 0.0)
@example(5.95, 0.5, 0.3, 0.7)
def test_constant(base_w, start, end, first):
    """Halfway between two counts, the last bit of an energy decides to which a reading is rounded.

    The readings then differ by a count, and nobody can tell that from a step of the load.
    """
    _, budget = errs_within(constant(base_w), 10 + start, 60 + end, first - 1)
    if metered(constant(base_w), first - 1)["power_w"].nunique() == 1:
        assert budget.edges_j == pytest.approx(0, abs=1e-9)
    else:
        assert base_w / IDEAL.resolution_w % 1 == pytest.approx(0.5, abs=1e-6)


@settings(max_examples=40)
@given(base, st.floats(0.1, 5.0), fraction, fraction, fraction)
def test_ramp(base_w, slope, start, end, first):
    """Readings lag by half an interval: over a ramp the error grows with its whole height."""
    errs_within(ramp(base_w, slope), 10 + start, 60 + end, first - 1)


@settings(max_examples=60)
@given(base, height, st.booleans(), fraction, fraction, fraction, fraction)
def test_step_at_and_near_an_edge(base_w, height_w, at_start, start, end, first, off):
    start_s, end_s = 10 + start, 60 + end
    at_s = (start_s if at_start else end_s) + (off - 0.5) * 0.02
    errs_within(step(base_w, height_w, at_s), start_s, end_s, first - 1)


@settings(max_examples=40)
@given(base, height, fraction, fraction, st.floats(12.0, 58.0))
def test_step_inside_a_phase_costs_what_its_lag_does(base_w, height_w, start, first, at_s):
    errs_within(step(base_w, height_w, at_s), 10 + start, 60, first - 1)


@settings(max_examples=40)
@given(base, height, fraction, fraction, fraction)
def test_load_that_fills_the_phase(base_w, height_w, start, end, first):
    start_s, end_s = 10 + start, 60 + end
    errs_within(burst(base_w, height_w, start_s, end_s - start_s), start_s, end_s, first - 1)


@settings(max_examples=40)
@given(height, st.floats(20.0, 200.0), fraction, fraction, fraction)
def test_sine(height_w, period_s, start, end, first):
    errs_within(sine(310.0, height_w, period_s), 10 + start, 60 + end, first - 1)


@settings(max_examples=40)
@given(base, height, st.floats(3.0, 60.0), fraction, fraction)
def test_exponential_decay(base_w, height_w, half_life_s, start, first):
    start_s = 10 + start
    errs_within(decay(base_w, height_w, start_s, half_life_s), start_s, 60, first - 1)


@settings(max_examples=60)
@given(base, height, st.one_of(st.integers(8, 13), st.integers(58, 63)), st.data())
def test_burst_inside_one_interval(base_w, height_w, nth, data):
    """The readings do not say where in its interval a burst was; at an edge that is all of it."""
    begin, end = sorted((data.draw(fraction), data.draw(fraction)))
    start_s, end_s, first = 10 + data.draw(fraction), 60 + data.draw(fraction), data.draw(fraction)
    load = burst(base_w, height_w, nth + first - 1 + begin, end - begin)
    errs_within(load, start_s, end_s, first - 1)


def test_burst_in_the_middle_is_whole():
    error_j, budget = errs_within(burst(100.0, 500.0, 30.2, 0.5), 10, 60, -0.5)
    assert error_j < 1e-6
    assert budget.edges_j == 0.0


def test_rounding_is_the_whole_error_of_a_steady_load_between_two_steps():
    error_j, budget = errs_within(constant(100.0499), 10, 60, 0.0)
    assert error_j == pytest.approx(budget.quantisation_j, rel=0.01)


def test_counter_knows_the_energy_of_whole_intervals():
    energy_at = sine(200.0, 50.0, 40.0)
    readings = metered(energy_at)
    assert whole_counter_energy_j(readings, 10, 60) == pytest.approx(
        float(energy_at(60.0) - energy_at(10.0)), rel=1e-9
    )


@pytest.mark.parametrize(
    "limits",
    [(0, 0, 1, 1, 0), (0, 0, 1, 1, 1), (1, 0, 1, 1, 1), (1, 1, 0, 0, 0), (10, 3, 5, 8, 4)],
)
def test_combined_limit_covers_nine_energies_in_ten(limits):
    """Monte-Carlo (JCGM 101): each term anywhere between its limits, gain and constant as one."""
    draw = np.random.default_rng(1).uniform(-1, 1, (5, 100_000))
    draw[1] = draw[0]
    inside = np.abs(np.array(limits) @ draw) <= trace.ErrorBudget(*limits).total_j * (1 + 1e-12)
    assert inside.mean() > 0.91


def test_energy_of_a_metered_load_is_covered_by_the_whole_budget():
    """Monte-Carlo: a meter with any gain and offset inside its limits, on a random load."""
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(300):
        levels_w = rng.uniform(60, 250, 6)
        at_s = np.sort(rng.uniform(5, 85, 5))

        def energy_at(t, levels_w=levels_w, at_s=at_s):
            return levels_w[0] * t + sum(
                (now_w - before_w) * np.clip(t - moment_s, 0, None)
                for before_w, now_w, moment_s in zip(levels_w, levels_w[1:], at_s, strict=False)
            )

        gain, offset_w = 1 + 0.015 * rng.uniform(-1, 1), 0.3 * rng.uniform(-1, 1)
        readings = metered(lambda t, g=gain, o=offset_w, e=energy_at: g * e(t) + o * t)
        start_s, end_s = rng.uniform(2, 10), rng.uniform(60, 85)
        exact_j = float(energy_at(end_s) - energy_at(start_s))
        error_j = whole_energy_j(readings, start_s, end_s) - exact_j
        inside += abs(error_j) <= whole_budget(readings, start_s, end_s, INFO).total_j
    assert inside >= 0.91 * 300


@pytest.mark.parametrize("off_s", [-0.3, 0.3])
@pytest.mark.parametrize("drift_ppm", [-500.0, 500.0])
def test_clock_term_covers_what_the_clock_error_does(off_s, drift_ppm):
    """A trace whose clock is off by as much as its fit says, with steps at both edges."""
    load = burst(100.0, 80.0, 20.0, 40.0)
    fit = trace.ClockFit(0.0, 0.0, 0.0, 0.01, 0.3, 500.0, 1.0, 40)
    ideal = replace(IDEAL, rate_hz=100.0, resolution_w=1e-6)
    readings = metered(load, rate_hz=100.0, resolution_w=1e-6)
    time_s = readings["time_s"]
    moved = readings.assign(time_s=time_s + off_s + 1e-6 * drift_ppm * (time_s - 20.0))
    budget = whole_budget(moved, 20, 60, ideal, fit)
    error_j = whole_energy_j(moved, 20, 60) - float(load(60.0) - load(20.0))
    assert abs(error_j) > 0.5 * 0.3 * 80
    assert abs(error_j) <= budget.clock_j + budget.edges_j + budget.quantisation_j
    assert whole_budget(moved, 20, 60, ideal).clock_j == 0.0


def test_edges_of_a_meter_that_repeats_itself_are_as_wide_as_its_own_interval():
    """IPMI answers every second with a value that is new every five."""
    load = burst(100.0, 80.0, 22.3, 40.0)
    slow = metered(load, rate_hz=0.2)
    time_s = np.arange(5.0, 90.0)
    fresh = np.searchsorted(slow["time_s"], time_s, side="right") - 1
    readings = pd.DataFrame(
        {
            "time_s": time_s,
            "power_w": slow["power_w"].to_numpy()[fresh],
            "quality": np.where(time_s % 5 == 0, "ok", "stale"),
        }
    )
    budget = whole_budget(readings, 22.3, 62.3, IDEAL)
    error_j = whole_energy_j(readings, 22.3, 62.3) - 180 * 40
    assert abs(error_j) > (1 / 2 + 4 / 27) * 80
    assert abs(error_j) <= budget.edges_j + budget.quantisation_j


def test_one_answer_that_came_twice_elsewhere_leaves_the_edges_as_they_are():
    readings = metered(burst(100.0, 80.0, 22.3, 40.0))
    before = whole_budget(readings, 22.3, 62.3, IDEAL)
    readings.loc[40, "quality"] = "stale"
    assert whole_budget(readings, 22.3, 62.3, IDEAL) == before
