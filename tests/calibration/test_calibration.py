"""The whole path of a calibration, against a meter whose model is known."""

import io
import random
import time
import tomllib
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import replace
from functools import partial
from importlib import import_module
from types import SimpleNamespace

import pandas as pd
import pytest
import traces

from fsgreen.calibration import exercise, schedule
from fsgreen.calibration.exercise import IDLE, Step
from fsgreen.campaign import testbedfile
from fsgreen.errors import FsgreenError
from fsgreen.meters import open_meters, reparse
from fsgreen.meters.core import capture, emulation
from fsgreen.meters.core.emulation import EmulatedMeter
from fsgreen.meters.core.host import COLUMNS
from fsgreen.meters.modelled import load_profile, profiles
from fsgreen.meters.modelled.fit import fit
from tests.patience import TRIES, paces

PACE_S = 0.03
CORES = 4
# The package gives its function of the same name.
calibration = import_module("fsgreen.calibration.calibrate")

TRUTH = """
[truth]
covers = ["server", "disk"]
idle_w = 61.0
source = "made up for this test"
disk_rate_b_s = 1e8
[truth.terms]
cpu_user_w = 11.0
cpu_system_w = 7.5
disk_seek_w = 8.0
disk_read_w = 5.0
"""
TERMS = {"cpu_user_w": 11.0, "cpu_system_w": 7.5, "disk_seek_w": 8.0, "disk_read_w": 5.0}
METER = {"name": "node", "driver": "wattsup", "emulate": True, "profile": "truth"}


class Machine:
    """Stands for the kernel's counters; what it does is set by the step that runs.

    It works evenly, so counters are exact at any moment, as far as two threads share one.
    """

    def __init__(self):
        self.chance = random.Random(1)
        self.since_s = time.monotonic()
        self.counters = dict.fromkeys(COLUMNS, 0.0)
        self.counters["disk_standby_s"] = self.counters["cpu_cycles_count"] = float("nan")
        self.counters["cpu_shallow_idle_s"] = float("nan")
        self.rates = {}
        self.others = 0.0
        self.run(IDLE)

    def __call__(self, device_of, apart=None):
        return self

    def sample(self):
        now_s = time.monotonic()
        counters = {
            name: value + self.rates.get(name, 0.0) * (now_s - self.since_s)
            for name, value in self.counters.items()
        }
        return counters | {"time_s": now_s}

    def run(self, step):
        counters = self.sample()
        kinds = {kind: 0.0 for kind in ("user", "system", "seek", "sequential", "write")}
        for kind, share, *_ in step.loads:
            kinds[kind] += float(share)
        user = kinds["user"] + self.chance.uniform(0, 0.02) + self.others
        system = kinds["system"] + self.chance.uniform(0, 0.02)
        seek, deep, sequential = min(1.0, kinds["seek"]), kinds["seek"] > 1, kinds["sequential"]
        self.counters, self.since_s = counters, counters["time_s"]
        self.rates = {
            "cpu_user_s": user,
            "cpu_system_s": system,
            "cpu_idle_s": CORES - user - system,
            "disk_busy_s": min(1.0, seek + 0.9 * sequential + 0.8 * kinds["write"]),
            "disk_reads_count": (120 + 140 * deep) * seek + 90 * sequential,
            "disk_read_b": 5e5 * seek + 9e7 * sequential,
        }

    @contextmanager
    def exercise(self, step):
        self.run(step)
        try:
            yield self
        finally:
            self.run(IDLE)

    def check(self):
        """No load of this machine stops by itself."""


class QuickMeter(EmulatedMeter):
    """The emulated meter at thirty readings a second or less, and honest about its rate."""

    pace_s = PACE_S

    def __init__(self, driver, settings, make, power_w, **about):
        super().__init__(driver, settings, partial(make, pace_s=self.pace_s), power_w, **about)

    def describe(self):
        return replace(super().describe(), rate_hz=1 / self.pace_s)


@contextmanager
def quick_machine(folder, slower=1):
    """Yield a machine of known activity, with the testbed file of a meter of a known model.

    Meter and steps may be slower.
    """
    made = Machine()
    target = exercise.Target(folder / "disk", "sda", 1 << 30, writable=False)
    times_s = {"PROBE_S": 0.3, "SETTLE_S": 0.06, "MEASURE_S": 0.2, "POLL_S": 0.02}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiles, "HostSampler", made)
        patch.setattr(calibration, "HostSampler", made)
        patch.setattr(calibration.os, "cpu_count", lambda: CORES)
        patch.setattr(schedule, "Exercise", made.exercise)
        patch.setattr(QuickMeter, "pace_s", PACE_S * slower)
        patch.setattr(emulation, "EmulatedMeter", QuickMeter)
        patch.setattr(emulation, "STEP_S", 0.0)
        patch.setattr(capture, "HOST_INTERVAL_S", PACE_S * slower)
        patch.setattr(exercise, "disk_target", lambda place, seed: nullcontext(target))
        patch.setattr(schedule.trace, "minimum_duration_s", lambda *_, **__: 0.0)
        patch.setattr(schedule, "MIN_READINGS", 6)
        for name, value_s in times_s.items():
            patch.setattr(schedule, name, value_s * slower)
        (folder / "truth.toml").write_text(TRUTH)
        meter = METER | {"profile_file": str(folder / "truth.toml")}
        yield made, testbedfile.TestbedFile(folder=folder, meters=(meter,))


