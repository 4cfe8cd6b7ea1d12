"""A rule that cannot fire protects nobody: each is shown firing and not firing."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from traces import INFO

from fsgreen import audit
from fsgreen.campaign import checks, trialphases
from fsgreen.testbeds import DeviceState, Mount
from fsgreen.trace import MeterEnergy, MeterTrace, meter_energy
from fsgreen.trial import Event, HarnessCost, Phase, WorkSummary

MEASURE = Phase("measure", 10.0, 20.0)


def power(power_w: float = 100.0, missing: tuple[int, ...] = ()) -> dict[str, MeterEnergy]:
    times = [float(second) for second in range(5, 26) if second not in missing]
    readings = pd.DataFrame(
        {
            "time_s": times,
            "meter": "system",
            "power_w": power_w,
            "voltage_v": 230.0,
            "current_a": power_w / 230,
            "energy_wh": [power_w * time_s / 3600 for time_s in times],
            "quality": "ok",
        }
    )
    reduced = MeterTrace.of(readings, INFO, [MEASURE.span_s])
    return {"system": meter_energy("system", INFO, reduced, [MEASURE.span_s])}


def host(user_s_per_s: float, steal_s_per_s: float = 0.0) -> pd.DataFrame:
    times = pd.Series([float(second) for second in range(5, 26)])
    return pd.DataFrame(
        {"time_s": times, "cpu_user_s": times * user_s_per_s, "cpu_steal_s": times * steal_s_per_s}
    )


def mount(state: str | None = None, fragmentation: dict[str, float] | None = None) -> Mount:
    made = None if state is None else DeviceState(state, 2**30, 2**30, 2**30)
    return Mount(Path("/mnt"), None, "ext4", "default", state=made, fragmentation=fragmentation)


@pytest.mark.parametrize(
    ("level", "share", "ok"),
    [("cold", 0.0, True), ("cold", 0.02, False), ("warm", 0.99, True), ("warm", 0.9, False)],
)
def test_rule_7_fires_when_the_cache_is_not_as_warm_as_its_level(
    level: str, share: float, ok: bool
) -> None:
    found = checks.check_cache(level, share, True)
    assert (found.rule, found.ok) == (7, ok)
    assert f"{100 * share:.1f} %" in found.detail


def test_rule_7_fires_where_files_are_memory_and_says_what_else_cold_means() -> None:
    assert not checks.check_cache("cold", 1.0, False).ok
    assert "file data only" in checks.check_cache("cold", 0.0, "file data only").detail


@pytest.mark.parametrize(
    ("level", "found", "ok"),
    [
        ("initial", mount("initial"), True),
        ("initial", mount(), True),
        ("initial", mount("steady"), False),
        ("initial", mount("initial", {"extents_per_file_x": 4.0}), False),
        ("steady", mount("steady"), True),
        ("steady", mount("initial"), False),
        ("steady", mount(), False),
        ("aged", mount("initial", {"extents_per_file_x": 4.0}), True),
        ("aged", mount("aged"), False),
    ],
)
def test_rule_8_fires_when_the_device_was_not_brought_into_its_state(
    level: str, found: Mount, ok: bool
) -> None:
    check = checks.check_device(level, found)
    assert (check.rule, check.ok) == (8, ok)


@pytest.mark.parametrize(
    ("level", "written_b", "discarded_b", "left", "ok"),
    [
        ("initial", 64, 64, None, True),
        ("initial", 64, 63, None, False),
        ("initial", 63, 64, None, False),
        ("initial", 0, 0, "no state to restore in memory", True),
        ("steady", 63, 0, "no state to restore in memory", False),
        ("steady", 64, 0, "no state to restore in memory", True),
        ("steady", 64, 63, None, False),
    ],
)
def test_rule_8_fires_when_what_was_due_was_not_done_in_full(
    level: str, written_b: int, discarded_b: int, left: str | None, ok: bool
) -> None:
    """The name that the testbed gives to the state shows nothing."""
    state = DeviceState(level, written_b << 20, discarded_b << 20, 64 << 20, left)
    found = checks.check_device(level, Mount(Path("/mnt"), None, "ext4", "default", state=state))
    assert (found.rule, found.ok) == (8, ok)
    assert (left or f"{discarded_b} MiB discarded of 64 MiB") in found.detail


def test_rule_8_says_that_nothing_was_restored_and_not_what_was_counted() -> None:
    state = DeviceState("initial", 0, 0, 64 << 20, "no state to restore in memory")
    found = checks.check_device("initial", Mount(Path("/"), None, "ext4", "default", state=state))
    assert found.detail == "initial: no state to restore in memory"


def test_rule_8_says_how_far_from_its_target_an_aged_file_system_stayed() -> None:
    found = {"layout_score_x": 0.938, "target_layout_score_x": 0.9, "shortfall_x": 0.038}
    detail = checks.check_device("aged", mount("aged", found)).detail
    assert detail == "aged: layout score 0.938, 0.038 above its target of 0.9"


def test_rule_8_says_how_fragmented_an_aged_file_system_is() -> None:
    detail = checks.check_device("aged", mount(fragmentation={"extents_per_file_x": 4.0})).detail
    assert detail == "aged: extents_per_file_x 4"


def test_rule_40_fires_on_another_scheduler() -> None:
    assert checks.check_scheduler("mq-deadline", "mq-deadline").ok
    assert checks.check_scheduler("none", None).ok
    assert checks.check_scheduler("as found", "bfq").ok
    assert not checks.check_scheduler("mq-deadline", "none").ok


@pytest.mark.parametrize(
    ("speeds", "ok"),
    [((100, 100), True), ((96, 104), True), ((100, 94), False), ((106, 100), False)],
)
def test_rule_9_fires_when_a_core_is_not_as_fast_as_on_the_first_day(
    speeds: tuple[float, float], ok: bool
) -> None:
    ends = [{"speed_loops_s": speed} for speed in speeds]
    assert checks.check_speed({"speed_loops_s": 100.0}, ends, 5).ok is ok


def test_rule_9_fires_when_a_bound_is_asked_for_and_the_speed_was_not_read() -> None:
    known, unknown = {"speed_loops_s": 100.0}, {"speed_loops_s": None}
    assert not checks.check_speed({}, [known, known], 5).ok
    assert not checks.check_speed(known, [known, unknown], 5).ok


def test_a_trial_fails_when_what_it_wrote_does_not_reach_the_disk(tmp_path: Path) -> None:
    """Rule 12 had a check of its own, which found each flush to be in order."""
    gone: Any = SimpleNamespace(
        prepared=SimpleNamespace(mount=replace(mount(), directory=tmp_path / "gone")),
        phase=lambda name: nullcontext(),
        failure=None,
    )
    trialphases.write_back(gone)
    assert gone.failure.startswith("what was written did not reach the disk: ")


def test_rule_9_fires_when_the_machine_changed_in_mid_trial_or_since_the_first_one() -> None:
    """What changed between two trials would be seen only when all of them are pooled."""
    now = audit.audit()
    changed = {**now, "governor": "another"}
    assert checks.check_audits(now, [now, now]).ok
    assert not checks.check_audits(now, [now, changed]).ok
    assert not checks.check_audits(now, [changed, changed]).ok


@pytest.mark.parametrize(
    ("first", "ends", "ok"),
    [
        ("a" * 64, ["a" * 64, "a" * 64], True),
        ("b" * 64, ["a" * 64, "a" * 64], False),
        ("a" * 64, ["a" * 64, "b" * 64], False),
        (None, ["a" * 64, "a" * 64], True),
        (None, ["a" * 64, "b" * 64], False),
    ],
)
def test_rule_9_fires_on_another_text_of_the_workload(
    first: str | None, ends: list[str], ok: bool
) -> None:
    """An edit between two trials, or in one, would pool two workloads under one name."""
    found = checks.check_text(first, ends)
    assert (found.rule, found.ok) == (9, ok)
    assert "aaaaaaaaaaaa" in found.detail


@pytest.mark.parametrize(
    ("user", "steal", "ok"), [(0.25, 0.0, True), (0.5, 0.0, False), (0.2, 0.2, False)]
)
def test_rule_10_fires_when_others_took_the_processor(user: float, steal: float, ok: bool) -> None:
    found = checks.check_others(host(user, steal), [MEASURE], 2.0, 2, 5.0)
    assert found.ok is ok
    windows = [
        replace(MEASURE, end_s=MEASURE.start_s + 1),
        replace(MEASURE, start_s=MEASURE.start_s + 1),
    ]
    assert checks.check_others(host(user, steal), windows, 2.0, 2, 5.0) == found


@pytest.mark.parametrize(("written_b_s", "ok"), [(4e6, True), (5e6, False)])
def test_rule_45_fires_when_more_passed_to_the_disk_than_a_level_says(
    written_b_s: float, ok: bool
) -> None:
    """Control groups of the first version let through what leaves the page cache."""
    rows = host(0.0)
    rows = rows.assign(disk_read_b=0.0, disk_write_b=rows["time_s"] * written_b_s)
    found = checks.check_traffic(rows, [MEASURE], 4e6)
    assert (found.rule, found.ok) == (45, ok)


def test_rule_11_fires_when_power_did_not_come_down() -> None:
    assert checks.check_settled(1.0, 220.0, 225.0).ok
    assert not checks.check_settled(60.0, 240.0, 225.0).ok
    assert not checks.check_settled(60.0, float("nan"), 225.0).ok, "no meter told"


def test_rule_13_fires_on_a_gap() -> None:
    sound = checks.check_power(power())
    assert all(check.ok for check in sound)
    gap = checks.check_power(power(missing=(14, 15, 16)))
    assert [check.rule for check in gap if not check.ok] == [13]


def test_rule_14_fires_on_zero_watts_under_load() -> None:
    dead = checks.check_power(power(0.0))
    assert [check.rule for check in dead if not check.ok] == [14]


def test_rule_16_fires_when_the_constant_error_weighs_too_much() -> None:
    assert checks.check_budget(power(100.0)["system"], 2.0).ok
    assert not checks.check_budget(power(10.0)["system"], 2.0).ok


def test_rule_20_fires_on_a_costly_harness_and_on_work_that_is_not_whole() -> None:
    assert checks.check_harness(HarnessCost(0.11, 1.0)).ok
    assert not checks.check_harness(HarnessCost(0.66, 6.0)).ok
    whole = WorkSummary(duration_s=60.0, work_ops=10)
    assert checks.check_workload(whole).ok
    assert not checks.check_workload(replace(whole, partial=True)).ok
    assert not checks.check_workload(replace(whole, work_ops=0)).ok
    unfinished = replace(whole, finished=False)
    assert "not all done within 60.0 s" in checks.check_workload(unfinished).detail
    assert not checks.check_workload(unfinished).ok
    assert checks.check_workload(replace(whole, finished=True)).ok
    assert "EIO" in checks.check_workload(replace(whole, errors={"EIO": 1})).detail


def test_rule_20_fires_on_an_event_that_was_not_done_or_fell_outside_of_its_phase() -> None:
    """A cable that came out after the work tells nothing of the work without it."""
    done = Event("cable_out", "measure", 3.0, 13.0, 13.1)
    assert checks.check_events([done], [MEASURE]).ok
    assert "3.000 s" in checks.check_events([done], [MEASURE]).detail
    assert not checks.check_events([replace(done, start_s=20.5, end_s=20.6)], [MEASURE]).ok
    assert not checks.check_events([replace(done, fault="no cable")], [MEASURE]).ok
    assert not checks.check_events([done], []).ok
