"""A campaign beside another: what whoever measured a study of their own would read."""

import json

import pytest

from fsgreen import beside, cli, paths
from fsgreen.analysis.beside import cells_beside, refusal
from fsgreen.design import metrics
from fsgreen.errors import FsgreenError
from fsgreen.reduce import write_table
from tests import synthetic

CELLS = synthetic.cells()
BOUNDS = {"minimum_trials": 5, "equivalence_percent": 5}


@pytest.fixture
def campaigns(tmp_path, monkeypatch):
    """Two campaigns of one study: in the second, xfs is a fifth faster."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    for name, speed in {"mine": {}, "theirs": {CELLS[1].label: 1.2}}.items():
        synthetic.write_raw(name, synthetic.make_plan(CELLS, blocks=5))
        write_table(synthetic.trials_frame(CELLS, speed=speed), name, "trials")


def change(name, **values):
    """Change what a campaign says of its place."""
    file = paths.raw(name) / "campaign.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


@pytest.mark.usefixtures("campaigns")
def test_cells_stand_side_by_side_with_what_differs(capsys):
    change("theirs", testbed={"kind": "loop", "scheduler": "bfq"})
    assert cli.main(["compare", "mine", "theirs", "--metric", "throughput"]) == 0
    shown = capsys.readouterr().out
    assert " / bfq\n" in shown
    xfs = next(line for line in shown.splitlines() if "xfs/default" in line)
    assert "0.833x [0.8" in xfs and xfs.endswith("different")
    ext3 = next(line for line in shown.splitlines() if "ext3/default" in line)
    assert ext3.endswith("equivalent")
    assert "neither pooled nor ranked" in shown


@pytest.mark.usefixtures("campaigns")
def test_an_undecided_ratio_says_after_how_many_trials(capsys):
    """Its interval lies clear of 1, and no word said why it decides nothing."""
    few = synthetic.trials_frame(CELLS, blocks=2, speed={CELLS[1].label: 1.2})
    write_table(few, "theirs", "trials")
    assert cli.main(["compare", "mine", "theirs", "--metric", "throughput"]) == 0
    xfs = next(line for line in capsys.readouterr().out.splitlines() if "xfs/default" in line)
    assert xfs.endswith("inconclusive after Holm: 2 trials")


@pytest.mark.usefixtures("campaigns")
def test_watts_of_other_boundaries_are_refused(capsys):
    """Watts at the wall over watts of a processor say nothing of a file system (rule 19)."""
    change("theirs", boundary="wall")
    assert cli.main(["compare", "mine", "theirs"]) == 0
    assert "efficiency is not compared: their meters see different things" in " ".join(
        capsys.readouterr().out.split()
    )
    with pytest.raises(FsgreenError, match="no cell that may be compared in power"):
        list(beside.lines("mine", "theirs", ["power"]))


def test_power_of_two_models_is_refused():
    identities = [
        {"boundary": "modelled", "meters": {"system": {"source": f"model {name}"}}} for name in "ab"
    ]
    assert "different models" in refusal(metrics.EFFICIENCY, identities)
    assert refusal(metrics.EFFICIENCY, [identities[0]] * 2) == ""
    assert refusal(metrics.THROUGHPUT, identities) == ""


@pytest.mark.usefixtures("campaigns")
def test_other_work_under_one_name_is_not_compared():
    change("mine", workloads={"webserver": "a"})
    change("theirs", workloads={"webserver": "b"})
    with pytest.raises(FsgreenError, match="no cell that may be compared"):
        list(beside.lines("mine", "theirs"))


@pytest.mark.usefixtures("campaigns")
def test_a_metric_that_is_none_gets_the_nearest():
    with pytest.raises(FsgreenError, match="did you mean throughput"):
        list(beside.lines("mine", "theirs", ["troughput"]))


def test_a_cell_without_a_steady_state_has_no_mean_to_compare():
    trials = synthetic.trials_frame(CELLS)
    moving = trials.assign(steady="no steady state")
    table = cells_beside([trials, moving], metrics.THROUGHPUT, BOUNDS)
    assert {*table["outcome"]} == {"inconsistent"}