def spoiled(error):
    """Whether a machine that stood still has left too few steps, none at rest, or no reading."""
    what_it_says = (
        *("too few to fit", "measured without a flaw", "no sound reading within"),
        "the cores never rested",
    )
    return any(said in error.what for said in what_it_says)


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    """One calibration: what was found, what was printed, and the file of profiles.

    A machine that stands still spoils steps, and all is then made again.
    """
    for left, slower in zip(reversed(range(TRIES)), paces(), strict=True):
        folder, said = tmp_path_factory.mktemp("calibrated"), io.StringIO()
        try:
            with quick_machine(folder, slower) as (_, place), redirect_stdout(said):
                (found,) = calibration.calibrate(place, folder / "fitted.toml")
            spoiled_steps = {remark.split()[2] for remark in found.remarks if "a step " in remark}
            if spoiled_steps <= {*found.table["workload"]}:  # each was whole in one pass
                break
        except FsgreenError as error:
            if left == 0 or not spoiled(error):
                raise
    return found, said.getvalue(), folder / "fitted.toml"


@pytest.fixture
def machine(tmp_path):
    """A machine and its testbed file."""
    with quick_machine(tmp_path) as made:
        yield made


def test_parameters_of_the_emulated_model_come_back_through_the_real_driver(calibrated):
    found, _, _ = calibrated
    assert found.fit.idle_w == pytest.approx(61.0, abs=0.3)
    assert set(found.fit.terms) >= TERMS.keys()
    for name, value in TERMS.items():
        assert found.fit.terms[name] == pytest.approx(value, rel=0.05, abs=0.1)
    assert found.fit.residual_w < 0.3


def test_error_for_a_step_that_was_not_seen_is_printed_for_every_step(calibrated):
    found, said, _ = calibrated
    assert "self-test" in said
    unseen = found.left_out.set_index("workload")["error_percent"]
    assert set(unseen.index) == set(found.table["workload"])
    for step in unseen.index:
        assert f"  {step} " in said
    only_one_of_its_kind = unseen.pop("disk-sequential")
    assert unseen.abs().max() < 1
    assert abs(only_one_of_its_kind) > 2


def test_fitted_profile_is_a_meter_again_and_says_what_it_is(calibrated):
    found, _, out = calibrated
    profile = load_profile("node", out)
    assert profile.idle_w == pytest.approx(found.fit.idle_w, rel=1e-5)
    assert profile.source.startswith("self-test on 20")
    evidence = tomllib.loads(out.read_text())["node"]["fit"]
    assert evidence["self_test"] is True
    assert evidence["residual_w"] == pytest.approx(found.fit.residual_w, rel=1e-4)
    assert set(evidence["unseen_error_w"]) == set(found.table["workload"])
    assert set(evidence["half_width_95"]) == {"idle_w", *found.fit.terms}
    entry = METER | {"profile": "node", "profile_file": str(out)}
    (meter,) = open_meters([entry], lambda: None).values()
    meter.close()
    assert meter.describe().boundary == "modelled"
    assert "self-test" in meter.describe().source


def test_raw_trace_and_steps_stay_beside_the_profile(calibrated):
    found, _, out = calibrated
    table = pd.read_csv(out.with_suffix(".node.csv"))
    assert list(table["workload"]) == list(found.table["workload"])
    assert len(reparse(out.with_suffix(".power.raw"))) > 100
    again = fit(table, resolution_w=0.1)
    assert again.terms == pytest.approx(found.fit.terms)


def test_every_pass_has_every_step_in_an_order_of_its_own():
    steps = [Step(f"step-{nth}") for nth in range(8)]
    order = [step.name for step in schedule._order(steps, 2, seed=1)]
    first, second = order[1:9], order[9:17]
    assert order[0] == order[17] == "idle"
    assert sorted(first) == sorted(second) == sorted(step.name for step in steps)
    assert first != second
    assert order == [step.name for step in schedule._order(steps, 2, seed=1)]
    assert order != [step.name for step in schedule._order(steps, 2, seed=2)]


