"""A clock fitted wrongly would move every energy, so each fit is held against the truth."""

import numpy as np
import pandas as pd
import pytest
from traces import INFO, sampled, whole_budget, whole_energy_j

from fsgreen import trace
from fsgreen.errors import FsgreenError
from fsgreen.trace import clock

IDLE_W, BURN_W = 100.0, 60.0
ORIGIN_S = 5000.0


def campaign(
    rate_hz, offset_s, drift_ppm, *, chip_s, length_s, noise_w=1.0, load_w=0.0, seeds=(1, 2), draw=0
):
    """The trace on the meter's clock of a campaign with pulses at its ends, and its patterns.

    A reading is the mean of its interval; background load comes and goes at random in between.
    """
    rng = np.random.default_rng(draw)
    first = trace.pulse_edges(ORIGIN_S, trace.pulse_runs(seeds[0], chip_s))
    last = trace.pulse_edges(ORIGIN_S + length_s, trace.pulse_runs(seeds[1], chip_s))
    host_s = np.arange(ORIGIN_S - 70, last[-1] + 70, 1 / rate_hz) + rng.uniform(0, 1 / rate_hz)
    share = sum(trace.expected_share(edges, host_s) for edges in (first, last))
    others = np.sort(rng.uniform(host_s[0], host_s[-1], 2 * int(length_s / 20)))
    load = trace.expected_share(others, host_s) if load_w else 0.0
    power_w = IDLE_W + BURN_W * share + load_w * load + rng.normal(0, noise_w, len(share))
    meter_s = host_s[1:] + offset_s + 1e-6 * drift_ppm * (host_s[1:] - ORIGIN_S)
    return pd.DataFrame({"time_s": meter_s, "power_w": power_w}), (first, last)


RATES = [  # readings a second, chip, campaign
    pytest.param(1.0, 4.0, 3600.0, id="1 Hz"),
    pytest.param(10.0, 1.0, 600.0, id="10 Hz"),
    pytest.param(10_000.0, 0.5, 60.0, id="10 kHz"),
]


@pytest.mark.parametrize(("rate_hz", "chip_s", "length_s"), RATES)
@pytest.mark.parametrize("offset_s", [-30.0, 30.0])
@pytest.mark.parametrize("drift_ppm", [-100.0, 100.0])
def test_offset_and_drift_are_recovered_to_within_half_a_sample(
    rate_hz, chip_s, length_s, offset_s, drift_ppm
):
    readings, patterns = campaign(
        rate_hz, offset_s, drift_ppm, chip_s=chip_s, length_s=length_s, noise_w=3.0, load_w=20.0
    )
    fit = trace.fit_clock(readings, patterns)
    for host_s in (ORIGIN_S, ORIGIN_S + length_s / 2, patterns[1][-1]):
        true_s = host_s + offset_s + 1e-6 * drift_ppm * (host_s - ORIGIN_S)
        assert abs(fit.meter_s(np.array(host_s)) - true_s) < 0.5 / rate_hz
    assert fit.host_s(fit.meter_s(np.array(ORIGIN_S + 1))) == pytest.approx(ORIGIN_S + 1, abs=1e-9)
    assert fit.correlation > 0.8


def test_error_that_the_fit_states_covers_the_truth_nineteen_times_in_twenty(monkeypatch):
    monkeypatch.setattr(clock, "SEARCH_S", 10.0)  # for the time that 200 searches take
    inside = np.zeros(3, int)
    for draw in range(200):
        readings, patterns = campaign(
            10.0, 3.3, 50.0, chip_s=1.0, length_s=200.0, noise_w=5.0, draw=draw
        )
        fit = trace.fit_clock(readings, patterns)
        ends_s = np.array([ORIGIN_S, patterns[1][-1]])
        true_s = ends_s + 3.3 + 5e-5 * (ends_s - ORIGIN_S)
        inside[:2] += np.abs(fit.meter_s(ends_s) - true_s) <= fit.offset_error_s
        inside[2] += abs(fit.drift_ppm - 50) <= fit.drift_error_ppm
    assert (inside >= 181).all(), inside  # 95 % of 200, less three standard deviations


def test_trace_on_the_hosts_clock_has_the_energy_of_the_phase():
    readings, patterns = campaign(1.0, 30.0, 100.0, chip_s=4.0, length_s=3600.0, noise_w=0.0)
    middle_s = ORIGIN_S + 1800
    step = BURN_W * (
        (readings["time_s"] > middle_s + 30.18) & (readings["time_s"] < middle_s + 630.24)
    )
    readings["power_w"] += step
    fit = trace.fit_clock(readings, patterns)
    there = trace.to_host(readings, fit)
    budget = whole_budget(there, middle_s, middle_s + 600, INFO, fit)
    moved_j = whole_energy_j(there, middle_s, middle_s + 600) - 600 * (IDLE_W + BURN_W)
    assert abs(moved_j) <= np.hypot(budget.edges_j, budget.clock_j)
    assert list(there.columns) == list(readings.columns)


