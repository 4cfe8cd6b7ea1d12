import json
import threading
import time
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fsgreen import trace, units
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture, HostSampler, reparse
from fsgreen.meters.core import capture as capturing
from fsgreen.meters.core.host import COLUMNS
from fsgreen.meters.wattsup import driver as wattsup_driver
from fsgreen.meters.wattsup.driver import WattsUp, WattsUpSettings
from tests.emulated import Emulator, wattsup
from tests.patience import ever_slower, leaves_nothing, until_calm, wait_for
from tests.traces import total_w, whole_budget, whole_energy_j

PACE_S = 0.05


class Load:
    """A load of known power: 100.04 W, and 160 W more from 0.8 to 1.5 s after `start`.

    It may be slower: then the burst comes later, and takes longer.
    """

    def __init__(self):
        self.last_s = time.monotonic()
        self.start(1)

    def start(self, slower):
        self.begin_s, self.slower = time.monotonic(), slower

    def energy_j(self, until_s):
        high_s = min(max(until_s - self.begin_s - 0.8 * self.slower, 0.0), 0.7 * self.slower)
        return 100.04 * (until_s - self.begin_s) + 160 * high_s

    def __call__(self):
        now_s, last_s = time.monotonic(), self.last_s
        self.last_s = now_s
        return (self.energy_j(now_s) - self.energy_j(last_s)) / (now_s - last_s)


@pytest.fixture
def meters():
    """Two emulated meters at twenty readings a second: 173.26 W and 7.52 W."""
    with ExitStack() as stack:
        yield {
            name: _meter(stack, name, lambda watts=watts: watts)
            for name, watts in (("system", 173.26), ("disk", 7.52))
        }


def _meter(stack, name, power_w):
    meter = wattsup(power_w, name, pace_s=PACE_S)
    stack.callback(meter.close)
    return meter


def record(meters, raw, length_s, is_calm, begin=lambda slower: None):
    """Return a table of power, the begin and end of a phase in it, and how much slower it was."""

    def once(slower):
        set_pace(meters, slower)
        with Capture(meters, raw) as capture:
            wait_for(lambda: total_w(capture) is not None)
            begin(slower)
            start_s = time.monotonic()
            time.sleep(length_s * slower)
            end_s = time.monotonic()
            wait_for(lambda: total_w(capture, since_s=end_s) is not None)
        power, _ = capture.finish()
        return power, start_s, end_s, slower

    return ever_slower(once, lambda found: is_calm(*found))


def set_pace(meters, slower):
    for meter in meters.values():
        meter.emulator._pace_s = PACE_S * slower


def flaws(power, start_s, end_s, slower=1, rate_hz=1 / PACE_S):
    rate_hz /= slower
    by_meter = [readings for _, readings in power.groupby("meter")]
    return [flaw for one in by_meter for flaw in trace.check_trace(one, start_s, end_s, rate_hz)]


def test_energy_from_emulator_to_joules_is_the_models_within_the_quantisation(meters, tmp_path):
    raw = tmp_path / "power.raw"
    power, start_s, end_s, slower = record(meters, raw, 1.0, lambda *found: not flaws(*found))
    assert flaws(power, start_s, end_s, slower) == []
    for name, watts in (("system", 173.26), ("disk", 7.52)):
        readings = power[power["meter"] == name]
        budget = whole_budget(readings, start_s, end_s, meters[name].describe())
        energy = whole_energy_j(readings, start_s, end_s)
        assert abs(energy - watts * (end_s - start_s)) <= budget.quantisation_j
        assert energy != watts * (end_s - start_s)


MOST_JITTER_J = 160 * 0.7 / 2
"""Half of what the burst adds."""


def jitter_j(power, start_s, end_s, slower):
    """By how much unequal arrival intervals move the energy at most, by the steps they weigh."""
    pace_s = PACE_S * slower
    phase = power[power["time_s"].between(start_s - pace_s, end_s + pace_s)]
    steps_s, steps_w = np.diff(phase["time_s"]), np.abs(np.diff(phase["power_w"]))
    return steps_w.sum() * np.abs(steps_s - pace_s).max()


def test_energy_of_a_burst_inside_the_phase_is_the_models(tmp_path):
    """Beyond the quantisation only unequal arrival intervals count."""
    load = Load()

    def is_calm(power, start_s, end_s, slower):
        alone = power["time_s"].is_unique  # a reader that stood still has two at one time
        return alone and jitter_j(power, start_s, end_s, slower) < MOST_JITTER_J * slower

    with ExitStack() as stack:
        meter = _meter(stack, "system", load)
        raw = tmp_path / "power.raw"
        power, start_s, end_s, slower = record({"system": meter}, raw, 1.9, is_calm, load.start)
    limit_j = jitter_j(power, start_s, end_s, slower)
    rounding_j = whole_budget(power, start_s, end_s, meter.describe()).quantisation_j
    energy = whole_energy_j(power, start_s, end_s)
    assert abs(energy - (load.energy_j(end_s) - load.energy_j(start_s))) <= rounding_j + limit_j
    assert limit_j < MOST_JITTER_J * slower


