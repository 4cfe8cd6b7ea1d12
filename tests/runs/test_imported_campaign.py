"""A campaign of imported runs: its cells, its comparisons, and what its rules cannot tell."""

import hashlib
import math
import re

import numpy as np
import pandas as pd
import pytest
import synthetic

import fsgreen
from fsgreen import confounds, paths, reduce
from fsgreen.analysis import standard
from fsgreen.campaign import Campaign, status
from fsgreen.design.imported import decided
from fsgreen.errors import FsgreenError
from fsgreen.generic import figures as generic
from fsgreen.runs import ImportedRuns

pytestmark = pytest.mark.usefixtures("data")

OF_METERS = re.compile(r"(power|energy)_(system|disk)_[wj]")
"""Columns of the meters of the measured campaign beside."""


def runs_of(ext4, xfs, **more):
    """A table of runs of two file systems, by their operations in a second."""
    return pd.DataFrame(
        {
            "file_system": ["ext4"] * len(ext4) + ["xfs"] * len(xfs),
            "throughput_ops_s": [*ext4, *xfs],
            **more,
        }
    )


def analysed(runs, name="mine", boundary="no energy"):
    """The campaign that is made of a table of runs, analysed."""
    table = runs.assign(trial=[f"r{nth}" for nth in range(len(runs))])
    table["workload"] = table.get("workload", "runs")
    source = {"file": "a.csv", "kept": "files/a.csv", "decisions": []}
    source["sha256"] = hashlib.sha256(b"a").hexdigest()
    ImportedRuns("a format", table, pd.DataFrame(), (source,), (b"a",), boundary).keep(name, "Mine")
    reduce.write(name)
    confounds.write(name)
    standard.write(name)
    return fsgreen.open(name)


def test_rates_without_their_totals_are_averaged_harmonically():
    """60 and 30 a second over the same work are 40, not 45."""
    cells = analysed(runs_of([60.0, 30.0], [40.0, 40.0])).cells
    assert cells["throughput_ops_s"].tolist() == pytest.approx([40, 40])
    assert cells["n"].tolist() == [2, 2]
    assert not cells["enough"].any()


def test_rates_with_their_totals_are_total_over_total():
    table = pd.DataFrame({"work_ops": [100, 300], "duration_s": [1.0, 2.0]})
    table["throughput_ops_s"] = table["work_ops"] / table["duration_s"]
    assert analysed(table).cells["throughput_ops_s"].tolist() == pytest.approx([400 / 3])


def test_mean_power_is_a_mean():
    """Half the runs at 10 W and half at 30 W draw 20 W, which no harmonic mean says."""
    table = pd.DataFrame({"power_w": [10.0, 30.0]})
    assert analysed(table, boundary="wall").cells["power_w"].tolist() == [20]


def test_missing_values_leave_their_column_only():
    table = runs_of([10.0, math.nan, 12.0], [11.0], energy_j=[1.0, 2.0, 3.0, 4.0])
    cells = analysed(table, boundary="wall").cells.set_index("file_system")
    assert cells.loc["ext4", "n"] == 3
    assert cells.loc["ext4", "throughput_ops_s"] == pytest.approx(2 / (1 / 10 + 1 / 12))
    assert cells.loc["ext4", "energy_j"] == 2


def test_two_cells_are_compared_by_welch_where_no_blocks_are_known():
    """By hand: logs 0, 0.1, 0.2, 0.3, 0.4 and these + 1: t = 1 / sqrt(0.01) with 8 degrees."""
    logs = np.arange(5) / 10
    (row,) = analysed(runs_of(np.exp(logs), np.exp(1 + logs))).effects.to_dict("records")
    assert (row["file_system"], row["baseline_file_system"]) == ("ext4", "xfs")
    assert row["model"] == "Welch"
    assert row["ratio_x"] == pytest.approx(math.exp(-1))
    assert row["ratio_high_x"] == pytest.approx(math.exp(-1 + 2.306 * 0.1), rel=1e-4)
    assert row["difference_p"] == pytest.approx(8.488e-06, rel=1e-3)
    assert row["outcome"] == "different"
    assert row["gate"] == "unknown"


