"""`fsgreen status` says what a person who comes back in the morning asks."""

from __future__ import annotations

import os

import pytest
import synthetic

from fsgreen import campaign, cli, trial
from fsgreen.design import Cell, Plan

CELLS = [
    Cell(workload="webserver", file_system="ext3"),
    Cell(workload="varmail", file_system="xfs"),
]


def begin(name: str, plan: Plan, blocks: int, scatter: float = 0.0) -> str:
    """A campaign measured so far, in which mail scatters; return what its status says."""
    campaign.Campaign(name).adopt(plan)
    folder = campaign.Campaign(name).folder
    for planned in plan.trials:
        if planned.block <= blocks:
            wide = scatter * (-1) ** planned.block if planned.cell["workload"] == "varmail" else 0
            synthetic.write_trial(folder, name, plan, planned, ops=round(1000 * (1 + wide)))
    return shown(name)


def shown(name: str) -> str:
    return "\n".join(campaign.status(campaign.Campaign(name)))


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))


def test_a_campaign_that_has_not_begun() -> None:
    plan = synthetic.make_plan(CELLS, 2)
    campaign.Campaign("new").adopt(plan)
    text = shown("new")
    assert "new: 0 of 4 trials measured, in block 1 (of 2)" in text
    assert "at least 52 s" in text
    assert "left out  reiserfs: it left Linux in 6.13" in text


def test_in_the_middle_it_says_what_is_to_do_and_how_long_by_what_was_seen() -> None:
    text = begin("half", synthetic.make_plan(CELLS, 2), 1)
    assert "half: 2 of 4 trials measured, in block 2 (of 2)" in text
    assert "about 46 s" in text, "each trial took 23 s from its audit to its last phase"
    assert "to do     b02-001-webserver-ext3-default" in text
    assert "ended     0 of 2 cells" in text


def test_it_names_the_blocks_and_minutes_that_would_bring_a_cell_under_the_target() -> None:
    text = begin("wide", synthetic.make_plan(CELLS, 5, 50), 5, scatter=0.05)
    line = next(line for line in text.splitlines() if "to gain" in line)
    blocks = int(line.split()[2])
    assert f"{blocks} more blocks would bring varmail/xfs within ±5 %" in line
    assert f"{blocks * 46} s" in line or f"{blocks * 46 / 60:.0f} min" in line
    assert "throughput is at" in line
    assert "in block 6 (of 5 to 50)" in text
    assert "in blocks that are not decided yet" in text
    assert "another trial buys most" in text
    assert "5 blocks bring a cell that scatters so to " in text


def test_it_says_that_the_plan_ends_before_the_target() -> None:
    text = begin("short", synthetic.make_plan(CELLS, 5), 5, scatter=0.2)
    assert "complete (5 blocks)" in text
    assert "to go" not in text
    assert "; the plan ends with block 5)" in text
    assert "ended     1 of 2 cells within ±5 %, 1 because the plan has no more blocks" in text


def test_the_blocks_for_a_verdict_are_told_beside_those_for_narrow_intervals() -> None:
    """They read as one question with two answers."""
    text = begin("two", synthetic.make_plan(CELLS, 2), 2, scatter=0.1)
    assert "3 more blocks than planned would bring every cell to 5 trials" in text
    assert "would bring varmail/xfs within ±5 %" in text
    assert "than planned" not in begin("five", synthetic.make_plan(CELLS, 5), 5)


def test_trials_that_do_not_count_are_told_with_their_reason() -> None:
    plan = synthetic.make_plan(CELLS, 2)
    begin("bad", plan, 1)
    folder = campaign.Campaign("bad").folder
    planned = plan.trials[-1]
    kept = synthetic.write_trial(
        folder, "bad", plan, planned, exit="invalid", reason="rule 10: others took 9 %"
    )
    (folder / "invalid").mkdir()
    kept.rename(folder / "invalid" / f"{planned.trial}.1")
    text = shown("bad")
    assert f"invalid   {planned.trial}.1: rule 10: others took 9 %" in text
    assert trial.list_invalid(folder)
    assert "2 of 4 trials" in text


def test_a_machine_that_was_never_calm_does_not_fill_the_screen() -> None:
    plan = synthetic.make_plan(CELLS, 2)
    begin("noisy", plan, 1)
    folder = campaign.Campaign("noisy").folder
    planned = plan.trials[-1]
    (folder / "invalid").mkdir()
    for attempt in range(1, 9):
        kept = synthetic.write_trial(
            folder, "noisy", plan, planned, exit="invalid", reason="rule 10: others took 9 %"
        )
        kept.rename(folder / "invalid" / f"{planned.trial}.{attempt}")
    lines = shown("noisy").splitlines()
    assert sum(line.startswith("  invalid") for line in lines) == 5
    assert "            and 3 more" in lines


def test_a_cell_that_varies_the_device_is_named_with_it() -> None:
    aged = Cell(workload="varmail", file_system="xfs", device="aged")
    text = begin("aged", synthetic.make_plan([CELLS[0], aged], 5, 50), 5, scatter=0.05)
    assert "would bring varmail/xfs/aged within" in text


def test_without_a_name_the_campaign_that_measured_last_is_meant(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    assert cli.main(["status"]) == 1
    assert "there is no campaign yet" in capsys.readouterr().err
    for name, measured_s in (("old", 1000), ("new", 2000)):
        folder = synthetic.write_raw(name, synthetic.make_plan())
        for place in (folder / "plan.json", folder / "trials"):
            os.utime(place, (measured_s, measured_s))
    assert campaign.newest() == "new"
