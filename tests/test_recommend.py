"""Recommendations: what is ranked, what is refused, and what is not said without evidence."""

import argparse
import os
import re

import numpy as np
import pandas as pd
import pytest
import synthetic
from hypothesis import given, settings
from hypothesis import strategies as st

from fsgreen import design, paths, recommend, reduce
from fsgreen.cli import recommend as command
from fsgreen.errors import FsgreenError
from fsgreen.papers.cells import cells_table
from fsgreen.papers.effects import Config
from fsgreen.papers.fast10 import analyse
from fsgreen.recommend.forest import forest
from fsgreen.recommend.planning import more_blocks
from fsgreen.stats import Scatter

FUZZ = settings(max_examples=round(200 * max(1.0, float(os.environ.get("FSGREEN_FUZZ_S", "1")))))
NOW = Config("ext3")
CELLS = [
    *synthetic.cells(["varmail"], ["ext2", "ext3", "xfs"]),
    *synthetic.cells(["varmail"], ["ext3"], ["noatime", "dtlg", "wrbck", "blk1k", "blk2k"]),
]


def tables(of=CELLS, **frame):
    trials = synthetic.trials_frame(of, **frame)
    return trials, cells_table(trials, synthetic.BOUNDS)


def made(*constraints, now=NOW, of=CELLS, **frame):
    """The recommendation on a synthetic campaign, a row per metric and configuration."""
    wanted = recommend.parse(constraints, ["ext2", "ext3", "xfs"])
    return recommend.recommend(
        *tables(of, **frame), "varmail", synthetic.BOUNDS, now, wanted
    ).set_index(["metric", "file_system", "option"])


def of_throughput(table):
    return table.loc["throughput"]


# --- what a change takes ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "then", "kind", "how"),
    [
        ("ext3/default", "ext3/default", "none", ""),
        ("ext3/default", "ext3/noatime", "mount", "mount -o remount,noatime"),
        ("ext3/noatime", "ext3/default", "mount", "mount -o remount,strictatime"),
        ("ext3/default", "ext3/dtlg", "mount", "umount; mount -o data=journal"),
        ("ext3/default", "ext3/blk2k", "format", "mkfs.ext3 -b 2048"),
        ("ext3/blk2k", "ext3/default", "format", "mkfs.ext3"),
        ("ext3/blk2k", "ext3/blk2k+noatime", "mount", "mount -o remount,noatime"),
        (
            "ext4/noatime",
            "ext4/noatime+wrbck",
            "mount",
            "umount; mount -o noatime,data=writeback",
        ),
        ("ext3/default", "xfs/default", "file system", "mkfs.xfs"),
        (
            "ext3/default",
            "xfs/blk2k+agcnt64+noatime",
            "file system",
            "mkfs.xfs -b size=2048 -d agcount=64; mount -o noatime",
        ),
        ("overlay/default", "xfs/default", "file system", "mkfs.xfs"),
    ],
)
def test_what_a_change_takes_is_said_as_a_command(now, then, kind, how):
    """A mount option needs no backup, a format option does: to mix them up loses data."""
    change = recommend.change(Config.parse(now), Config.parse(then))
    assert (change.kind, change.how) == (kind, how)


def test_an_option_that_a_file_system_lacks_is_refused():
    with pytest.raises(FsgreenError, match="unknown option 'dtlg'"):
        recommend.change(NOW, Config("xfs", "dtlg"))


@pytest.mark.parametrize(
    ("now", "then", "said"),
    [
        ("ext3/default", "ext3/wrbck", "old content"),
        ("ext3/default", "ext2/default", "no journal"),
        ("ext3/default", "xfs/default", ""),
        ("ext3/default", "ext3/noatime", ""),
        ("ext2/default", "ext3/wrbck", ""),
        ("ext3/dtlg", "ext3/default", "half done"),
        ("btrfs/default", "ext4/default", "checksums"),
        ("ext4/default", "btrfs/default", ""),
    ],
)
def test_a_risk_is_one_that_data_do_not_run_now(now, then, said):
    """Who has no journal loses none; who gives one up must be told."""
    risk = recommend.change(Config.parse(now), Config.parse(then)).risk
    assert bool(risk) == bool(said)
    assert said in risk


# --- constraints ------------------------------------------------------------------------------