@pytest.mark.parametrize("first", [0, 1])
def test_runs_of_the_same_blocks_are_compared_inside_them(first):
    """Drift that hits both is no scatter of their ratio, from whatever number blocks count."""
    drift = np.array([1, 2, 4, 8, 16.0])
    noise = np.array([1, 1.01, 0.99, 1.01, 0.99])
    table = runs_of(100 * drift, 110 * drift * noise, block=[*range(first, first + 5)] * 2)
    (row,) = analysed(table).effects.to_dict("records")
    assert row["ratio_high_x"] < 0.93
    (unpaired,) = analysed(table.drop(columns="block"), "other").effects.to_dict("records")
    assert unpaired["ratio_low_x"] < 1 < unpaired["ratio_high_x"]


def test_few_runs_conclude_nothing_and_no_runs_are_ever_equal():
    (row,) = analysed(runs_of([1.0, 1.01], [5.0, 5.01])).effects.to_dict("records")
    assert row["difference_p"] < 0.01
    assert row["outcome"] == "inconclusive"
    (same,) = analysed(runs_of([1.0] * 6, [1.0] * 6), "other").effects.to_dict("records")
    assert (same["ratio_x"], same["outcome"]) == (1, "inconclusive")
    assert math.isnan(same["bound_percent"])


def test_a_single_run_has_a_value_and_no_interval():
    mine = analysed(pd.DataFrame({"duration_s": [3.0]}))
    (cell,) = mine.cells.to_dict("records")
    assert (cell["duration_s"], cell["n"]) == (3, 1)
    assert math.isnan(cell["duration_low_s"])
    assert mine.effects.empty


def test_workloads_are_not_compared_with_each_other_nor_in_what_one_lacks():
    rates = [1.0] * 6 + [math.nan] * 6
    table = runs_of([1.0] * 6, [2.0] * 6, workload=["web"] * 6 + ["mail"] * 6)
    assert analysed(table).effects.empty
    table = runs_of([1.0] * 6, rates[6:], duration_s=[1.0] * 12)
    assert set(analysed(table, "other").effects["metric"]) == {"duration"}


def test_a_level_that_some_runs_do_not_name_is_none_of_theirs():
    """As of two tables of which one has a column more."""
    table = pd.DataFrame({"file_system": "ext4", "duration_s": np.arange(10.0) + 1})
    mine = analysed(table.assign(option=["noatime"] * 5 + [math.nan] * 5))
    assert mine.cells.groupby("option")["n"].first().to_dict() == {"default": 5, "noatime": 5}
    other = analysed(table.assign(cache=["warm"] * 5 + [math.nan] * 5), "other")
    assert set(other.cells["cache"]) == {"warm", "not recorded"}


def test_a_default_is_the_baseline():
    options = ["aaa"] * 5 + ["default"] * 5 + ["zzz"] * 5
    effects = analysed(pd.DataFrame({"option": options, "duration_s": np.arange(15.0) + 1})).effects
    assert set(effects["baseline_option"]) == {"default"}
    assert set(effects["option"]) == {"aaa", "zzz"}


def test_levels_that_look_like_numbers_stay_names():
    rows = {"option": ["1"] * 5 + ["2"] * 5, "throughput_ops_s": [*range(1, 6), *range(11, 16)]}
    (row,) = analysed(pd.DataFrame(rows)).effects.to_dict("records")
    assert {row["option"], row["baseline_option"]} == {"1", "2"}


def test_the_rules_say_what_an_import_cannot_tell():
    mine = analysed(runs_of([1.0, 1.1], [2.0, 2.1]))
    trust = mine.trust.set_index("rule")
    untold = [1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20, 23, 25, 27, 29, 37, 39]
    assert set(trust.loc[untold, "state"]) == {"unknown"}
    assert trust.loc[26, "state"] == "fired"
    assert trust.loc[22, "state"] == "quiet"
    assert trust.loc[19, "found"] == "the runs have no energy"
    assert not trust["found"].str.contains("older version").any()
    assert {row["baseline_file_system"] for row in mine.effects.to_dict("records")} == {"xfs"}


