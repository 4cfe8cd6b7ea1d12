"""A study without a published paper has figures, tables and a report under its own title."""

import json
import shutil
from pathlib import Path

import pytest
import synthetic

import fsgreen
from fsgreen import cli, confounds, design, outcome, papers, paths, recommend, reduce, report
from fsgreen.analysis import interactions, standard
from fsgreen.design import newstudy
from fsgreen.errors import FsgreenError
from fsgreen.papers import judging

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
        judging.write("own")
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


def test_the_outcome_begins_with_what_each_cell_did(
    campaign: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts of verdicts alone said nothing of how fast anything was."""
    cells = fsgreen.open(campaign).cells.set_index("file_system")
    lines = (paths.results(campaign) / "outcome.txt").read_text().splitlines()
    assert lines[0] == "own: operations per second of webserver, 95 % intervals"
    (xfs,) = (line for line in lines[:6] if line.startswith("  xfs "))
    rate, low, high = (
        f"{cells.loc['xfs', f'throughput{end}_ops_s']:,.0f}" for end in ("", "_low", "_high")
    )
    assert xfs.endswith(f"  {rate} ops/s [{low}, {high}]")
    monkeypatch.setattr(outcome, "MOST_CELLS", 1)
    shortened = outcome.write(campaign).read_text()
    monkeypatch.undo()
    assert outcome.write(campaign).read_text() == "\n".join(lines) + "\n"
    assert "  and 1 more cell: cells.csv\n" in shortened


def test_the_outcome_names_what_is_compared_with_what_in_lines_that_fit(campaign: str) -> None:
    """A gain of 12 % over nothing in particular is no gain."""
    text = (paths.results(campaign) / "outcome.txt").read_text()
    baseline = fsgreen.open(campaign).effects["baseline_file_system"].iloc[0]
    assert f"  file system, throughput, against {baseline}: 1 " in text
    assert "what to change from ext4/default" in text
    assert max(map(len, text.splitlines())) <= outcome.WIDTH


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


def test_tables_of_an_older_version_are_told_with_what_makes_them_anew(
    campaign: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report ended in a KeyError."""
    shutil.copytree(paths.data(), tmp_path / "data")
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    file = paths.results(campaign) / "claims.csv"
    reduce.read_table(campaign, "claims").drop(columns="power_p").to_csv(file, index=False)
    with pytest.raises(
        FsgreenError, match="made by another version: there is no 'power_p'"
    ) as told:
        report.write(campaign)
    assert told.value.next_step == (
        "for step in 40_reduce 50_confounds 60_analyse 66_interactions 70_figures 80_claims "
        "90_report; do fsgreen notebook $step -p campaign own; done"
    )
    file = paths.results(campaign) / "recommended.csv"
    reduce.read_table(campaign, "recommended").drop(columns="verdict").to_csv(file, index=False)
    with pytest.raises(FsgreenError, match="there is no 'verdict'"):
        outcome.write(campaign)