def test_tables_have_the_columns_of_the_record_and_units(meters, tmp_path):
    def recorded(slower):
        set_pace(meters, min(slower, 4))  # some readings must come in 1.2 s
        with Capture(meters, tmp_path / "power.raw", HostSampler(lambda: None)) as capture:
            time.sleep(1.2)
            return capture.finish()

    def is_calm(tables):
        power, host = tables
        return "retimed" not in set(power["quality"]) and is_paced(host)

    def is_paced(host):
        return len(host) == 3 and np.diff(host["time_s"])[0] == pytest.approx(1.0, abs=0.1)

    power, host = ever_slower(recorded, is_calm)
    assert list(power) == [
        *("time_s", "meter", "power_w", "voltage_v", "current_a", "energy_wh", "quality"),
    ]
    assert set(power["meter"]) == {"system", "disk"}
    assert set(power["quality"]) == {"ok"}
    assert list(host) == list(COLUMNS)
    assert is_paced(host)
    units.check_columns(power)
    units.check_columns(host)


def test_raw_trace_parses_again_to_the_same_table(meters, tmp_path):
    raw = tmp_path / "power.raw"
    with Capture(meters, raw) as capture:
        meters["disk"].emulator.misbehaviour = "nul"
        time.sleep(0.5)
        meters["disk"].emulator.misbehaviour = "garbage"
        time.sleep(0.3)
    power, _ = capture.finish()
    pd.testing.assert_frame_equal(reparse(raw), power, check_exact=True)
    lines = [json.loads(line) for line in raw.read_text().splitlines()]
    assert lines[0]["meters"]["disk"]["boundary"] == "modelled"
    assert {line["m"] for line in lines[1:]} == {"system", "disk"}


def test_raw_bytes_are_on_disk_while_the_trial_runs(meters, tmp_path):
    raw = tmp_path / "power.raw"
    with Capture(meters, raw) as capture:
        wait_for(lambda: total_w(capture) is not None)
        assert len(raw.read_text().splitlines()) > 2


@pytest.mark.parametrize(
    "text",
    ["", "no json\n", "[]\n", '{"meters": {"a": {"driver": "wattsup"}}}\n', '{"meters": {}}\n{}\n'],
)
def test_foreign_raw_trace_is_refused(tmp_path, text):
    (tmp_path / "power.raw").write_text(text)
    with pytest.raises(FsgreenError) as caught:
        reparse(tmp_path / "power.raw")
    assert caught.value.next_step


def test_live_power_is_the_newest_and_unknown_before_it_is_measured(meters, tmp_path):
    capture = Capture(meters, tmp_path / "power.raw")
    assert total_w(capture) is None
    with capture:
        wait_for(lambda: total_w(capture) is not None)
        assert capture.latest_w("disk") == pytest.approx(7.5)
        assert total_w(capture) == pytest.approx(173.3 + 7.5)
        assert total_w(capture, since_s=time.monotonic() + 1) is None


def test_meter_unplugged_in_mid_trial_is_a_fault_that_tells_the_caller(meters, tmp_path):
    told = threading.Event()
    with Capture(meters, tmp_path / "power.raw") as capture:
        capture.on_fault(told.set)
        wait_for(lambda: total_w(capture) is not None)
        assert capture.fault is None
        meters["disk"].emulator.unplug()
        wait_for(told.is_set)
        assert "vanished" in capture.fault.what
        later = threading.Event()
        capture.on_fault(later.set)
        assert later.is_set()
    power, _ = capture.finish()
    assert set(power["meter"]) == {"system", "disk"}
    with Capture(meters, tmp_path / "again.raw") as capture:
        wait_for(lambda: total_w(capture) is not None)
    assert capture.fault is None


@pytest.mark.parametrize(("misbehaviour", "how"), [("silent", "silent"), ("garbage", "garbage")])
def test_meter_that_fails_in_mid_trial_is_a_fault(meters, tmp_path, monkeypatch, misbehaviour, how):
    monkeypatch.setattr(capturing, "SILENCE_S", 0.8)
    monkeypatch.setattr(capturing, "SILENT_INTERVALS", 0.8)

    def fault():
        meters["disk"].emulator.misbehaviour = None
        with Capture(meters, tmp_path / "power.raw") as capture:
            meters["disk"].emulator.misbehaviour = misbehaviour
            wait_for(lambda: capture.fault is not None)
        return capture.fault

    # On a machine that stands still for longer than a meter may, every meter is silent.
    told = until_calm(fault, lambda fault: "disk" in fault.what and how in fault.what)
    assert how in told.what
    assert "disk" in told.what
    assert told.next_step


