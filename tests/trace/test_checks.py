from dataclasses import replace

import numpy as np
import pytest
from traces import INFO, sampled

from fsgreen import trace
from fsgreen.errors import FsgreenError
from fsgreen.trace import checks
from fsgreen.trace.powerfile import Piece


def sound():
    return sampled(lambda t: 100 + 0 * t, np.arange(0.0, 61.0))


def rules(readings, **options):
    return {flaw.rule for flaw in trace.check_trace(readings, 10, 50, 1.0, **options)}


def test_sound_trace_has_no_flaw():
    assert trace.check_trace(sound(), 10, 50, 1.0) == []


def test_arrival_jitter_of_a_tenth_of_a_second_is_sound():
    jitter_s = np.random.default_rng(1).uniform(0, 0.1, 61)
    assert rules(sound().assign(time_s=np.arange(61.0) + jitter_s)) == set()


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("duplicate time", lambda r: r.assign(time_s=r["time_s"].replace(20.0, 21.0))),
        ("time goes back", lambda r: r.assign(time_s=r["time_s"].replace(20.0, 21.5))),
        ("one reading lost", lambda r: r[r["time_s"] != 20]),
        ("half the rate", lambda r: r[r["time_s"] % 2 == 0]),
        ("a third too slow", lambda r: r.assign(time_s=r["time_s"] * 1.3)),
        ("a third too fast", lambda r: r.assign(time_s=r["time_s"] * 0.7 + 9)),
        ("twice the rate", lambda r: r.assign(time_s=r["time_s"] / 2 + 10)),
        ("begins late", lambda r: r[r["time_s"] >= 11]),
        ("ends early", lambda r: r[r["time_s"] <= 49]),
        ("no readings", lambda r: r[:0]),
        ("a time is missing", lambda r: r.assign(time_s=r["time_s"].mask(r["time_s"] == 20))),
    ],
)
def test_timing_flaw_breaks_rule_13(name, spoil):
    assert rules(spoil(sound())) == {13}, name


@pytest.mark.parametrize("rate_hz", [0.2, 1.0, 10.0])
@pytest.mark.parametrize("by", [-8.4, -7.7, -4.7, -1.7, -0.9, -0.5, -0.3, 0.3, 0.5, 1.7])
@pytest.mark.parametrize("at", [12.126, 12.8, 39.3, 39.999])
def test_step_of_the_clock_near_an_edge_breaks_rule_13(rate_hz, by, at, monkeypatch):
    """In intervals. No parser marks these readings: their times alone must tell.

    So they must where the trace is judged in blocks, of which one ends near the step.
    """
    monkeypatch.setattr(checks, "HELD", checks.TAIL)
    for first in np.arange(0.0, 1.0, 0.1):
        ends = np.arange(70) + first
        readings = sampled(lambda t: 100 + 0 * t, (ends + by * (ends > at)) / rate_hz)
        span = 12.125 / rate_hz, (40 + by) / rate_hz
        flaws = trace.check_trace(readings, *span, rate_hz)
        assert 13 in {flaw.rule for flaw in flaws}, first
        for cut in (40, 42) if rate_hz == 1 else ():
            in_blocks, whole = checks.SpanChecks(*span, INFO), Piece.of(readings)
            for begin, end in ((0, cut), (cut, len(ends))):
                in_blocks.feed(whole.part(begin, end), None)
            assert 13 in {flaw.rule for flaw in in_blocks.flaws()}, (first, cut)


@pytest.mark.parametrize("value", [-1.0, -2.0, np.nan, np.inf, 0.0])
def test_sentinel_breaks_rule_14(value):
    readings = sound()
    readings.loc[20, "power_w"] = value
    assert rules(readings) == {14}


@pytest.mark.parametrize("flag", ["missing", "over-range", "bad-number", "cut", "retimed|missing"])
def test_flagged_reading_breaks_rule_14(flag):
    readings = sound()
    readings.loc[20, "quality"] = flag
    assert rules(readings) == {14}


@pytest.mark.parametrize("flag", ["power-cycled", "inconsistent"])
def test_flag_of_identity_breaks_rule_21(flag):
    readings = sound()
    readings.loc[20, "quality"] = flag
    assert rules(readings) == {21}


def test_counter_reset_breaks_rule_21():
    readings = sound()
    readings.loc[20:, "energy_wh"] = 0.0
    assert rules(readings) == {21}


@pytest.mark.parametrize("flag", ["lost", "out-of-order"])
def test_flag_of_time_breaks_rule_13(flag):
    readings = sound()
    readings.loc[20, "quality"] = flag
    assert rules(readings) == {13}


def names(readings, **options):
    return {flaw.name for flaw in trace.check_trace(readings, 10, 50, 1.0, **options)}


def moved(of, by_s):
    """The trace with some of its times moved."""
    readings = sound()
    return readings.assign(time_s=readings["time_s"] + np.where(of(readings["time_s"]), by_s, 0.0))