def test_constraints_are_read_whatever_their_case_and_spacing():
    wanted = recommend.parse(["No  Reformat", " file system XFS "], ["ext3", "xfs"])
    assert wanted == recommend.Constraints(no_reformat=True, file_system="xfs")


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["no reformt"], "did you mean no reformat"),
        (["file system"], "unknown constraint"),
        (["file system zfs"], "unknown file system 'zfs'"),
        (["file system xfs", "file system ext3"], "at once"),
        ([""], "Known: file system NAME, no reformat, no relaxed durability"),
    ],
)
def test_an_unknown_constraint_is_refused_with_those_there_are(texts, message):
    """A constraint that is passed over would recommend what the user ruled out."""
    with pytest.raises(FsgreenError, match=message):
        recommend.parse(texts, ["ext3", "xfs"])


WORDS = st.sampled_from(
    ["no", "reformat", "relaxed", "durability", "file", "system", "xfs", "NAME"]
)
PHRASES = st.lists(WORDS, max_size=4).map(" ".join)
KNOWN = st.sampled_from(["no reformat", "No relaxed  durability", "file system xfs"])


@FUZZ
@given(st.lists(st.text(max_size=40) | PHRASES | KNOWN, max_size=5))
def test_no_text_is_taken_for_a_constraint_that_it_is_not(texts):
    try:
        wanted = recommend.parse(texts, ["xfs"])
    except FsgreenError:
        return
    words = {" ".join(text.lower().split()) for text in texts}
    assert wanted.no_reformat == ("no reformat" in words)
    assert wanted.no_relaxed_durability == ("no relaxed durability" in words)
    assert wanted.file_system == ("xfs" if "file system xfs" in words else None)
    assert words <= {"no reformat", "no relaxed durability", "file system xfs"}


def test_constraints_leave_out_and_say_why():
    """Without mkfs there are mount options; data must not be put at risk."""
    assert set(of_throughput(made("no reformat"))["change"]) == {"none", "mount"}
    safe = of_throughput(made("no relaxed durability"))
    assert ("ext3", "wrbck") not in safe.index
    assert ("ext2", "default") not in safe.index
    assert ("xfs", "default") in safe.index
    _, cells = tables()
    wanted = recommend.Constraints(no_reformat=True, no_relaxed_durability=True)
    admitted, refused = recommend.candidates(cells, "varmail", NOW, wanted)
    assert admitted == [Config("ext3", "dtlg"), Config("ext3", "noatime")]
    assert refused[Config("ext3", "blk1k")] == "it takes a reformat"
    assert "old content" in refused[Config("ext3", "wrbck")]


def test_constraints_that_contradict_what_there_is_are_refused():
    with pytest.raises(FsgreenError, match="cannot be xfs without a reformat"):
        made("no reformat", "file system xfs")


def test_what_there_is_must_have_been_measured():
    with pytest.raises(FsgreenError, match="did you mean ext3/noatime"):
        made(now=Config("ext3", "noatme"))


# --- the ranking ------------------------------------------------------------------------------


def test_gain_loss_and_no_difference_worth_a_reformat_are_told_apart():
    """The three answers of a comparison, in words that an administrator can act on."""
    speed = {
        "varmail-ext3-noatime": 1.3,
        "varmail-ext3-dtlg": 0.7,
        "varmail-ext3-blk2k": 1.005,
        "varmail-xfs-default": 1.0 / 1.3,
    }
    table = of_throughput(made(speed=speed, scatter=0.004))
    assert table.loc[("ext3", "noatime"), "verdict"] == "gain"
    assert table.loc[("ext3", "noatime"), "says"].startswith("gain of 2")
    assert table.loc[("ext3", "dtlg"), "verdict"] == "loss"
    assert table.loc[("ext3", "dtlg"), "says"].startswith("loss of ")
    assert table.loc[("ext3", "blk2k"), "says"] == "no difference worth a reformat"
    assert table.loc[("xfs", "default"), "says"] == "no difference worth a reformat"
    assert table.loc[("ext3", "wrbck"), "says"] == "no difference worth a change of mount options"
    assert table.index[0] == ("ext3", "noatime")
    assert table["order"].tolist() == list(range(1, 9))
    assert table.loc[("ext3", "default"), "says"] == "what there is now"


def test_noise_is_inconclusive_and_says_how_many_blocks_would_tell():
    """An effect of 7 % in noise as large needs more blocks; with them, it is found."""
    speed = {"varmail-ext3-noatime": 1.07}
    of = synthetic.cells(["varmail"], ["ext3"], ["default", "noatime"])
    row = of_throughput(made(of=of, speed=speed, scatter=0.05)).loc[("ext3", "noatime")]
    assert row["verdict"] == "inconclusive"
    assert row["says"] == "inconclusive: 1 more block would tell"
    told = made(of=of, speed=speed, scatter=0.05, blocks=5 + 4 * row["more_blocks_count"])
    assert of_throughput(told).loc[("ext3", "noatime"), "verdict"] == "gain"


