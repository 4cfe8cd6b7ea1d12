"""What a trial keeps: energy of each meter, events with their times, and why it does not count."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fsgreen import campaign, design, reduce, testbeds, trial
from fsgreen.campaign import drive, fitting
from fsgreen.campaign.events import during, offered
from fsgreen.design.study import PlannedEvent
from fsgreen.errors import FsgreenError
from fsgreen.workloads import WorkloadFailed
from tests.campaign.conftest import ScriptedWorkload, be_patient
from tests.patience import LIMIT_S

pytestmark = pytest.mark.slow

Behave = Callable[[Callable[[dict[str, Any]], None]], None]


@pytest.fixture
def single(plan: design.Plan) -> design.Plan:
    """Return a plan of one trial."""
    return replace(plan, trials=plan.trials[:1])


@pytest.fixture
def two_boundaries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the meter of the disk measure its rail, and not what the model says."""
    opened = drive.open_meters

    def with_a_rail(*given: Any) -> Any:
        meters = opened(*given)
        rail = meters["disk"].describe
        monkeypatch.setattr(
            meters["disk"], "describe", lambda: replace(rail(), boundary="dc-rail"), raising=False
        )
        return meters

    monkeypatch.setattr(drive, "open_meters", with_a_rail)


@pytest.mark.usefixtures("behave", "patient", "two_boundaries")
def test_meters_of_two_boundaries_are_measured_together_and_never_added_up(
    data: Path, bed: testbeds.Testbed, single: design.Plan
) -> None:
    """A sum of wall and rail is the power of nothing (rule 19)."""
    wanted = replace(single, efficiency={"boundary": "modelled"})
    [found] = trial.list_trials(campaign.run(wanted, "demo", testbed=bed).folder)
    record = found.record
    assert (record.boundary, record.efficiency_meters) == ("modelled", ("system",))
    assert record.energy["disk"].boundary == "dc-rail"
    reduce.write("demo")
    [row] = reduce.read_table("demo", "trials").to_dict("records")
    assert row["boundary"] == "modelled"
    assert row["energy_j"] == row["energy_system_j"]
    assert row["energy_disk_j"] > 0
    assert (row["boundary_system"], row["boundary_disk"]) == ("modelled", "dc-rail")
    measured = campaign.Campaign("demo").measured()
    assert measured[found.name].energy_j == record.energy["system"].energy_j


@pytest.mark.usefixtures("data", "patient")
def test_a_workload_that_is_held_up_at_its_end_costs_the_harness_no_more_of_a_core(
    bed: testbeds.Testbed, single: design.Plan, behave: Behave
) -> None:
    """A web server whose log met the limit of dirty pages waited for 25 s after what is measured:
    what the harness took meanwhile was said of the 11 s before, and the trial refused each time."""
    held_up_s = 2.0
    behave(lambda summary: time.sleep(held_up_s))
    [found] = trial.list_trials(campaign.run(single, "demo", testbed=bed).folder)
    cost = found.record.harness
    worked_s = sum(found.record.phase(name).duration_s for name in ("warmup", "measure"))
    assert 100 * cost.cpu_s / cost.cpu_percent >= worked_s + held_up_s


@pytest.mark.usefixtures("behave", "data", "two_boundaries")
def test_meters_of_two_boundaries_want_a_word_on_what_the_efficiency_is_over(
    bed: testbeds.Testbed, single: design.Plan
) -> None:
    with pytest.raises(FsgreenError, match="different boundaries, which are never added") as caught:
        campaign.run(single, "demo", testbed=bed)
    assert "efficiency: {boundary: " in str(caught.value.next_step)
    other = replace(single, efficiency={"boundary": "cpu"})
    with pytest.raises(FsgreenError, match="no meter has the boundary cpu"):
        campaign.run(other, "demo2", testbed=bed)


class Exported:
    """A testbed whose file system is served again, and has no copies."""

    def __init__(self, bed: testbeds.Testbed) -> None:
        self._bed = bed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bed, name)

    def remount(self) -> testbeds.Mount:
        return replace(self._bed.remount(), stacked={"program": "nfsd"})


@pytest.mark.usefixtures("data", "patient")
def test_a_trial_without_copies_does_not_say_that_every_copy_is_whole(
    bed: testbeds.Testbed, single: design.Plan, behave: Behave
) -> None:
    """Of NFS it said so, and had looked at nothing."""
    behave(lambda summary: None)
    [found] = trial.list_trials(campaign.run(single, "demo", testbed=Exported(bed)).folder)
    assert found.record.mount["stacked"] == {"program": "nfsd"}
    assert not any("copy" in check.detail for check in found.record.checks)


class Poked(ScriptedWorkload):
    """Work that can be poked."""

    def __init__(self, fail: bool) -> None:
        super().__init__("webserver", lambda summary: None)
        self.poked: list[float] = []
        self._fail = fail

    def events(self) -> dict[str, Callable[[], None]]:
        return {"poke": self._poke}

    def _poke(self) -> None:
        self.poked.append(time.monotonic())
        if self._fail:
            raise FsgreenError("nobody is there")


def poking(plan: design.Plan, at_s: float, do: str = "poke") -> design.Plan:
    events = (PlannedEvent("measure", at_s, do),)
    return replace(plan, profile=replace(plan.profile, events=events))