@pytest.mark.parametrize(
    ("name", "readings"),
    [
        ("duplicate", moved(lambda t: t == 20, 1.0)),
        ("out-of-order", moved(lambda t: t == 20, 1.5)),
        ("clock-step", moved(lambda t: t > 30, -5.5)),
        ("clock-step", moved(lambda t: t > 30, 0.4)),
        ("clock-step", moved(lambda t: t > 30, -0.4)),
        ("gap", moved(lambda t: t > 30, 5.0)),
        ("gap", sound().drop(index=30)),
        ("interval-doubling", sound()[sound()["time_s"] % 2 == 0]),
        ("interval-doubling", sound()[(sound()["time_s"] < 40) | (sound()["time_s"] % 2 == 0)]),
        ("interval-doubling", sound()[(sound()["time_s"] < 30) | (sound()["time_s"] % 4 == 0)]),
        ("jitter", moved(lambda t: t % 2 == 0, 0.4)),
        ("coverage", sound()[sound()["time_s"] > 11]),
        ("too-few", sound()[:0]),
        ("no-time", sound().assign(time_s=sound()["time_s"].mask(sound()["time_s"] == 20))),
    ],
)
def test_flaw_of_time_has_its_name(name, readings):
    assert name in names(readings)


@pytest.mark.parametrize("late_s", [0.3, 0.45])
def test_one_late_arrival_is_no_step_of_the_clock(late_s):
    assert names(moved(lambda t: t == 30, late_s)) == set()


@pytest.mark.parametrize("pace", [0.9, 1.1, 1.15])
def test_pace_of_the_meters_own_is_no_step_of_the_clock(pace):
    wide = sampled(lambda t: 100 + 0 * t, np.arange(0.0, 90.0))
    paced = wide.assign(time_s=wide["time_s"] * pace, energy_wh=wide["energy_wh"] * pace)
    assert names(paced) == set()


def test_step_of_the_clock_outside_the_phase_does_not_matter():
    assert names(moved(lambda t: t > 55, 0.4)) == set()


@pytest.mark.parametrize(
    ("name", "power_w"),
    [
        ("sentinel", -1.0),
        ("sentinel", -2.0),
        ("over-range", 9.9e37),
        ("over-range", 9.91e37),
        ("over-range", 6553.5),
        ("no-value", np.inf),
        ("no-value", np.nan),
        ("zero", 0.0),
    ],
)
def test_sentinel_has_its_name(name, power_w):
    readings = sound()
    readings.loc[20, "power_w"] = power_w
    assert name in names(readings, info=INFO)


@pytest.mark.parametrize("column", ["voltage_v", "current_a", "energy_wh"])
def test_sentinel_in_another_column_is_seen(column):
    readings = sound()
    readings.loc[20, column] = 9.9e37
    assert "over-range" in names(readings)


def test_power_too_small_for_the_meters_steps_is_underflow():
    small = sampled(lambda t: 2.0 + 0 * t, np.arange(0.0, 61.0))
    assert names(small, info=INFO) == {"underflow"}
    assert names(small) == set()
    assert names(small, info=INFO, under_load=False) == set()
    assert names(small, info=replace(INFO, resolution_w=0.01)) == set()


def test_fine_meter_that_never_moves_is_stuck():
    fine = replace(INFO, resolution_w=0.001)
    mute = sound().assign(energy_wh=np.nan)
    assert names(mute, info=fine) == {"stuck"}
    assert names(mute, info=INFO) == set()
    assert names(mute, info=replace(fine, boundary="modelled")) == set()
    noisy = mute.assign(power_w=100 + np.random.default_rng(1).normal(0, 0.01, 61).round(3))
    assert names(noisy, info=fine) == set()


def test_trace_with_times_and_power_alone_can_be_checked():
    assert names(sound()[["time_s", "power_w"]]) == set()


@pytest.mark.parametrize("flag", ["retimed", "wrapped", "stale", "retimed|wrapped"])
def test_remark_is_no_flaw(flag):
    readings = sound()
    readings.loc[20, "quality"] = flag
    assert rules(readings) == set()


def test_zero_watts_is_sound_where_nothing_may_run():
    asleep = sampled(lambda t: 0 * t, np.arange(0.0, 61.0))
    assert rules(asleep, under_load=False) == set()
    assert rules(asleep) == {14}


def test_flaws_outside_the_phase_do_not_matter():
    readings = sound()
    readings.loc[[2, 58], "power_w"] = -1.0
    assert rules(readings) == set()


def test_same_meter_is_the_same():
    assert trace.identity_flaws(INFO, replace(INFO)) == []


@pytest.mark.parametrize(
    "change", [{"serial": "2"}, {"range_w": 3000.0}, {"power_cycles": 4}, {"boundary": "modelled"}]
)
def test_changed_meter_breaks_rule_21(change):
    (flaw,) = trace.identity_flaws(INFO, replace(INFO, **change))
    assert flaw.rule == 21
    assert next(iter(change)) in flaw.detail


def test_meter_survives_its_record_and_a_foreign_record_is_refused():
    as_json = INFO.__dict__ | {"covers": ["server"]}
    assert trace.MeterInfo.from_dict(as_json) == INFO
    with pytest.raises(FsgreenError, match="not one of ours"):
        trace.MeterInfo.from_dict({"driver": "wattsup"})
    with pytest.raises(FsgreenError, match="not one of ours"):
        trace.MeterInfo.from_dict(as_json | {"colour": "yellow"})
