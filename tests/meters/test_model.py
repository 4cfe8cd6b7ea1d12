from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsgreen.errors import FsgreenError
from fsgreen.meters import model
from fsgreen.meters.host import COLUMNS
from fsgreen.meters.model import ModelledPower, load_profile

SYSTEM, DISK = load_profile("fast10-system"), load_profile("fast10-disk")


class Samples:
    """Stands for the kernel's counters: hands out the rows of a script."""

    def __init__(self, rows):
        self.rows = [dict.fromkeys(COLUMNS, 0.0) | row for row in rows]

    def __call__(self, device_of):
        self.device_of = device_of
        return self

    def sample(self):
        self.device_of()
        return self.rows.pop(0)


def modelled(monkeypatch, profile, rows, devices=None):
    monkeypatch.setattr(model, "HostSampler", Samples(rows))
    names = iter(devices or ["loop3"] * len(rows))
    power_w = ModelledPower(profile, lambda: next(names))
    return [power_w() for _ in rows]


def test_profiles_are_those_of_the_paper():
    assert (SYSTEM.idle_w, SYSTEM.peak_w, SYSTEM.covers) == (214, 279, ("server",))
    assert (DISK.idle_w, DISK.peak_w, DISK.covers) == (7, 22, ("disk",))
    assert "FAST 2010" in SYSTEM.source
    assert "FAST 2010" in DISK.source


def test_unknown_profile_names_the_known_ones():
    with pytest.raises(FsgreenError, match="fast10-disk"):
        load_profile("fast10-dsk")


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


@given(st.floats(-1, 2, allow_nan=False))
def test_power_stays_between_idle_and_peak(share):
    assert 7 <= DISK.power_w(share) <= 22
