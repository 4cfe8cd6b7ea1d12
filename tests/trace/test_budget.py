from dataclasses import replace

import numpy as np
import pytest
from traces import INFO, sampled, whole_budget, whole_energy_j

from fsgreen import trace

# The meters of fast10 (section 3.1): 1.5 % of the value and 0.3 Wh.
FAST10 = replace(INFO, constant_error_w=0.0, constant_error_j=0.3 * 3600)


@pytest.mark.parametrize(("duration_s", "percent"), [(60, 18.0), (600, 1.8)])
def test_constant_term_of_the_fast10_meter_at_100_w(duration_s, percent):
    readings = sampled(lambda t: 100 + 0 * t, np.arange(0.0, duration_s + 1))
    budget = whole_budget(readings, 0, duration_s, FAST10)
    energy = whole_energy_j(readings, 0, duration_s)
    assert 100 * trace.constant_edge_share(budget, energy) == pytest.approx(percent)


def test_terms_of_a_steady_minute_are_kept_apart():
    readings = sampled(lambda t: 200 + 0 * t, np.arange(0.0, 70.0))
    budget = whole_budget(readings, 5, 65, INFO)
    assert budget == trace.ErrorBudget(
        gain_j=pytest.approx(180), constant_j=pytest.approx(18), quantisation_j=3.0, edges_j=0.0
    )
    assert budget.total_j == pytest.approx((198**2 + 3**2) ** 0.5)


@pytest.mark.parametrize("offset_s", [0.0, 0.25, 0.5, 0.75])
def test_edge_term_sees_the_whole_step_wherever_the_edge_falls_between_readings(offset_s):
    """A reading averages the second before it, so the step is spread over two intervals."""
    edge_s = 20 + offset_s
    readings = sampled(lambda t: 100 + 65 * np.clip(t - edge_s, 0, 1), np.arange(0.0, 61.0))
    budget = whole_budget(readings, edge_s, 50, INFO)
    assert budget.edges_j == pytest.approx((1 / 2 + 2 / 27) * 65)


def test_lag_counts_once_and_straddling_readings_at_both_edges():
    readings = sampled(lambda t: np.where((t > 20) & (t <= 40), 165.0, 100.0), np.arange(61.0))
    # The lag takes at the start what it gives back after the end: half an interval of 65 W in all.
    assert whole_budget(readings, 20, 40, INFO).edges_j == pytest.approx((1 / 2 + 2 * 2 / 27) * 65)


def test_budgets_of_two_meters_add_term_by_term():
    one, two = trace.ErrorBudget(1, 2, 3, 4, 5), trace.ErrorBudget(10, 20, 30, 40, 50)
    assert one + two == trace.ErrorBudget(11, 22, 33, 44, 55)


def test_fast10_needed_its_ten_minutes():
    shortest_s = trace.minimum_duration_s(100, constant_error_w=0, constant_error_j=1080)
    assert shortest_s == pytest.approx(540)


def test_offset_beyond_the_share_is_never_long_enough():
    assert trace.minimum_duration_s(7, constant_error_w=0.3, edges_j=1) == float("inf")


def test_a_phase_of_minimum_duration_has_exactly_the_share():
    shortest_s = trace.minimum_duration_s(200, constant_error_w=0.3, edges_j=65)
    budget = trace.ErrorBudget(0, 0.3 * shortest_s, 0, 65)
    assert trace.constant_edge_share(budget, 200 * shortest_s) == pytest.approx(0.02)