def plan(power_w, constant_error_j=0.0):
    info = replace(traces.INFO, constant_error_j=constant_error_j)
    meter = SimpleNamespace(describe=lambda: info)
    return schedule._Plan({"node": meter}, {"node": power_w})


def test_steps_are_long_enough_for_the_meter_s_constant_error():
    fixed_wh = plan(100.0, constant_error_j=1080.0)
    assert fixed_wh.step_s - fixed_wh.settle_s > 1080 / (0.02 * 100 - 0.3)
    assert plan(100.0).step_s == pytest.approx(14.0)
    assert not fixed_wh.remarks


def test_power_too_small_for_the_meter_is_remarked():
    small = plan(7.0)
    assert "rule 16" in small.remarks["node"]
    assert small.step_s == pytest.approx(14.0)


def test_minutes_hold_whole_passes_or_say_how_many_are_needed():
    steps = plan(100.0)
    assert steps.passes(10, None) == schedule.PASSES
    assert steps.passes(10, 10.0) == 4
    with pytest.raises(FsgreenError, match="give it 3 minutes"):
        steps.passes(10, 2.0)


def test_nothing_is_calibrated_without_a_meter_and_no_profile_is_replaced(tmp_path):
    nowhere = testbedfile.TestbedFile()
    with pytest.raises(FsgreenError, match="no meter is named"):
        calibration.calibrate(nowhere, tmp_path / "fitted.toml")
    place = testbedfile.TestbedFile(meters=(METER,))
    (tmp_path / "old.toml").touch()
    for name, message in [("old.toml", "already"), ("none/x.toml", "folder"), ("x", "folder")]:
        with pytest.raises(FsgreenError, match=message):
            calibration.calibrate(place, tmp_path / name)


def test_failing_load_stops_the_calibration_and_leaves_nothing(machine, tmp_path, monkeypatch):
    def fail():
        raise FsgreenError("the load seek stopped")

    made, place = machine
    monkeypatch.setattr(made, "check", fail)
    with pytest.raises(FsgreenError, match="seek stopped"):
        calibration.calibrate(place, tmp_path / "fitted.toml")
    assert [file.name for file in tmp_path.iterdir()] == ["truth.toml"]


def test_busy_machine_is_not_calibrated_at_all(machine, tmp_path):
    made, place = machine
    made.others = 0.5
    made.run(IDLE)
    with pytest.raises(FsgreenError, match=r"busy: its cores work for 1\d % of the time"):
        calibration.calibrate(place, tmp_path / "fitted.toml")
    assert [file.name for file in tmp_path.iterdir()] == ["truth.toml"]


def test_power_that_does_not_follow_the_load_leaves_the_tables_to_look_at(tmp_path, monkeypatch):
    few = exercise.steps(1, None, seed=1)[:4]
    monkeypatch.setattr(exercise, "steps", lambda *_: few)
    monkeypatch.setattr(Machine, "exercise", lambda made, step: nullcontext(made))
    for nth, slower in enumerate(paces()):
        folder = tmp_path / f"try {nth}"
        folder.mkdir()
        with (
            quick_machine(tmp_path, slower) as (_, place),
            pytest.raises(FsgreenError) as refused,
        ):
            calibration.calibrate(place, folder / "fitted.toml")
        if not spoiled(refused.value):
            break
    assert "power does not change with the load" in refused.value.what
    assert {file.name for file in folder.iterdir()} == {"fitted.node.csv", "fitted.power.raw"}


def test_flawed_step_is_left_out_with_the_rule_that_it_breaks(calibrated):
    found, _, _ = calibrated
    pace_s = 1 / found.info.rate_hz
    seconds = [nth * pace_s for nth in range(400)]
    readings = pd.DataFrame(
        {"time_s": seconds, "meter": "node", "power_w": 60.0, "energy_wh": 0.0, "quality": "ok"}
    )
    readings.loc[100, "power_w"] = float("nan")
    host = pd.DataFrame({name: seconds for name in COLUMNS})
    steps = [("a", 34 * pace_s, 101 * pace_s), ("b", 134 * pace_s, 200 * pace_s)]
    recording = schedule.Recording(readings, host, steps, {})
    table, remarks = calibration.step_table("node", found.info, recording)
    assert list(table["workload"]) == ["b"]
    assert remarks[0].startswith("a step a is left out: rule 14")


def test_a_meter_without_a_sound_step_is_told_why(calibrated):
    """After half an hour of load the reasons are all that there is."""
    found, _, _ = calibrated
    reason = "a step user-50 is left out: rule 13: intervals of 2 s"
    with pytest.raises(FsgreenError, match=reason):
        calibration.fit_steps("node", found.info, pd.DataFrame(), [reason])
