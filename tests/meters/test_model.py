from math import isfinite, nan

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fsgreen.meters.core.host import COLUMNS
from fsgreen.meters.core.workingtime import RESTING, WORKING
from fsgreen.meters.modelled import Components, ModelledPower, left_out, load_profile, profiles
from fsgreen.meters.modelled.activity import activity

SYSTEM, DISK = load_profile("fast10-system"), load_profile("fast10-disk")
ATLAS = Components(
    covers=("server", "disk"),
    idle_w=100.0,
    source="test",
    terms={"cpu_user_w": 10.0, "disk_seek_w": 4.0, "disk_request_j": 0.01},
)


class Samples:
    """Stands for the kernel's counters: hands out the rows of a script."""

    def __init__(self, rows):
        self.rows = [dict.fromkeys(COLUMNS, 0.0) | row for row in rows]

    def __call__(self, device_of, apart=None):
        self.device_of = device_of
        return self

    def sample(self):
        self.device_of()
        return self.rows.pop(0)


def modelled(monkeypatch, profile, rows, devices=None):
    monkeypatch.setattr(profiles, "HostSampler", Samples(rows))
    names = iter(devices or ["loop3"] * len(rows))
    power_w = ModelledPower(profile, lambda: next(names))
    return [power_w() for _ in rows]


def test_system_power_follows_the_busy_share_since_the_previous_call(monkeypatch):
    rows = [
        {},
        {"cpu_user_s": 0.5, "cpu_system_s": 0.5, "cpu_idle_s": 1.0},
        {"cpu_user_s": 2.5, "cpu_system_s": 0.5, "cpu_idle_s": 1.0},
    ]
    assert modelled(monkeypatch, SYSTEM, rows) == pytest.approx([214, 246.5, 279])


@pytest.mark.parametrize("rest", ["cpu_iowait_s", "cpu_steal_s", "cpu_idle_s"])
def test_waiting_and_stolen_time_draw_idle_power(monkeypatch, rest):
    assert modelled(monkeypatch, SYSTEM, [{}, {rest: 2.0}]) == [214, 214]


def test_disk_power_follows_the_time_with_requests(monkeypatch):
    rows = [
        {"time_s": 10.0, "disk_busy_s": 3.0},
        {"time_s": 11.0, "disk_busy_s": 3.5},
        {"time_s": 12.0, "disk_busy_s": 4.6},
    ]
    assert modelled(monkeypatch, DISK, rows) == pytest.approx([7, 14.5, 22])


def test_disk_idles_without_a_device_and_when_the_device_has_just_changed(monkeypatch):
    rows = [
        {"time_s": 1.0, "disk_busy_s": nan},
        {"time_s": 2.0, "disk_busy_s": nan},
        {"time_s": 3.0, "disk_busy_s": 50.0},
        {"time_s": 4.0, "disk_busy_s": 51.0},
        {"time_s": 5.0, "disk_busy_s": nan},
    ]
    devices = [None, None, "loop3", "loop3", "loop3"]
    assert modelled(monkeypatch, DISK, rows, devices) == pytest.approx([7, 7, 7, 22, 7])


def test_components_add_up_and_a_changed_disk_leaves_the_processors(monkeypatch):
    rows = [
        {},
        {
            "time_s": 2.0,
            "cpu_user_s": 1.0,
            "cpu_idle_s": 3.0,
            "disk_busy_s": 1.0,
            "disk_reads_count": 150.0,
            "disk_writes_count": 50.0,
        },
        {"time_s": 4.0, "cpu_user_s": 3.0, "cpu_idle_s": 5.0, "disk_busy_s": 900.0},
    ]
    assert modelled(monkeypatch, ATLAS, rows, ["sda", "sda", "sdb"]) == pytest.approx(
        [100, 100 + 5 + 2 + 1, 110]
    )


def test_counters_that_went_back_give_no_power_rather_than_a_negative_one(monkeypatch):
    rows = [
        {"disk_busy_s": 900.0, "disk_reads_count": 1e6},
        {"time_s": 1.0, "cpu_user_s": 1.0, "cpu_idle_s": 3.0},
    ]
    assert modelled(monkeypatch, ATLAS, rows) == pytest.approx([100, 110])


def test_model_that_needs_no_disk_never_asks_for_one(monkeypatch):
    def device_of():
        raise AssertionError("asked for a disk")

    monkeypatch.setattr(profiles, "HostSampler", Samples([{}, {"time_s": 1.0}]))
    cores = ATLAS.model_copy(update={"idle_w": 60.0, "terms": {}})
    power_w = ModelledPower(cores, device_of)
    assert [power_w(), power_w()] == [60, 60]


def test_what_this_kernel_does_not_tell_is_named(monkeypatch):
    model = Components(
        covers=("server",),
        idle_w=60.0,
        source="test",
        terms={"cpu_user_w": 9.0, "cpu_shallow_idle_w": 2.0},
        clock_exponent=2.0,
        clock_base_hz=3e9,
    )
    blind = {"cpu_shallow_idle_s": nan, "cpu_cycles_count": nan}
    monkeypatch.setattr(profiles, "HostSampler", Samples([blind, {}]))
    assert [line.split(" is left out")[0] for line in left_out(model)] == [
        "cpu_shallow_idle_w",
        "the cores' clock",
    ]
    assert left_out(model) == []
    assert left_out(SYSTEM) == []


def as_before(profile, before, now):
    """Power as the linear model has always computed it; shipped traces rest on these numbers."""
    spent = {name: now[name] - before[name] for name in now}
    if profile.driven_by == "cpu":
        working_s = sum(spent[name] for name in WORKING)
        whole_s = working_s + sum(spent[name] for name in RESTING)
        share = working_s / whole_s if whole_s > 0 else 0.0
    else:
        share = spent["disk_busy_s"] / spent["time_s"] if spent["time_s"] > 0 else 0.0
    if not isfinite(share):
        return profile.idle_w
    return profile.idle_w + (profile.peak_w - profile.idle_w) * min(1.0, max(0.0, share))


ROWS = st.fixed_dictionaries({name: st.floats(0, 1e7) | st.just(nan) for name in COLUMNS})


@given(ROWS, ROWS)
@example(dict.fromkeys(COLUMNS, 0.0), dict.fromkeys(COLUMNS, 0.1))
def test_profiles_of_fast10_give_the_very_same_numbers_as_ever(before, now):
    for profile in (SYSTEM, DISK):
        result_w = profile.power_w(activity(before, now))
        assert result_w == as_before(profile, before, now)
        assert profile.idle_w <= result_w <= profile.peak_w


@given(ROWS, ROWS)
def test_components_give_a_power_whatever_the_counters_say(before, now):
    assert ATLAS.power_w(activity(before, now)) >= 0
