"""What the command prints and the pipeline keeps."""

import argparse
import re

import pandas as pd
import pytest
import synthetic

from fsgreen import design, paths, recommend, reduce
from fsgreen.cli import recommend as command
from fsgreen.errors import FsgreenError
from fsgreen.papers.fast10 import analyse


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
