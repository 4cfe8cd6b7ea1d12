from dataclasses import replace

import numpy as np
import pytest
from traces import INFO, sampled

from fsgreen import trace
from fsgreen.errors import FsgreenError


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


def test_remark_is_no_flaw():
    readings = sound()
    readings.loc[20, "quality"] = "retimed"
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
