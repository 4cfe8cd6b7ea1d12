"""A campaign must lose nothing, count nothing twice, and count nothing that broke a rule."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fsgreen import audit, campaign, design, testbeds, trial
from fsgreen.campaign import drive, onetrial, settling, trialphases
from fsgreen.campaign.context import RunningTrial
from fsgreen.errors import FsgreenError
from fsgreen.meters import Capture
from fsgreen.preflight import load

pytestmark = pytest.mark.slow

Behave = Callable[[Callable[[dict[str, Any]], None]], None]


def test_a_changed_plan_is_refused_with_the_difference(
    data: Path, behave: Behave, bed: testbeds.Testbed, plan: design.Plan
) -> None:
    campaign.Campaign("demo").adopt(plan)
    longer = replace(plan, profile=replace(plan.profile, measure_s=4.0))
    with pytest.raises(FsgreenError, match=r"profile\.measure_s: 1\.0 -> 4\.0"):
        campaign.run(longer, "demo", testbed=bed)


def test_work_with_errors_never_counts_and_the_reason_is_kept(
    data: Path, behave: Behave, bed: testbeds.Testbed, plan: design.Plan
) -> None:
    behave(lambda summary: summary.update(errors={"ENOSPC": 3}))
    single = replace(plan, trials=plan.trials[:1])
    with pytest.raises(FsgreenError, match="1 of 1 trials broke a rule each time"):
        campaign.run(single, "demo", testbed=bed)
    folder = campaign.Campaign("demo").folder
    assert trial.list_trials(folder) == []
    reasons = [one.record.reason for one in trial.list_invalid(folder)]
    assert len(reasons) == 3
    assert all("ENOSPC" in reason for reason in reasons)


def test_a_trial_before_which_power_did_not_come_down_is_not_worked_on_and_never_counts(
    data: Path,
    behave: Behave,
    bed: testbeds.Testbed,
    plan: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drive, "ATTEMPTS", 1)
    runs: list[int] = []
    behave(lambda summary: runs.append(1))
    restless = replace(
        plan,
        trials=plan.trials[:1],
        profile=replace(plan.profile, settle_limit_s=0.2),
        bounds={**plan.bounds, "idle_band_percent": -99},
    )
    with pytest.raises(FsgreenError, match="1 of 1 trials broke a rule"):
        campaign.run(restless, "demo", testbed=bed)
    folder = campaign.Campaign("demo").folder
    assert trial.list_trials(folder) == []
    assert runs == []
    reasons = [one.record.reason for one in trial.list_invalid(folder)]
    assert all(reason.startswith("rule 11: ") for reason in reasons)


@pytest.mark.usefixtures("patient")
def test_ctrl_c_leaves_no_half_trial_and_the_next_start_goes_on(
    data: Path, behave: Behave, bed: testbeds.Testbed, plan: design.Plan
) -> None:
    def interrupt_the_second(summary: dict[str, Any]) -> None:
        if trial.list_trials(folder):
            os.kill(os.getpid(), signal.SIGINT)

    folder = campaign.Campaign("demo").folder
    behave(interrupt_the_second)
    with pytest.raises(KeyboardInterrupt):
        campaign.run(plan, "demo", testbed=bed)
    (first,) = trial.list_trials(folder)
    assert first.name == plan.trials[0].trial
    assert not list((folder / "trials").glob(".*"))
    written_ns = (first.folder / "trial.json").stat().st_mtime_ns
    behave(lambda summary: None)
    campaign.run(plan, "demo", testbed=bed)
    assert len(trial.list_trials(folder)) == 2
    assert (first.folder / "trial.json").stat().st_mtime_ns == written_ns


def test_two_harnesses_do_not_measure_one_campaign(
    data: Path, behave: Behave, bed: testbeds.Testbed, plan: design.Plan
) -> None:
    with (
        campaign.Campaign("demo").alone(),
        pytest.raises(FsgreenError, match="another fsgreen is measuring"),
    ):
        campaign.run(plan, "demo", testbed=bed)


def test_a_second_harness_is_refused_before_it_makes_anything(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gigabytes of an image, written beside what the first one measures, would disturb it."""
    made: list[str] = []
    monkeypatch.setattr(testbeds, "open_testbed", lambda *given, **asked: made.append("image"))
    monkeypatch.setattr(testbeds, "sweep", lambda: made.append("swept"))
    with (
        campaign.Campaign("fast10-quick").alone(),
        pytest.raises(FsgreenError, match="another fsgreen is measuring"),
    ):
        campaign.measure("fast10", "quick")
    assert made == []