def flat(rate_hz=1.0, length_s=900.0, seed=0):
    rng = np.random.default_rng(seed)
    return sampled(
        lambda t: 100 + rng.normal(0, 2, len(t)), np.arange(4900.0, 4900 + length_s, 1 / rate_hz)
    )


PATTERNS = tuple(
    trace.pulse_edges(start_s, trace.pulse_runs(seed, 4.0))
    for seed, start_s in ((1, 5000), (2, 5500))
)


@pytest.mark.parametrize("seed", range(5))
def test_trace_without_pulses_is_refused(seed):
    with pytest.raises(FsgreenError, match="no pulses"):
        trace.fit_clock(flat(seed=seed), PATTERNS)


def test_dead_meter_is_refused():
    with pytest.raises(FsgreenError, match="no pulses"):
        trace.fit_clock(flat().assign(power_w=100.0), PATTERNS)


def test_pulses_of_another_pattern_are_refused():
    readings, _ = campaign(1.0, 5.0, 0.0, chip_s=4.0, length_s=500.0, seeds=(3, 4))
    with pytest.raises(FsgreenError, match=r"no pulses|about as well|can be located"):
        trace.fit_clock(readings, PATTERNS)


def test_pattern_that_occurs_twice_is_refused():
    readings, (first, last) = campaign(1.0, 0.0, 0.0, chip_s=1.0, length_s=600.0)
    again = np.array(first) + 40
    readings.loc[1:, "power_w"] += BURN_W * trace.expected_share(again, readings["time_s"])
    with pytest.raises(FsgreenError, match="about as well"):
        trace.fit_clock(readings, (first, last))


def test_periodic_pulses_are_refused():
    """On and off in equal turns fits at every other turn: which is why the pattern is no comb."""
    combs = [tuple(start_s + 5.0 * np.arange(20)) for start_s in (5000.0, 5600.0)]
    time_s = np.arange(4900.0, 5900.0)
    share = sum(trace.expected_share(comb, time_s) for comb in combs)
    readings = pd.DataFrame({"time_s": time_s[1:], "power_w": 100 + BURN_W * share})
    with pytest.raises(FsgreenError, match="about as well"):
        trace.fit_clock(readings, combs)


def test_step_of_the_clock_between_the_pulses_is_no_drift():
    readings, patterns = campaign(1.0, 0.0, 0.0, chip_s=4.0, length_s=600.0)
    readings["time_s"] += 5.0 * (readings["time_s"] > ORIGIN_S + 300)
    with pytest.raises(FsgreenError, match="would drift"):
        trace.fit_clock(readings, patterns)


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (PATTERNS[:1], "two patterns"),
        ((PATTERNS[0], PATTERNS[1][:-1]), "pairs of rising"),
        ((PATTERNS[0], PATTERNS[1][::-1]), "pairs of rising"),
        ((PATTERNS[0], tuple(np.array(PATTERNS[1]) + 1000)), "ends before the pulses"),
    ],
)
def test_pulses_that_cannot_be_are_refused(patterns, message):
    readings, _ = campaign(1.0, 0.0, 0.0, chip_s=4.0, length_s=500.0)
    with pytest.raises(FsgreenError, match=message):
        trace.fit_clock(readings, patterns)


def test_edges_beside_readings_without_a_value_are_left_out():
    readings, patterns = campaign(1.0, 0.0, 0.0, chip_s=4.0, length_s=500.0)
    whole = trace.fit_clock(readings, patterns)
    beside = readings["time_s"].between(patterns[0][1] - 2, patterns[0][1] + 2)
    readings.loc[beside | (readings["time_s"] > patterns[1][-1] + 20), "power_w"] = np.nan
    fit = trace.fit_clock(readings, patterns)
    assert fit.edges_count < whole.edges_count
    assert abs(fit.offset_s) < 0.5
    with pytest.raises(FsgreenError, match="no power"):
        trace.fit_clock(readings.assign(power_w=np.nan), patterns)


def test_noiseless_trace_is_fitted_exactly():
    readings, patterns = campaign(10.0, 2.5, 40.0, chip_s=1.0, length_s=300.0, noise_w=0.0)
    fit = trace.fit_clock(readings, patterns)
    assert fit.offset_s == pytest.approx(2.5, abs=1e-6)
    assert fit.drift_ppm == pytest.approx(40, abs=0.01)


def test_too_few_readings_for_the_edges_are_refused():
    readings, patterns = campaign(1.0, 0.0, 0.0, chip_s=0.7, length_s=500.0, noise_w=0.0)
    with pytest.raises(FsgreenError, match="can be located"):
        trace.fit_clock(readings, patterns)