@pytest.mark.usefixtures("data", "patient")
def test_an_event_is_done_in_its_phase_and_its_time_is_kept(
    bed: testbeds.Testbed, single: design.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What power did when the cable came out is found by the time at which it did."""
    workload = Poked(fail=False)
    monkeypatch.setattr(fitting, "load_workload", lambda *_: workload)
    [found] = trial.list_trials(campaign.run(poking(single, 0.5), "demo", testbed=bed).folder)
    [event] = found.record.events
    measure = found.phase("measure")
    assert (event.name, event.phase, event.at_s, event.fault) == ("poke", "measure", 0.5, None)
    assert measure.start_s <= event.start_s <= workload.poked[-1] <= event.end_s <= measure.end_s
    assert any("poke at" in check.detail for check in found.record.checks if check.ok)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(("fail", "at_s", "why"), [(True, 0.5, "nobody"), (False, 9.0, "ended")])
def test_a_trial_without_its_event_does_not_count(
    fail: bool,
    at_s: float,
    why: str,
    bed: testbeds.Testbed,
    single: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fitting, "load_workload", lambda *_: Poked(fail))
    monkeypatch.setattr(drive, "ATTEMPTS", 1)
    with pytest.raises(FsgreenError, match="broke a rule"):
        campaign.run(poking(single, at_s), "demo", testbed=bed)
    [found] = trial.list_invalid(campaign.Campaign("demo").folder)
    assert "rule 20: poke at" in str(found.record.reason)
    assert why in str(found.record.reason)


@pytest.mark.usefixtures("data")
def test_an_event_that_nothing_offers_is_refused_before_the_first_trial(
    bed: testbeds.Testbed, single: design.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "load_workload", lambda *_: Poked(fail=False))
    with pytest.raises(FsgreenError, match="unknown event 'pook', did you mean poke"):
        campaign.run(poking(single, 1.0, "pook"), "demo", testbed=bed)
    assert trial.list_invalid(campaign.Campaign("demo").folder) == []


def test_two_events_of_one_name_are_refused() -> None:
    with pytest.raises(FsgreenError, match="poke is offered twice"):
        offered([Poked(fail=False), Poked(fail=False), object()])


def test_events_of_other_phases_are_left_alone_and_late_ones_are_told() -> None:
    happened: list[str] = []
    done = threading.Event()
    known = {"a": lambda: happened.append("a"), "b": done.set}
    planned = [PlannedEvent("flush", 0.0, "a"), PlannedEvent("idle", 0.0, "b")]
    planned.append(PlannedEvent("idle", 1e6, "a"))
    with during(planned, {"idle": time.monotonic()}, known) as events:
        assert done.wait(LIMIT_S)
    assert happened == []
    assert [event.fault for event in events] == [None, "the phase ended before"]


@pytest.mark.usefixtures("data")
def test_a_workload_that_failed_costs_its_trial_and_not_the_campaign(
    behave: Behave, bed: testbeds.Testbed, single: design.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed fio is no reason to lose the night."""

    def fail(summary: dict[str, Any]) -> None:
        raise WorkloadFailed("the command was ended by SIGKILL")

    behave(fail)
    monkeypatch.setattr(drive, "ATTEMPTS", 1)
    with pytest.raises(FsgreenError, match="1 of 1 trials broke a rule"):
        campaign.run(single, "demo", testbed=bed)
    [found] = trial.list_invalid(campaign.Campaign("demo").folder)
    assert found.record.reason == "the command was ended by SIGKILL"
    assert found.record.workload is None


@pytest.mark.usefixtures("data")
def test_a_trial_that_never_counts_is_left_out_after_its_last_attempt(
    behave: Behave,
    bed: testbeds.Testbed,
    plan: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each start would add its copies, until the disk is full of trials that do not count."""
    behave(lambda summary: summary.update(errors={"EIO": 1}))
    monkeypatch.setattr(drive, "COPIES", 3)
    monkeypatch.setattr(drive, "ATTEMPTS", 2)
    folder = campaign.Campaign("demo").folder
    single = replace(plan, trials=plan.trials[:1])
    for copies in (2, 3, 3):
        with pytest.raises(FsgreenError, match="1 of 1 trials broke a rule each time"):
            campaign.run(single, "demo", testbed=bed)
        assert len(trial.list_invalid(folder)) == copies
    name = single.trials[0].trial
    assert f"{name} is left out: 3 attempts at it broke a rule" in capsys.readouterr().out
    behave(lambda summary: None)
    be_patient(monkeypatch)
    shutil.rmtree(folder / "invalid")
    campaign.run(single, "demo", testbed=bed)
    assert [found.name for found in trial.list_trials(folder)] == [name]


@pytest.mark.usefixtures("data")
def test_a_campaign_whose_folder_vanishes_ends_with_what_to_do(
    behave: Behave, bed: testbeds.Testbed, plan: design.Plan
) -> None:
    """It would go on in a folder without a plan."""
    folder = campaign.Campaign("demo").folder
    behave(lambda summary: shutil.rmtree(folder))
    with pytest.raises(FsgreenError) as caught:
        campaign.run(plan, "demo", testbed=bed)
    assert caught.value.what == f"something vanished under the campaign: {folder}"
    assert caught.value.next_step
