"""What a campaign keeps of its first start, refuses at another, and notes of each."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from fsgreen import campaign, design, preflight, testbeds, trial
from fsgreen.campaign import drive, fitting
from fsgreen.errors import FsgreenError
from fsgreen.preflight import Finding

Behave = Callable[[Callable[[dict[str, Any]], None]], None]


def begun_and_broken_off(behave: Behave, plan: design.Plan, bed: testbeds.Testbed) -> None:
    """Begin the campaign `demo`, and break it off in its first trial."""
    behave(lambda summary: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        campaign.run(plan, "demo", testbed=bed)
    behave(lambda summary: None)


def test_an_edited_workload_under_a_campaign_that_began_is_refused_before_it_measures(
    data: Path,
    behave: Behave,
    bed: testbeds.Testbed,
    plan: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither the plan nor the audit knows the text: two workloads would be pooled as one."""
    begun_and_broken_off(behave, plan, bed)
    first = fitting.load_workload("webserver").text_sha256()
    assert campaign.Campaign("demo").identity()["workloads"]["webserver"] == first
    monkeypatch.setattr(type(fitting.load_workload("webserver")), "text", "edited")
    now = fitting.load_workload("webserver").text_sha256()
    with pytest.raises(FsgreenError, match=f"webserver: then {first[:12]}, now {now[:12]}") as told:
        campaign.run(plan, "demo", testbed=bed)
    assert "--name demo-2" in (told.value.next_step or "")
    assert trial.list_trials(campaign.Campaign("demo").folder) == []


@pytest.mark.usefixtures("patient")
def test_a_campaign_older_than_the_texts_goes_on_and_records_them(
    data: Path, behave: Behave, bed: testbeds.Testbed, plan: design.Plan
) -> None:
    single = replace(plan, trials=plan.trials[:1])
    begun_and_broken_off(behave, single, bed)
    begun = campaign.Campaign("demo")
    identity = begun.identity()
    del identity["workloads"]
    trial.write_json(begun.folder / "campaign.json", identity)
    (found,) = trial.list_trials(campaign.run(single, "demo", testbed=bed).folder)
    workload = fitting.load_workload(plan.trials[0].cell["workload"])
    assert found.record.workload_sha256 == workload.text_sha256()


def test_an_edit_in_the_middle_of_a_trial_costs_that_trial(
    data: Path,
    behave: Behave,
    bed: testbeds.Testbed,
    plan: design.Plan,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(drive, "ATTEMPTS", 1)
    scripted = type(fitting.load_workload("webserver"))
    behave(lambda summary: monkeypatch.setattr(scripted, "text", "edited"))
    with pytest.raises(FsgreenError, match="1 of 1 trials broke a rule"):
        campaign.run(replace(plan, trials=plan.trials[:1]), "demo", testbed=bed)
    (found,) = trial.list_invalid(campaign.Campaign("demo").folder)
    assert "rule 9: text of the workload changed: " in found.record.reason


def test_the_preflight_table_of_each_start_is_kept_and_another_one_is_no_other_campaign(
    data: Path, behave: Behave, bed: testbeds.Testbed, plan: design.Plan
) -> None:
    """Rule 10 could not tell afterwards that timers were running, or the clock was wrong."""
    timers = Finding("timers", "cron may start jobs", "warning", "service cron stop")
    fine = Finding("swap", "off", "ok")
    behave(lambda summary: os.kill(os.getpid(), signal.SIGINT))
    for findings in ([timers, fine], [fine]):
        with pytest.raises(KeyboardInterrupt):
            campaign.run(plan, "demo", testbed=bed, preflight=findings)
    starts = campaign.Campaign("demo").identity()["preflight"]
    assert [start["findings"] for start in starts] == [[asdict(timers)], []]


def test_what_the_preflight_table_warns_of_is_printed_before_anything_is_made(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    found = [
        Finding("timers", "cron may start jobs", "warning", "service cron stop"),
        Finding("SMT", "on", "note"),
        Finding("swap", "off", "ok"),
    ]
    looked: list[tuple[Path | None, int]] = []

    def check(*, folder: Path | None, image_b: int) -> list[Finding]:
        looked.append((folder, image_b))
        return found

    monkeypatch.setattr(preflight, "check", check)
    place = campaign.TestbedFile(kind="directory", folder=tmp_path / "missing")
    with pytest.raises(FsgreenError, match="this directory does not exist"):
        campaign.measure("fast10", "quick", place=place)
    said = capsys.readouterr().out
    assert "preflight warning: timers: cron may start jobs -> service cron stop" in said
    assert "SMT" not in said
    assert "swap" not in said
    assert looked == [(tmp_path / "missing", design.load_study("fast10").profiles["quick"].image_b)]
