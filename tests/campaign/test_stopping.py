"""A campaign ends cells by its trials alone, however often it was stopped meanwhile."""

from __future__ import annotations

import io
import json
import os
import random
import shutil
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import synthetic

from fsgreen import campaign, trial
from fsgreen.campaign import drive
from fsgreen.design import Cell, Plan, PlannedTrial
from fsgreen.errors import FsgreenError

CELLS = [
    Cell(workload="webserver", file_system="ext3"),
    Cell(workload="webserver", file_system="xfs"),
    Cell(workload="webserver", file_system="xfs", option="blk1k"),
]
LEAST, MOST = 3, 6
NIGHTLY = "FSGREEN_NIGHTLY" in os.environ

Act = Callable[[PlannedTrial], str | None]


def ops_of(planned: PlannedTrial) -> int:
    """The option scatters for good, the others stay within a per cent."""
    scatter = 0.4 if planned.cell["option"] == "blk1k" else 0.01
    return round(1000 * (1 + random.Random(planned.trial).uniform(-scatter, scatter)))


@pytest.fixture
def plan() -> Plan:
    return synthetic.make_plan(CELLS, LEAST, MOST)


@pytest.fixture
def measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Return a function that runs a campaign whose trials are written, not measured."""
    return measuring(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def ended_before(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The data of a campaign `demo` that was measured to its end, and what was shown meanwhile."""
    data, shown = tmp_path_factory.mktemp("data"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(shown):
        measuring(data, patch)("demo", synthetic.make_plan(CELLS, LEAST, MOST))
    return data, shown.getvalue()


@pytest.fixture
def demo(ended_before: tuple[Path, str], tmp_path: Path, measure: Callable[..., list[str]]) -> str:
    """Give a copy of it to a test, and what was shown."""
    data, shown = ended_before
    shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    return shown


def measuring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Return what `measure` gives, for campaigns in a folder until the patch ends.

    `act` is called for each trial; it may interrupt, or return why the trial does not count.
    """
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    monkeypatch.setattr(drive, "load_workloads", lambda plan, testbed: {})
    monkeypatch.setattr(drive, "open_meters", lambda meters, device: {})

    def run(name: str, plan: Plan, act: Act = lambda planned: None) -> list[str]:
        order: list[str] = []

        def run_trial(context: Any, planned: PlannedTrial) -> str | None:
            order.append(planned.trial)
            reason = act(planned)
            if reason is None:
                folder = campaign.Campaign(name).folder
                synthetic.write_trial(folder, name, plan, planned, ops=ops_of(planned))
            return reason

        monkeypatch.setattr(drive, "run_trial", run_trial)
        here = SimpleNamespace(campaign=campaign.Campaign(name), plan=plan)
        monkeypatch.setattr(drive, "open_context", lambda *given, **named: here)
        testbed = SimpleNamespace(
            device_name=None, simulator=lambda: None, counters=lambda: None, describe=dict
        )
        campaign.run(plan, name, testbed=testbed)  # type: ignore[arg-type]
        return order

    return run


def record(name: str) -> dict[str, Any]:
    return json.loads((campaign.Campaign(name).folder / "stopping.json").read_text())


def ended(name: str) -> dict[str, str | None]:
    return {entry["cell"]: entry["ended"] for entry in record(name)["cells"]}


def names(name: str) -> list[str]:
    return [found.name for found in trial.list_trials(campaign.Campaign(name).folder)]


@pytest.mark.usefixtures("demo")
def test_the_calm_cell_ends_the_wide_one_goes_on_and_the_record_says_why(plan: Plan) -> None:
    kept = record("demo")
    assert ended("demo") == {
        "webserver-ext3-default": "target",
        "webserver-xfs-blk1k": "maximum",
        "webserver-xfs-default": "target",
    }
    assert [entry["n"] for entry in kept["cells"]] == [MOST, MOST, MOST]
    assert [entry["block"] for entry in kept["blocks"]] == list(range(LEAST + 1, MOST + 1))
    assert all(entry["open"] == ["webserver-xfs-blk1k"] for entry in kept["blocks"])
    assert kept["cells"][0]["throughput_half_width_percent"] < 5
    assert kept["plan_hash"] == plan.hash
    assert campaign.Campaign("demo").pending() == []


def test_calm_cells_alone_end_with_the_minimum(measure: Callable[..., list[str]]) -> None:
    calm = synthetic.make_plan(CELLS[:2], LEAST, MOST)
    assert len(measure("demo", calm)) == 2 * LEAST
    assert set(ended("demo").values()) == {"target"}
    assert record("demo")["blocks"] == []


@pytest.mark.parametrize("seed", range(3 if NIGHTLY else 1))
def test_stopped_at_any_trial_it_measures_and_decides_the_same(
    demo: str, measure: Callable[..., list[str]], plan: Plan, seed: int
) -> None:
    moments = random.Random(seed)
    while True:
        left = moments.randint(1, 4 if NIGHTLY else 8)

        def interrupt(planned: PlannedTrial) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

        try:
            measure("cut", plan, interrupt)
        except KeyboardInterrupt:
            continue
        break
    assert names("cut") == names("demo")
    assert record("cut") == record("demo")


@pytest.mark.usefixtures("demo")
def test_a_second_start_writes_nothing(measure: Callable[..., list[str]], plan: Plan) -> None:
    folder = campaign.Campaign("demo").folder
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    assert measure("demo", plan) == []
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*")} == before


def test_a_trial_that_never_counts_holds_back_what_it_would_decide(
    measure: Callable[..., list[str]], plan: Plan
) -> None:
    """Rule 3: no block beyond the minimum before those in it are whole."""
    bad = plan.trials[1].trial

    def refuse(planned: PlannedTrial) -> str | None:
        return "rule 10: busy" if planned.trial == bad else None

    with pytest.raises(FsgreenError, match=f"1 of 9 trials broke a rule each time: {bad}"):
        measure("demo", plan, refuse)
    least = [planned.trial for planned in plan.trials if planned.block <= LEAST]
    assert sorted(names("demo")) == sorted(set(least) - {bad})
    assert record("demo")["blocks"] == []
    order = measure("demo", plan)
    assert order[0] == bad
    assert ended("demo")["webserver-xfs-blk1k"] == "maximum"


def test_a_machine_on_which_nothing_counts_does_not_cost_days(
    measure: Callable[..., list[str]],
) -> None:
    """Nor do as many trials that are refused here and there."""
    many = synthetic.make_plan(CELLS, 20)
    some, tried = drive.IN_A_ROW - 1, []

    def now_and_then(planned: PlannedTrial) -> str | None:
        tried.append(planned.trial)
        bad = planned.trial != many.trials[some].trial
        return "rule 9: speed of a core -50.0 %" if bad else None

    with pytest.raises(FsgreenError, match="10 trials in a row broke a rule each time: b04-002"):
        measure("demo", many, now_and_then)
    assert len(set(tried)) == some + 1 + drive.IN_A_ROW
    assert len(names("demo")) == 1


def test_a_plan_without_a_maximum_has_no_such_record(
    measure: Callable[..., list[str]],
) -> None:
    fixed = synthetic.make_plan(CELLS, 2)
    assert measure("demo", fixed) == [planned.trial for planned in fixed.trials]
    assert not (campaign.Campaign("demo").folder / "stopping.json").exists()


@pytest.mark.usefixtures("demo")
def test_what_decides_is_what_the_tables_say(plan: Plan) -> None:
    from fsgreen import reduce

    campaign.Campaign("demo").keep_identity({"testbed": {"kind": "loop"}})
    reduce.write("demo")
    trials = reduce.read_table("demo", "trials").set_index("trial")
    for name, found in campaign.Campaign("demo").measured().items():
        assert found.work_ops == trials.loc[name, "work_ops"]
        assert found.energy_j == pytest.approx(trials.loc[name, "energy_j"])
        assert found.duration_s == pytest.approx(trials.loc[name, "duration_s"])
    due = reduce.due_trials(plan, reduce.read_table("demo", "trials"))
    assert [planned.trial for planned in due] == names("demo")


def test_the_time_to_go_is_in_the_bar(demo: str) -> None:
    assert "to the end of block 3" in demo
    assert "18 of 18" in demo
    assert "to go" in demo