def test_fewer_blocks_than_the_minimum_decide_nothing():
    """Rule 26: two blocks of the quick profile recommend nothing, whatever the effect."""
    table = of_throughput(made(blocks=2, speed={"varmail-ext3-noatime": 3.0}))
    assert set(table["verdict"]) == {"now", "inconclusive"}
    assert (table["more_blocks_count"].dropna() >= 3).all()
    one = of_throughput(made(blocks=1)).drop(index=("ext3", "default"))
    assert set(one["says"]) == {"inconclusive: too few blocks to say how many would tell"}


def test_modelled_power_decides_nothing_about_joules():
    """Rule 19: the ranking by joule is marked, and only a meter may call a gain."""
    speed = {"varmail-ext3-noatime": 1.5}
    for boundary, verdict in (("modelled", "modelled"), ("wall", "gain")):
        table = made(boundary=boundary, speed=speed, scatter=0.004)
        row = table.loc[("efficiency", "ext3", "noatime")]
        assert row["verdict"] == verdict
        assert row["ratio_x"] == pytest.approx(1.48, abs=0.03)
        assert ("modelled" in row["says"]) == (boundary == "modelled")


def test_the_best_is_not_alone_if_others_are_not_told_apart_from_it():
    """To take the first of many noisy means for the best is a trap."""
    speed = {"varmail-ext3-noatime": 1.5, "varmail-ext3-blk2k": 1.5}
    beside = of_throughput(made(speed=speed, scatter=0.004))["beside_best"]
    assert set(beside.iloc[:2]) == {"best", "equivalent"}
    assert beside[("ext3", "default")] == "different"


def test_a_cell_without_steady_state_is_no_recommendation():
    """Rule 24: most trials without steady state are no mean."""
    trials, _ = tables(scatter=0.004, speed={"varmail-ext3-noatime": 2.0})
    unsteady = (trials["option"] == "noatime") & (trials["block"] <= 3)
    trials.loc[unsteady, "steady"] = "no steady state"
    cells = cells_table(trials, synthetic.BOUNDS)
    table = recommend.recommend(trials, cells, "varmail", synthetic.BOUNDS, NOW)
    row = table[(table["option"] == "noatime") & (table["metric"] == "throughput")].iloc[0]
    assert row["verdict"] == "inconsistent"


def test_other_comparisons_made_together_raise_the_hurdle():
    """Rule 38: one of many options that stands out by luck is not recommended."""
    table = of_throughput(made(scatter=0.03, seed=4))
    compared = table[table["verdict"] != "now"]
    assert (compared["difference_holm_p"] >= compared["difference_p"]).all()
    assert (compared["difference_holm_p"] > compared["difference_p"]).any()


def test_absolute_values_stand_beside_every_ratio():
    """Rule 30."""
    table = made()
    assert table[["throughput_ops_s", "efficiency_ops_j"]].notna().all().all()


# --- blocks that would tell -------------------------------------------------------------------


def logs(*values):
    """Two samples whose ratio per block is exp of these values."""
    block = range(1, len(values) + 1)
    base = pd.DataFrame({"block": block, "above": 100.0, "below": 1.0})
    return base.assign(above=100 * np.exp(values)), base


def blocks(*values, minimum=5, level=0.05):
    return more_blocks(*logs(*values), bound=0.05, minimum=minimum, level=level)


def test_more_blocks_are_those_of_the_t_tests():
    """By hand: mean 0.1, deviation 0.2: |t| = 0.5 sqrt(n) passes t(0.975, n - 1) at n = 18."""
    values = [0.1 + 0.2 * x for x in (-1.0, 1.0, -1.0, 1.0, 0.0)]
    assert blocks(*values) == 18 - 5
    assert blocks(0.0, 0.001, -0.001, minimum=5) == 2
    assert blocks(0.3) is None
    edge = 0.0512932943875505
    assert blocks(*(edge + x for x in (-0.2, 0.2, -0.2, 0.2)), minimum=5) is not None
    assert blocks(0.01, 3.0, -3.0, 0.5, -0.4) is None


