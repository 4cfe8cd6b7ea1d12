"""A study without a published paper has figures, tables and a report under its own title."""

import json

import pytest
import synthetic

import fsgreen
from fsgreen import cli, confounds, design, outcome, papers, paths, recommend, reduce, report
from fsgreen.analysis import interactions, standard
from fsgreen.design import newstudy

PROBES = {"offset": [], "queue": []}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory):
    """A campaign of a study that nobody published, analysed to its report."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("own")
        patch.setenv("FSGREEN_DATA", str(folder / "data"))
        patch.setattr(paths, "new_study", lambda name: folder / f"{name}.yaml")
        newstudy.write("mine")
        plan = synthetic.make_plan(synthetic.cells(["webserver"], ["ext4", "xfs"]), 5, study="mine")
        synthetic.write_raw("own", plan, probes=PROBES)
        reduce.write("own")
        confounds.write("own")
        standard.write("own")
        interactions.write("own")
        interactions.draw("own")
        papers.step("own", "figures").write("own")
        recommend.write("own")
        papers.step("own", "claims").write("own")
        report.write("own")
        outcome.write("own")
        yield "own"


def test_the_report_has_the_title_of_the_study(campaign: str) -> None:
    """Not that of fast10, with its authors and 99 foreign claims."""
    numbers = json.loads((paths.results(campaign) / "numbers.json").read_text())
    assert numbers["paper"]["title"] == design.load_study("mine").title
    assert numbers["claims"]["total"] == 0
    assert (paths.results(campaign) / "report.pdf").stat().st_size > 10_000


def test_each_workload_and_comparison_has_a_figure(campaign: str) -> None:
    figures = {file.stem for file in (paths.results(campaign) / "figures").glob("*.svg")}
    assert {"fig_webserver", "fig_file_system_throughput", "confound_queue"} <= figures


def test_the_outcome_speaks_of_comparisons(campaign: str) -> None:
    text = (paths.results(campaign) / "outcome.txt").read_text()
    assert "own: 2 comparisons" in text
    assert "claims" not in text


def test_a_campaign_is_opened_as_data_frames(campaign: str) -> None:
    """The example of docs/studies.md."""
    mine = fsgreen.open(campaign)
    assert list(mine.cells["file_system"]) == ["ext4", "xfs"]
    assert len(mine.trials) == len(mine.plan.trials) == 10
    assert set(mine.effects["kind"]) == {"file system"}
    trace = mine.trace(mine.trials["trial"].iloc[0])
    assert {"since_s", "power_w", "meter"} <= set(trace)


def test_the_next_step_of_an_error_is_of_this_study(campaign: str, capsys) -> None:
    assert cli.main(["status", "own"]) == 0
    assert "fast10" not in capsys.readouterr().out
