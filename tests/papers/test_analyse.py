"""cells.csv, effects.csv and trust.csv of a campaign that was reduced from raw folders."""

import numpy as np
import pandas as pd
import pytest
import synthetic

from fsgreen import design, paths, reduce, stats
from fsgreen.analysis import interactions, standard
from fsgreen.analysis.cells import cells_table
from fsgreen.papers import judging
from fsgreen.papers.fast10 import figures, numbers


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    synthetic.write_raw("small", synthetic.make_plan(blocks=5))
    reduce.write("small")
    standard.write("small")
    return "small"


def test_rows_per_cell_and_rule(campaign):
    """Two cells; the rules are judged on the tables that were just written."""
    cells = reduce.read_table(campaign, "cells")
    assert cells["n"].tolist() == [5, 5]
    assert cells["throughput_ops_s"].tolist() == pytest.approx([100, 100])
    trust = reduce.read_table(campaign, "trust").set_index("rule")
    assert len(trust) == 52
    assert trust.loc[26, "state"] == "quiet"
    assert "modelled" in trust.loc[19, "found"]


def test_a_missing_trial_breaks_its_block(campaign):
    """Rules 3 and 26: the trust page must not say that blocks are complete."""
    folder = next((paths.raw(campaign) / "trials").iterdir())
    folder.rename(paths.raw(campaign) / "away")
    reduce.write(campaign)
    standard.write(campaign)
    trust = reduce.read_table(campaign, "trust").set_index("rule")
    assert trust.loc[[3, 26], "state"].eq("fired").all()


def test_what_stands_beside_published_numbers_is_of_one_state(tmp_path, monkeypatch):
    """Warm caches measured too: they must neither be mixed with cold ones nor stop the figures."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    cold = synthetic.cells(["webserver"], ["ext3", "xfs"], ["default", "noatime"])
    warm = [cell.but(cache="warm") for cell in cold]

    synthetic.write_raw("two", synthetic.make_plan([*cold, *warm], blocks=5))
    reduce.write("two")
    standard.write("two")
    judging.write("two")
    interactions.write("two")
    figures.write("two")
    table = pd.read_csv(paths.results("two") / "tables" / "then_and_now.csv")
    assert len(table) == len(table.drop_duplicates(["workload", "file system", "option"])) == 1
    shown = numbers.numbers("two")
    assert "4 cells that were measured in another state" in shown["not_run"][-1]
    assert [leader[0] for leader in shown["leaders"]] == ["webserver"]


@pytest.mark.parametrize(("device_b_s", "state"), [(1e6, "quiet"), (1e5, "fired")])
def test_more_bytes_than_the_device_came_from_memory(tmp_path, monkeypatch, device_b_s, state):
    """Rule 42: 409,600 B/s against a device of 1 MB/s, and of 0.1 MB/s."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    probes = {"offset": [{"offset_b": 0, "pass": 0, "bandwidth_b_s": device_b_s}]}
    synthetic.write_raw("small", synthetic.make_plan(), probes=probes)
    reduce.write("small")
    standard.write("small")
    assert reduce.read_table("small", "trust").set_index("rule").loc[42, "state"] == state


def test_a_wide_cell_says_how_many_trials_it_needs():
    """Rules 27 and 28: target missed, and the n that would reach it."""
    of = [design.Cell(workload="webserver", file_system="ext2")]
    cells = cells_table(synthetic.trials_frame(of, scatter=0.2), synthetic.BOUNDS)
    assert not cells["target_met"].item()
    assert cells["needed_count"].item() > 20


def test_the_energy_may_need_more_trials_than_the_throughput():
    """Rule 28 asks for as many as the target takes, which both must reach."""
    trials = synthetic.trials_frame(
        [design.Cell(workload="webserver", file_system="ext2")], scatter=0.001
    )
    trials["energy_j"] *= [0.9, 1.1, 1.0, 0.85, 1.15]
    cell = cells_table(trials, synthetic.BOUNDS).iloc[0]
    assert cell["target_met"]
    assert cell["needed_count"] == stats.trials_needed(trials["energy_j"]) > cell["n"]


def test_trials_too_short_to_judge_are_not_called_steady():
    """Rule 24: where nothing could be seen, nothing was found."""
    trials = synthetic.trials_frame([design.Cell(workload="oltp", file_system="ext2")]).assign(
        steady="too short"
    )
    assert np.isnan(cells_table(trials, synthetic.BOUNDS)["steady_percent"].item())


def test_an_unsteady_cell_is_inconsistent():
    """Rule 24: most trials without steady state are no mean."""
    trials = synthetic.trials_frame([design.Cell(workload="oltp", file_system="ext2")])
    trials.loc[:2, "steady"] = "no steady state"
    cells = cells_table(trials, synthetic.BOUNDS)
    assert cells["state"].item() == "inconsistent"
    assert cells["steady_percent"].item() == pytest.approx(40)