def test_a_file_that_was_changed_after_the_import_is_told():
    analysed(runs_of([1.0], [2.0]))
    (paths.raw("mine") / "files/a.csv").write_bytes(b"b")
    with pytest.raises(FsgreenError, match=r"files/a.csv: its hash is not the one recorded"):
        reduce.write("mine")
    standard.write("mine")
    assert fsgreen.open("mine").trust.set_index("rule").loc[22, "state"] == "fired"


def test_status_tells_of_runs_and_the_records_that_they_lack():
    mine = analysed(runs_of([1.0] * 6, [2.0]))
    lines = "\n".join(status(Campaign("mine")))
    assert "7 runs of 2 cells, imported from 1 file" in lines
    assert "fewer than 5 runs (rule 26) in 1 cell: runs/xfs 1" in lines
    with pytest.raises(FsgreenError, match="no records and no traces"):
        mine.trace("r0")


def test_the_columns_are_those_of_a_measured_campaign():
    """Whatever reads trials.csv finds its columns, also where they are empty."""
    synthetic.write_raw("measured", synthetic.make_plan())
    analysed(runs_of([1.0], [2.0]))
    for name in ("measured", "mine"):
        reduce.write(name)
    for table in ("trials", "series", "latency", "finishes", "power_over_time"):
        measured, mine = (set(reduce.read_table(name, table)) for name in ("measured", "mine"))
        assert mine <= measured
        assert {column for column in measured - mine if not OF_METERS.match(column)} == set()


def test_what_was_decided_of_files_is_told_once_with_the_files_in_front():
    """A hundred files of one program repeat one sentence a hundred times otherwise."""
    decisions = {
        "a.csv": ["X."],
        "b.csv": ["X.", "Y."],
        "c.csv": ["X.", "Z."],
        "d.csv": ["X.", "Z."],
    }
    files = [{"file": name, "decisions": said} for name, said in decisions.items()]
    assert [*decided({"files": files})] == ["all files: X.", "b.csv: Y.", "2 files: Z."]


def test_remedies_fit_runs_that_nobody_can_measure_again_here():
    told = analysed(runs_of([1.0, 1.1], [2.0, 2.1])).trust.set_index("rule")["remedy"]
    assert told[26].endswith("fsgreen import-runs FILE ... --name mine-2")
    assert set(told[[1, 9, 37]]) == {
        "imported files cannot tell; fsgreen measure records it: docs/studies.md"
    }
    assert told[29] == "fsgreen notebook 60_analyse -p campaign mine"
    assert not told[[19, 22]].str.contains("measure").any()


def test_a_table_of_cells_has_the_metrics_that_the_runs_know():
    """A column of "not known", or on steadiness, for which no run has a series, tells nothing."""
    analysed(pd.DataFrame({"duration_s": [3.0, 4.0], "energy_j": [9.0, 8.0]}), boundary="wall")
    generic.write("mine")
    table = pd.read_csv(paths.results("mine") / "tables/cells.csv")
    assert [*table] == ["workload", "cell", "n", "joules", "seconds"]


def test_runs_that_know_nothing_a_figure_could_show_have_none():
    analysed(pd.DataFrame({"latency_p50_s": [3.0, 4.0]}))
    generic.write("mine")
    assert not [*(paths.results("mine") / "figures").glob("fig_*")]


def test_an_interval_below_nothing_is_shown_from_nothing():
    """Three trials that scatter widely: nothing works less than not at all."""
    cells = analysed(runs_of([1.0, 9.0, 20.0], [40.0, 41.0, 42.0])).cells
    assert cells["throughput_low_ops_s"].min() < 0
    assert generic.any_interval_cut(cells)
    shown = generic.cells_text(cells, ["file_system"])["operations per second"]
    assert "[0, " in shown[0]
    assert "-" not in "".join(shown)
