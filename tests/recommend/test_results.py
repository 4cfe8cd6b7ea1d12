"""What the command prints and the pipeline keeps."""

import argparse
import json
import re
from dataclasses import replace

import pandas as pd
import pytest
import synthetic

from fsgreen import design, paths, recommend, reduce
from fsgreen.analysis import standard
from fsgreen.analysis.cells import cells_table
from fsgreen.cli import recommend as command
from fsgreen.errors import FsgreenError
from tests.recommend.choices import gate_of

MOUNT = {
    "scheduler": "none",
    "queue_depth": 128,
    "geometry": {"block_b": 4096, "read_ahead_b": 131072},
}


def record_what_was_held(campaign):
    """Write into the records of a campaign what a real one says of its confounds."""
    for file in (paths.raw(campaign) / "trials").glob("*/trial.json"):
        record = json.loads(file.read_text())
        record |= {"mount": MOUNT, "checks": [{"rule": 7, "ok": True, "detail": "cold"}]}
        file.write_text(json.dumps(record))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """A small campaign that held its confounds, reduced and analysed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(tmp_path_factory.mktemp("data")))
        of = [
            *synthetic.cells(["webserver"], ["ext4", "xfs"]),
            design.Cell(workload="webserver", file_system="ext4", option="noatime"),
            design.Cell(workload="webserver", file_system="ext4", load_ops_s=50.0),
            design.Cell(workload="varmail", file_system="ext4", cache="warm"),
        ]
        synthetic.write_raw("small", synthetic.make_plan(of, blocks=5))
        record_what_was_held("small")
        reduce.write("small")
        standard.write("small")
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


def lines(shown, name):
    """The lines of a configuration in each of the two rankings."""
    return [line for line in shown.splitlines() if re.match(rf" +(\d+|-) {name} ", line)]


def test_what_is_not_told_apart_from_the_first_is_named_without_a_steady_state_too(
    campaign, capsys, monkeypatch
):
    """What is left out of that list is read as worse, though there was no mean to compare."""
    found = recommend.read(campaign)
    trials = found.trials.copy()
    trials.loc[trials["option"] == "noatime", "steady"] = "no steady state"
    cells = cells_table(trials, found.plan.bounds)
    source = replace(found, trials=trials, cells=cells)
    monkeypatch.setattr(recommend, "read", lambda campaign: source)
    run("--workload", "web", "--campaign", campaign)
    shown = capsys.readouterr().out
    assert re.search(r"first: .*no sure difference from: .*ext4/noatime", shown)
    for line in lines(shown, "ext4/noatime"):
        assert re.fullmatch(r" +- ext4/noatime +n=5  no steady state", line)
    trials["steady"] = "no steady state"
    source = replace(source, cells=cells_table(trials, found.plan.bounds))
    run("--workload", "web", "--campaign", campaign)
    assert "first: none, as none has a steady state" in capsys.readouterr().out


def test_what_a_confound_may_have_made_is_said_to_be_endangered(campaign, capsys, monkeypatch):
    """The command recommended what the report warns of."""
    found = recommend.read(campaign)
    trials = found.trials.copy()
    trials.loc[trials["option"] == "noatime", "work_ops"] *= 2
    source = replace(found, trials=trials, gate=gate_of(trials, ["noatime"]))
    monkeypatch.setattr(recommend, "read", lambda campaign: source)
    run("--workload", "web", "--campaign", campaign)
    shown = capsys.readouterr().out
    assert "endangered by read-ahead" in lines(shown, "ext4/noatime")[0]
    assert "1 of 2 comparisons may be the work of read-ahead" in shown
    assert "remount,noatime" not in shown


def test_two_blocks_promise_no_interval(campaign, capsys):
    """Rates had one of thirteen standard errors, below a heading that called it 95 %."""
    plan = synthetic.make_plan(synthetic.cells(["webserver"], ["ext4", "xfs"]), blocks=2)
    synthetic.write_raw("two", plan)
    reduce.write("two")
    standard.write("two")
    shown = {}
    for name in (campaign, "two"):
        run("--workload", "web", "--campaign", name)
        shown[name] = capsys.readouterr().out
    assert "by operations per second (95 % intervals)" in shown[campaign]
    assert "by operations per second (no interval: 2 blocks)" in shown["two"]
    assert "+-" in shown[campaign] and "+-" not in shown["two"]


def test_what_was_held_is_not_warned_of(campaign, capsys):
    run("--workload", "web", "--campaign", campaign)
    assert "conclusion" not in capsys.readouterr().out


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


def test_a_workload_without_a_cell_of_the_baseline_is_told_what_there_is_instead(campaign):
    """It was unknown, though `fsgreen status` shows its trials."""
    with pytest.raises(FsgreenError, match="varmail was not measured in the state") as caught:
        run("--workload", "mail", "--campaign", campaign)
    assert "with cache warm (baseline: cold)" in caught.value.what
    assert "measured like the baseline: webserver" in str(caught.value)


def test_results_are_written_with_figure_and_advice(campaign):
    recommend.write(campaign)
    table = reduce.read_table(campaign, "recommended")
    assert len(table) == 6
    assert set(table.loc[table["change"] != "none", "gate"]) == {"passed"}
    results = paths.results(campaign)
    assert (results / "figures" / "recommended_webserver.svg").is_file()
    advice = pd.read_csv(results / "tables" / "advice.csv")
    assert advice["change"].tolist() == ["mount", "file system"]
    assert advice["best of its kind"].tolist() == ["ext4/noatime", "xfs/default"]
    now_ops_s = table[(table["change"] == "none") & (table["metric"] == "throughput")]
    shown = [text.rpartition(", ")[2] for text in advice["ops/s: change, now"]]
    assert set(shown) == {f"{now_ops_s['throughput_ops_s'].item():,.0f}"}


def test_a_shown_gain_is_named_before_what_is_faster_and_may_be_luck(campaign):
    """The fastest of many was advised with more blocks to tell; a gain beside it was not named."""
    recommend.write(campaign)
    table = reduce.read_table(campaign, "recommended")
    others = table[table["change"] == "file system"].assign(option="lucky", verdict="inconclusive")
    table = pd.concat([others, table])
    is_work = (table["option"] != "lucky") & (table["metric"] == "throughput")
    for verdict, option in (("gain", "default"), ("inconclusive", "lucky")):
        table.loc[is_work & (table["change"] == "file system"), "verdict"] = verdict
        advice = recommend.advice(table).set_index("change")
        assert advice.loc["file system", "best of its kind"] == f"xfs/{option}"


def test_the_fastest_of_its_kind_that_loses_is_no_reason_for_a_change(campaign):
    """It was called the best, with the mkfs that makes it, and lost against what there was."""
    recommend.write(campaign)
    table = reduce.read_table(campaign, "recommended")
    table.loc[table["change"] == "file system", "verdict"] = "loss"
    advice = recommend.advice(table).set_index("change")
    assert advice.loc["file system", "how"] == "leave it as it is"
    is_work = (table["change"] == "file system") & (table["metric"] == "efficiency")
    table.loc[is_work, "verdict"] = "gain"
    assert "mkfs.xfs" in recommend.advice(table).set_index("change").loc["file system", "how"]
