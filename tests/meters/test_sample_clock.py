import numpy as np
import pytest

from fsgreen.meters.common.timing import MAX_SLEW, SampleClock

RATE_HZ = 10000.0


def run(seconds, drift_ppm=0.0, late_s=lambda nth: 0.0, per_s=10):
    """Times of the samples that a drifting meter sends in chunks, and when they were taken."""
    clock = SampleClock(1 / RATE_HZ, 1.0)
    size = round(RATE_HZ / per_s)
    told, taken = [], []
    for nth in range(seconds * per_s):
        numbers = np.arange(nth * size, (nth + 1) * size)
        true_s = 500 + (numbers + 1) / (RATE_HZ * (1 + drift_ppm * 1e-6))
        told.append(clock.times_s(numbers, float(true_s[-1]) + late_s(nth)))
        taken.append(true_s)
    return np.concatenate(told), np.concatenate(taken), clock


@pytest.mark.parametrize("drift_ppm", [-100, 0, 100])
def test_drift_is_followed_to_within_half_a_sample(drift_ppm):
    told, taken, _ = run(60, drift_ppm)
    settled = slice(30 * round(RATE_HZ), None)
    assert abs(told - taken)[settled].max() < 0.5 / RATE_HZ


def test_times_are_even_however_uneven_the_arrivals():
    rng = np.random.default_rng(1)
    delays_s = rng.exponential(0.004, 10_000)
    told, taken, _ = run(60, 50, lambda nth: delays_s[nth])
    steps = np.diff(told) * RATE_HZ
    assert abs(steps - 1).max() < 1.01 * MAX_SLEW
    settled = slice(30 * round(RATE_HZ), None)
    assert abs(told - taken)[settled].max() < 0.002


def test_late_start_is_taken_back_without_a_step():
    told, taken, _ = run(60, 0, lambda nth: 0.01 if nth == 0 else 0.0)
    assert told[0] - taken[0] == pytest.approx(0.01)
    assert abs(told[-1] - taken[-1]) < 1e-4
    assert np.diff(told).min() > 0


def test_lateness_that_stays_is_told_and_one_that_passes_is_not():
    *_, passing = run(5, 0, lambda nth: 0.05 if 20 <= nth < 29 else 0.0)
    assert passing.late_s < 1e-3
    *_, staying = run(5, 0, lambda nth: 0.05 if nth >= 20 else 0.0)
    assert staying.late_s > 0.04
    staying.forget()
    assert staying.late_s == 0


def test_times_without_an_arrival_go_on():
    clock = SampleClock(1 / RATE_HZ, 1.0)
    first = clock.times_s(np.arange(10), 3.0)
    more = clock.times_s(np.arange(10, 20), None)
    assert np.diff(np.concatenate((first, more))) == pytest.approx(1 / RATE_HZ)
