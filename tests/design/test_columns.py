"""A factor is a column of the tables, so none may be called as another column is."""

from __future__ import annotations

from pathlib import Path

import pytest
import synthetic

from fsgreen import paths, reduce
from fsgreen.analysis import interactions, standard
from fsgreen.design import columns, factors, metrics, read_study
from fsgreen.design.factors import Factor
from fsgreen.errors import FsgreenError

TABLES = ("trials", "series", "latency", "finishes", "power_over_time", "cells", "effects")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The columns of each table of a campaign."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(tmp_path_factory.mktemp("data")))
        cells = synthetic.cells(options=("default", "noatime"))
        synthetic.write_raw("small", synthetic.make_plan(cells, blocks=5))
        reduce.write("small")
        standard.write("small")
        interactions.write("small")
        return {
            file.name: file.read_text().partition("\n")[0].split(",")
            for file in paths.results("small").glob("*.csv")
            if file.stem in (*TABLES, "interactions")
        }


def test_no_column_of_a_table_can_be_the_name_of_a_factor(written: dict[str, list[str]]) -> None:
    """Its levels would be overwritten by the numbers of that column, or these by its levels."""
    assert len(written) == len(TABLES) + 1
    free = {
        name
        for names in written.values()
        for name in names
        if name not in factors.names() and not columns.table_with(name)
    }
    # Those of a pair have the name of a factor in them.
    free = {name for name in free if not name.startswith(("baseline_", "candidate_"))}
    assert [name for name in sorted(free) if not metrics.called(name)] == []


@pytest.mark.parametrize("name", ["throughput", "throughput_low_ops_s", "cell", "energy_disk_j"])
def test_such_a_name_is_refused_of_a_new_factor(name: str) -> None:
    with pytest.raises(FsgreenError, match=f"no factor can be called {name}") as caught:
        factors.declare_new([Factor(name, "workload")])
    assert f"own_{name}" in caught.value.next_step
    assert name not in factors.names()


def test_a_metric_may_be_the_mean_of_a_column(tmp_path: Path) -> None:
    """As `duration` and `latency_p99` are."""
    text = paths.study("fast10").read_text()
    mean = "metrics: [{name: flush_duration, above: flush_duration_s, unit: s}]\n"
    file = tmp_path / "own.yaml"
    file.write_text(text + mean)
    assert read_study(file).metrics == ("flush_duration",)
    file.write_text(text + "metrics: [{name: idle_power, above: settle_s, unit: w}]\n")
    with pytest.raises(FsgreenError, match=r"idle_power_w, which is one of trials\.csv already"):
        read_study(file)