def test_a_changed_kernel_under_a_campaign_that_began_is_refused_before_it_measures(
    data: Path,
    behave: Behave,
    bed: testbeds.Testbed,
    plan: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The analysis would refuse to pool what both measured."""
    behave(lambda summary: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        campaign.run(plan, "demo", testbed=bed)
    runs: list[int] = []
    behave(lambda summary: runs.append(1))
    other = {**audit.audit(), "kernel": "Linux 99", "boot_id": "another", "speed_loops_s": 1.0}
    monkeypatch.setattr(audit, "audit", lambda: other)
    with pytest.raises(FsgreenError, match=r"kernel: then Linux .*, now Linux 99"):
        campaign.run(plan, "demo", testbed=bed)
    assert runs == []


def test_a_busy_machine_cannot_say_what_idle_is(
    data: Path,
    behave: Behave,
    bed: testbeds.Testbed,
    plan: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All trials would be let into a band that is too wide (rule 11)."""
    monkeypatch.setattr(load, "shares", lambda *_: load.Shares(40.0, 0.0))
    calm = replace(plan, bounds={**plan.bounds, "others_percent": 5})
    with pytest.raises(FsgreenError, match=r"others use 40 % of all cores, 5 % or more"):
        campaign.run(calm, "demo", testbed=bed)
    assert not campaign.Campaign("demo").begun()
    assert not list(campaign.Campaign("demo").folder.glob(".idle*"))


@pytest.mark.usefixtures("data", "behave")
def test_a_meter_that_says_nothing_is_no_meter_of_zero_watts(
    bed: testbeds.Testbed, plan: design.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The band of rule 11 would be one that no trial comes into, for good."""
    garbage = pd.DataFrame({"meter": ["system"], "power_w": [np.nan], "quality": ["garbage"]})
    for nothing in (garbage, garbage.iloc[:0]):
        monkeypatch.setattr(Capture, "finish", lambda _, found=nothing: (found, None))
        with pytest.raises(FsgreenError, match="no sound reading of idle power from system, disk"):
            campaign.run(plan, "demo", testbed=bed)
    assert not campaign.Campaign("demo").begun()


@pytest.mark.usefixtures("data")
def test_a_flagged_reading_is_no_idle_power(
    behave: Behave, bed: testbeds.Testbed, plan: design.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One lost digit would make the band of rule 11 one that no trial comes into."""
    rows = [("system", 142.0, "ok"), ("system", 42.0, "inconsistent"), ("disk", 7.0, "stale")]
    readings = pd.DataFrame(rows, columns=["meter", "power_w", "quality"])
    monkeypatch.setattr(Capture, "finish", lambda _: (readings, None))
    monkeypatch.setattr(drive, "_measure", lambda *_: [])
    done = campaign.run(plan, "demo", testbed=bed)
    assert done.identity()["idle_power_w"] == 149.0


@pytest.mark.usefixtures("patient")
def test_a_meter_that_fails_before_the_work_costs_that_trial_and_is_named(
    data: Path,
    behave: Behave,
    bed: testbeds.Testbed,
    plan: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half a minute of idle is when a plug answers late: the campaign would end, blaming memory."""
    runs: list[int] = []
    captures: list[Capture] = []
    behave(lambda summary: runs.append(1))
    opened, come_down = onetrial.Capture, settling._come_down

    def remember(*given: Any, **named: Any) -> Capture:
        captures.append(opened(*given, **named))
        return captures[-1]

    def fail_once(*given: Any) -> float:
        power_w = come_down(*given)
        if len(captures) == 1:
            captures[0]._fail(FsgreenError("the plug did not answer"))
        return power_w

    monkeypatch.setattr(onetrial, "Capture", remember)
    monkeypatch.setattr(settling, "_come_down", fail_once)
    done = campaign.run(replace(plan, trials=plan.trials[:1]), "demo", testbed=bed)
    first, *others = trial.list_invalid(done.folder)
    assert first.record.reason == "the plug did not answer"
    assert first.record.workload is None
    worked_on = [one for one in others if one.record.workload is not None]
    assert len(trial.list_trials(done.folder)) == 1
    assert len(runs) == 1 + len(worked_on), "a busy machine may have spoiled some"


def test_work_that_a_failing_meter_stopped_at_once_is_not_the_fault_of_the_engine(
    plan: design.Plan,
) -> None:
    """What the engine says when it is stopped in its first moment names memory or signals."""

    def run(*_: Any) -> None:
        raise FsgreenError("the workload engine was ended by SIGTERM")

    (planned, *_) = plan.trials
    bed: Any = SimpleNamespace(
        simulator=lambda: None, simulators=dict, entered=nullcontext, processor_s=lambda: None
    )
    context: Any = SimpleNamespace(plan=plan, workload=lambda _: SimpleNamespace(run=run))
    made: Any = SimpleNamespace(mount=SimpleNamespace(directory=Path()))
    failed: Any = SimpleNamespace(fault=FsgreenError("no answer"), on_fault=lambda told: told())
    sound: Any = SimpleNamespace(fault=None, on_fault=lambda told: None)
    stopped = RunningTrial(context, planned, failed, bed, prepared=made)
    trialphases._work(stopped)
    assert stopped.outcome is None
    with pytest.raises(FsgreenError, match="ended by SIGTERM"):
        trialphases._work(RunningTrial(context, planned, sound, bed, prepared=made))


def test_a_campaign_that_has_not_begun_to_measure_says_so(data: Path, plan: design.Plan) -> None:
    """A notebook that is opened in its first minute would say that there is no such campaign."""
    begun = campaign.Campaign("demo")
    begun.adopt(plan)
    with pytest.raises(FsgreenError, match="its first trial has not begun"):
        begun.identity()
    with pytest.raises(FsgreenError, match="no whole trial yet"):
        trial.first_trial(begun.folder)


@pytest.mark.usefixtures("patient")
def test_all_trials_are_held_to_the_fastest_audit_before_the_first(
    data: Path,
    behave: Behave,
    bed: testbeds.Testbed,
    plan: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A disturbance in the tenth of a second of one reading would have all of them refused."""
    speeds = iter([60.0, 100.0, 97.0])
    machine = audit.audit()
    monkeypatch.setattr(audit, "audit", lambda: {**machine, "speed_loops_s": next(speeds, 100.0)})
    bounds = {**plan.bounds, "speed_percent": 10}
    single = replace(plan, trials=plan.trials[:1], bounds=bounds)
    done = campaign.run(single, "demo", testbed=bed)
    assert done.identity()["audit"]["speed_loops_s"] == 100.0


def test_an_unknown_campaign_says_how_to_get_one(data: Path) -> None:
    with pytest.raises(FsgreenError, match="unknown campaign 'nowhere'"):
        campaign.Campaign("nowhere").plan()