def test_the_scatter_of_all_cells_makes_the_plan_shorter():
    """By hand: 0.1 over 0.1003 sqrt(2 / n) passes t(0.975, 100 and more) at n = 8."""
    values = [0.1 + 0.2 * x for x in (-1.0, 1.0, -1.0, 1.0, 0.0)]
    known = more_blocks(
        *logs(*values), scatter=Scatter(0.1, 100, 20), bound=0.05, minimum=5, level=0.05
    )
    assert known == 8 - 5


# --- campaigns, figure, command ---------------------------------------------------------------


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """A small campaign that was reduced and analysed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(tmp_path_factory.mktemp("data")))
        of = [
            *synthetic.cells(["webserver"], ["ext4", "xfs"]),
            design.Cell("webserver", "ext4", "noatime"),
            design.Cell("webserver", "ext4", load_ops_s=50.0),
        ]
        synthetic.write_raw("small", synthetic.make_plan(of, blocks=5))
        reduce.write("small")
        analyse.write("small")
        yield "small"


def run(*arguments):
    parser = argparse.ArgumentParser()
    command.add(parser.add_subparsers())
    options = parser.parse_args(["recommend", *arguments])
    options.run(options)


def test_the_command_shows_ranking_and_where_it_holds(campaign, capsys):
    """Constant synthetic work: nothing is worth a reformat, and it says so."""
    run("--workload", "web", "--campaign", campaign)
    shown = capsys.readouterr().out
    assert "changes from ext4/default" in shown
    assert "webserver at 0.1 of its published size" in shown
    assert "testbed loop (in memory)" in shown
    assert "by operations per joule, modelled power" in shown
    assert "no difference worth a reformat" in shown
    assert "modelled power: decides nothing" in shown
    run("--workload", "web", "--campaign", campaign, "--constraint", "no reformat")
    shown = capsys.readouterr().out
    assert re.search(r"it takes a reformat: .*xfs/default", shown)
    assert "Nothing else was measured" not in shown


def test_an_answer_without_any_choice_says_what_to_measure(campaign, capsys):
    """Two empty rankings would be read as: there is nothing better."""
    run("--workload", "web", "--campaign", campaign, "--now", "xfs", "--constraint", "no reformat")
    shown = capsys.readouterr().out
    assert "Nothing else was measured that the constraints admit." in shown
    assert "next:  fsgreen measure fast10 --profile" in shown


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(campaign, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    run("--workload", "web", "--campaign", campaign)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= columns


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workload", "wbserver"], "did you mean webserver"),
        (["--workload", "wbe"], "did you mean web"),
        (["--workload", "web", "--constraint", "no format"], "did you mean no reformat"),
        (["--workload", "web", "--now", "xfs/noatime"], "unknown configuration"),
        (["--workload", "web", "--now", "xfs/a/b"], "FILE_SYSTEM/OPTION"),
    ],
)
def test_a_mistake_names_what_there_is(campaign, arguments, message):
    with pytest.raises(FsgreenError, match=message):
        run(*arguments, "--campaign", campaign)


def test_results_are_written_with_figure_and_advice(campaign):
    recommend.write(campaign)
    table = reduce.read_table(campaign, "recommended")
    assert len(table) == 6
    results = paths.results(campaign)
    assert (results / "figures" / "recommended_webserver.svg").is_file()
    advice = pd.read_csv(results / "tables" / "advice.csv")
    assert advice["change"].tolist() == ["mount", "file system"]
    assert advice["best"].tolist() == ["ext4/noatime", "xfs/default"]


def test_the_forest_groups_by_what_a_change_takes():
    """A reader must not take a format option for a mount option."""
    table = made(scatter=0.004, speed={"varmail-ext3-blk2k": 2.0}).reset_index()
    figure = forest(table)
    left = figure.axes[0]
    headings = {text.get_text(): text.get_position()[1] for text in left.texts}
    names = dict(
        zip((x.get_text() for x in left.get_yticklabels()), left.get_yticks(), strict=True)
    )
    assert headings["mount options"] < names["Ext3 dtlg"] < headings["format options"]
    assert names["Ext3 blk2k"] == headings["format options"] + 1
    assert names["Ext3 blk1k"] < headings["other file systems"] < names["XFS default"]
    assert any("modelled power" in text.get_text() for text in figure.axes[1].texts)


def test_with_nothing_to_choose_from_the_figure_says_so():
    only = synthetic.cells(["varmail"], ["ext3"])
    figure = forest(made(of=only).reset_index())
    assert "Nothing but ext3/default" in figure.axes[0].texts[0].get_text()