def test_a_meter_may_be_silent_while_its_disk_is_brought_into_a_state(
    meters, tmp_path, monkeypatch
):
    """A campaign on a used SSD of 80 GB lost each of its trials there."""
    monkeypatch.setattr(capturing, "SILENCE_S", 0.4)
    monkeypatch.setattr(capturing, "SILENT_INTERVALS", 0.4)
    with Capture(meters, tmp_path / "power.raw") as capture:
        with capture.excusing():
            meters["disk"].emulator.misbehaviour = "silent"
            begin_s = time.monotonic()
            wait_for(lambda: capture.latest_w("system", begin_s + 1.0) is not None)
            assert capture.fault is None
        wait_for(lambda: capture.fault is not None)
    assert "disk" in capture.fault.what or "system" in capture.fault.what


def test_no_meter_is_silent_because_the_machine_stood_still(meters, tmp_path, monkeypatch):
    """A harness that was stopped for seconds would end its campaign."""
    monkeypatch.setattr(capturing, "SILENCE_S", 2.0)
    monkeypatch.setattr(capturing, "SILENT_INTERVALS", 2.0)
    read = meters["disk"].read

    def fault():
        has_slept = threading.Event()

        def sleep_once(timeout_s):
            if has_slept.is_set():
                return read(timeout_s)
            time.sleep(timeout_s + 2.5)
            has_slept.set()
            return None

        monkeypatch.setattr(meters["disk"], "read", sleep_once)
        with Capture(meters, tmp_path / "power.raw") as capture:
            begin_s = time.monotonic()
            wait_for(lambda: capture.fault or capture.latest_w("disk", begin_s) is not None)
        return capture.fault

    # A machine that stands still while the emulator writes does make a meter silent.
    assert until_calm(fault, lambda fault: fault is None) is None


def settings_of(emulator):
    return WattsUpSettings(name="system", driver="wattsup", port=emulator.port)


def test_meter_that_lost_power_in_mid_trial_is_a_fault(tmp_path):
    with (
        Emulator(lambda: 173.26, pace_s=PACE_S) as emulator,
        closing(WattsUp(settings_of(emulator))) as meter,
    ):
        with Capture({"system": meter}, tmp_path / "power.raw") as capture:
            emulator.power_cycles += 1
            wait_for(lambda: capture.fault is not None)
        assert "lost power" in capture.fault.what
        with pytest.raises(FsgreenError, match=r"not the same meter.*power_cycles"):
            meter.start()
    power, _ = capture.finish()
    assert "power-cycled" in set(power["quality"])


def test_silent_meter_at_the_start_is_told_and_leaves_nothing_running(
    meters, tmp_path, monkeypatch
):
    monkeypatch.setattr(wattsup_driver, "REPLY_S", 0.3)
    meters["disk"].emulator.misbehaviour = "silent"
    with (
        leaves_nothing(),
        pytest.raises(FsgreenError, match="silent"),
        Capture(meters, tmp_path / "power.raw"),
    ):
        pass


def test_full_disk_is_told(meters):
    with (
        pytest.raises(FsgreenError, match="cannot be written") as caught,
        Capture(meters, Path("/dev/full")),
    ):
        pass
    assert "df -h" in caught.value.next_step


def test_finish_may_come_twice_and_inside_the_context(meters, tmp_path):
    with Capture(meters, tmp_path / "power.raw") as capture:
        time.sleep(0.3)
        first, _ = capture.finish()
    second, _ = capture.finish()
    pd.testing.assert_frame_equal(first, second)


def test_capture_at_the_real_pace_is_sound_and_its_cost_is_known(tmp_path):
    with ExitStack() as stack:
        meters = {name: wattsup(lambda: 100.0, name) for name in ("system", "disk")}
        for meter in meters.values():
            stack.callback(meter.close)

        def recorded():
            with Capture(meters, tmp_path / "power.raw", HostSampler(lambda: None)) as capture:
                start_s = time.monotonic()
                time.sleep(3.2)
                power, _ = capture.finish()
            assert 0 < capture.cpu_s < time.monotonic() - start_s
            phase = start_s + 1.2, start_s + 2.8
            return flaws(power, *phase, rate_hz=1.0)

        found = until_calm(recorded, lambda found: 13 not in {flaw.rule for flaw in found})
    assert found == []