@pytest.mark.parametrize("seed", range(60))
def test_every_pattern_is_sharp(seed):
    """Shifted by a chip or more, a pattern must not look like itself."""
    runs = trace.pulse_runs(seed)
    assert len(runs) % 2 == 1
    assert {float(run).is_integer() and 1 <= run <= 5 for run in runs} == {True}
    edges = np.array(trace.pulse_edges(0.0, runs))
    grid = np.arange(-40.0, 80.0)
    share = trace.expected_share(edges, grid)
    alike = [
        np.corrcoef(share, trace.expected_share(edges + shift, grid))[0, 1]
        for shift in range(1, 31)
    ]
    assert max(alike) < 0.5


def test_same_seed_gives_the_same_pattern_and_others_another():
    assert trace.pulse_runs(7, 2.0) == trace.pulse_runs(7, 2.0)
    assert len({trace.pulse_runs(seed) for seed in range(2000)}) == 96


def set_clock(length_s, step_s, *, gap, middle=(), draw=0, noise_w=1.0):
    """A campaign whose meter's clock is put ahead after a third of it, and its patterns."""
    rng = np.random.default_rng(draw)
    starts_s = [0.0, *middle, length_s]
    patterns = [
        trace.pulse_edges(ORIGIN_S + at_s, trace.pulse_runs(seed, 4.0))
        for seed, at_s in enumerate(starts_s, 1)
    ]
    host_s = np.arange(ORIGIN_S - 70, patterns[-1][-1] + 70) + rng.uniform()
    share = sum(trace.expected_share(edges, host_s) for edges in patterns)
    power_w = IDLE_W + BURN_W * share + rng.normal(0, noise_w, len(share))
    time_s = host_s[1:]
    ahead_s = np.interp(time_s, ORIGIN_S + length_s * np.array([0.3, 0.7]), [0.0, step_s])
    if gap:
        ahead_s = step_s * (time_s > ORIGIN_S + length_s / 3)
    return pd.DataFrame({"time_s": time_s + ahead_s, "power_w": power_w}), patterns


@pytest.mark.parametrize("gap", [True, False])
@pytest.mark.parametrize(("length_s", "step_s"), [(3300.0, 3.0), (43_200.0, 30.0)])
@pytest.mark.parametrize("draw", range(3))
def test_a_clock_that_was_set_is_not_taken_for_drift(length_s, step_s, gap, draw):
    """A phase in between was cut 1 to 20 s beside its place, and nothing said so."""
    readings, patterns = set_clock(length_s, step_s, gap=gap, draw=draw)
    with pytest.raises(FsgreenError, match="set between the pulses") as caught:
        trace.fit_clock(readings, patterns)
    assert "in the middle" in caught.value.next_step


def test_a_drift_that_is_allowed_must_show_within_each_pattern():
    readings, patterns = set_clock(3300.0, 3.0, gap=True, noise_w=0.2)
    with pytest.raises(FsgreenError, match="pulses of one pattern drift by"):
        trace.fit_clock(readings, patterns, max_drift_ppm=2000)
    drifting, ends = campaign(1.0, 0.0, 909.0, chip_s=4.0, length_s=3300.0)
    assert trace.fit_clock(drifting, ends, max_drift_ppm=2000).drift_ppm == pytest.approx(
        909, abs=9
    )


def test_a_gap_that_may_be_a_clock_that_was_set_is_in_the_errors():
    """2 s in 12 h may be drift (46 ppm), or a clock that was set by 2 s where readings lack."""
    plain, patterns = set_clock(43_200.0, 2.0, gap=False)
    suspect, _ = set_clock(43_200.0, 2.0, gap=True)
    drifted, stepped = (trace.fit_clock(each, patterns) for each in (plain, suspect))
    assert drifted.offset_error_s < 0.1
    middle_s = np.array(ORIGIN_S + 20_000)
    assert abs(stepped.meter_s(middle_s) - middle_s - 2.0) <= stepped.offset_error_s < 2.5
    lost = trace.fit_clock(plain.drop(index=range(20_000, 20_030)), patterns)
    assert lost.offset_error_s < 0.1, "30 readings that lack explain nothing of 2 s"


def test_a_pattern_in_the_middle_tells_a_clock_that_was_set_from_drift():
    readings, patterns = set_clock(43_200.0, 5.0, gap=False, middle=[21_600.0])
    with_step, _ = set_clock(43_200.0, 5.0, gap=True, middle=[21_600.0])
    assert trace.fit_clock(readings, patterns).offset_error_s < 0.2
    with pytest.raises(FsgreenError, match="off the line through all"):
        trace.fit_clock(with_step, patterns)
