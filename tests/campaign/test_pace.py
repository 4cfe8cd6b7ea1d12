"""The time to go is told by the trials that were seen, those that did not count included."""

from __future__ import annotations

import pytest
import synthetic

from fsgreen import trial
from fsgreen.campaign.pace import Pace
from fsgreen.design import Cell

MAIL, WEB, NEW = (
    Cell(workload="varmail", file_system="xfs"),
    Cell(workload="webserver", file_system="xfs"),
    Cell(workload="oltp", file_system="xfs"),
)


@pytest.fixture
def pace() -> Pace:
    return Pace(synthetic.make_plan([MAIL, WEB, NEW]))


def test_before_any_trial_the_plan_says_how_long_one_takes(pace: Pace) -> None:
    assert pace.total_s([MAIL, WEB]) == 2 * (2 * 1 + 1 + 10)


def test_a_cell_takes_what_it_took_and_an_unseen_one_what_its_workload_took(pace: Pace) -> None:
    pace.add(MAIL, 20, counts=True)
    pace.add(WEB, 60, counts=True)
    assert pace.total_s([MAIL]) == 20
    assert pace.total_s([Cell(workload="varmail", file_system="ext2")]) == 20
    assert pace.total_s([NEW]) == 40, "what any trial took"
    assert pace.total_s([MAIL, WEB, NEW]) == 120


def test_attempts_that_do_not_count_cost_time(pace: Pace) -> None:
    pace.add(MAIL, 20, counts=False)
    assert pace.total_s([MAIL]) == 13, "nothing counted yet"
    pace.add(MAIL, 30, counts=True)
    assert pace.total_s([MAIL]) == 50


def test_a_campaign_that_goes_on_knows_its_trials(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    plan = synthetic.make_plan()
    folder = synthetic.write_raw("small", plan)
    pace = Pace.of(plan, trial.list_trials(folder))
    assert pace.total_s(plan.cells) == 2 * 23
