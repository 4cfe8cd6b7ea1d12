"""Factors are declared once, and a study may bring its own: labels, hashes and tables follow."""

import json
import pickle
from pathlib import Path

import pytest
import synthetic
import yaml

from fsgreen import design, paths, reduce
from fsgreen.analysis import standard
from fsgreen.design import Cell, factors
from fsgreen.errors import FsgreenError

DEPTH = {"owner": "workload", "kind": "count", "label": "d{}", "spelling": "depth {:g}"}


@pytest.fixture
def own(tmp_path: Path) -> design.Study:
    """A study with a factor that fsgreen does not know."""
    text = yaml.safe_load(paths.study("fast10").read_text())
    text["factors"] = {"own_depth": DEPTH}
    text["matrices"]["two_file_systems"] |= {"own_depth": [1, 64]}
    text["baseline"]["own_depth"] = 1
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump(text))
    return design.read_study(file)


def test_a_study_brings_a_factor_of_its_own(own: design.Study) -> None:
    """One declaration, and no file of the package is touched."""
    plan = design.make_plan(own, "quick")
    assert plan.baseline.label == "webserver-ext4-default-d1"
    assert {plan.levels(cell)["own_depth"] for cell in plan.cells} == {1, 64}
    assert "own_depth" not in design.make_plan(design.load_study("fast10"), "quick").levels({})


def test_its_plan_can_be_read_where_the_study_is_not_known(own: design.Study) -> None:
    plan = design.make_plan(own, "quick")
    value = json.loads(json.dumps(plan.to_json()))
    assert value["factors"][0]["name"] == "own_depth"
    assert design.Plan.from_json(value, "plan.json") == plan
    assert pickle.loads(pickle.dumps(plan.baseline)) == plan.baseline


def test_its_levels_are_a_column_of_every_table(own: design.Study, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    plan = design.make_plan(own, "quick")
    cells = [plan.baseline, plan.baseline.but(own_depth=64)]
    synthetic.write_raw("deep", synthetic.make_plan(cells, blocks=5, factors=plan.factors))
    reduce.write("deep")
    standard.write("deep")
    assert reduce.read_table("deep", "cells")["own_depth"].tolist() == [1, 64]
    assert "own_depth" in reduce.read_table("deep", "effects")


def test_a_name_means_one_thing() -> None:
    with pytest.raises(FsgreenError, match="declared twice"):
        factors.declare([factors.Factor("option", "device")])
    with pytest.raises(FsgreenError, match="did you mean scheduler"):
        Cell(workload="oltp", sheduler="bfq")


def test_a_cell_is_its_levels_in_the_order_of_their_factors() -> None:
    cell = Cell(queue_depth=1, file_system="xfs", workload="oltp", scheduler=None)
    assert list(cell) == ["workload", "file_system", "option", "queue_depth"]
    assert cell == Cell(**dict(cell)) and hash(cell) == hash(Cell(**dict(cell)))
    assert cell.but(queue_depth=None).label == "oltp-xfs-default"
    assert Cell(workload="raw", disk=float("nan")) == Cell(workload="raw")


@pytest.mark.parametrize(
    ("name", "sound", "wrong"),
    [
        ("readers", [1, 32], [0, -1, 1.5, "8", True]),
        ("load_ops_s", [0.5, 100], ["100", False, float("inf"), float("nan")]),
        ("disk", ["wd200bb"], ["a/b", "", 3]),
        ("cache", ["cold", "warm"], ["hot", 1]),
    ],
)
def test_a_level_is_of_its_kind(name, sound, wrong) -> None:
    factor = factors.get(name)
    assert [factor.check(level) for level in sound] == [None] * len(sound)
    assert all(factor.check(level) for level in wrong)
