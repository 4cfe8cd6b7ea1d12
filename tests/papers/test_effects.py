"""Comparisons of a campaign: what is told apart, what is equal, and what stays open."""

import pytest
import synthetic

from fsgreen.papers.effects import Config, effects_table, outcome
from fsgreen.papers.fast10.analyse import comparisons

CELLS = synthetic.cells(["webserver", "oltp"], ["ext3", "xfs"], ["default", "dtlg", "blk1k"])


def effects(**frame):
    trials = synthetic.trials_frame(CELLS, **frame)
    return effects_table(trials, comparisons(trials), synthetic.BOUNDS)


def test_options_meet_their_default_and_defaults_each_other():
    """Four options per workload and one pair of defaults, each for both metrics."""
    table = effects()
    assert table.groupby("kind").size().to_dict() == {"file system": 4, "option": 16}
    options = table[table["kind"] == "option"]
    assert (options["file_system"] == options["baseline_file_system"]).all()
    assert (options["baseline_option"] == "default").all()


def test_number_dash_and_question_mark():
    """A large effect is different, a quiet none is equivalent, a noisy one stays open."""
    quiet = effects(speed={"webserver-ext3-dtlg": 0.7}, scatter=0.005)
    rows = quiet[quiet["metric"] == "throughput"].set_index(["workload", "file_system", "option"])
    changed = rows.loc[("webserver", "ext3", "dtlg")]
    assert changed["outcome"] == "different"
    assert changed["change_percent"] == pytest.approx(-30, abs=2)
    assert rows.loc[("oltp", "ext3", "dtlg")]["outcome"] == "equivalent"
    assert "equivalent" not in set(effects(scatter=0.3)["outcome"])


def test_few_trials_decide_nothing():
    """Rule 26: below the minimum neither a number nor a dash is shown."""
    assert set(effects(blocks=3, scatter=0.001)["outcome"]) == {"inconclusive"}
    assert outcome(4, 0.001, 0.001, synthetic.BOUNDS) == "inconclusive"


def test_families_are_adjusted_together():
    """Rule 38: one workload, metric and kind share the error; raw values stay beside."""
    table = effects(scatter=0.05)
    assert (table["difference_holm_p"] >= table["difference_p"]).all()
    assert (table["difference_holm_p"] > table["difference_p"]).any()


def test_no_pairs_no_rows():
    """A campaign of one cell has an empty table, not a crash."""
    trials = synthetic.trials_frame(synthetic.cells(file_systems=["xfs"]))
    assert effects_table(trials, comparisons(trials), synthetic.BOUNDS).empty


def test_configurations_are_written_and_read():
    """`ext3/dtlg` in the declaration of claims is that cell."""
    assert Config.parse("ext3/dtlg") == Config("ext3", "dtlg")
    assert str(Config.parse("xfs")) == "xfs/default"
