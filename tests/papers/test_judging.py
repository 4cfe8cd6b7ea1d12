"""A study without a campaign has verdicts from print, and behaves well everywhere."""

import json

import pytest

from fsgreen import cli, ledger, paths
from fsgreen.papers import judging
from fsgreen.reduce import read_csv

WITHOUT = ("greenfs08",)
"""It has one, which is not looked at here; its models are a verdict's evidence without."""


@pytest.fixture(autouse=True)
def nothing_else(tmp_path, monkeypatch):
    """A data folder without traces and results; what is simulated belongs to the package."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    monkeypatch.setattr(paths, "has_campaign", lambda study: study not in WITHOUT)


@pytest.mark.parametrize("study", WITHOUT)
def test_no_verdict_without_a_campaign_is_measured(study):
    found = judging.told_or_judged(study, own=True)
    assert [*found] == [judging.NAME]
    kinds = set(found[judging.NAME]["kind"])
    assert "published" in kinds and "measured" not in kinds


def test_a_study_with_a_campaign_is_not_judged_from_print_alone():
    """Its campaigns are only not here: that must be said, and not half a ledger shown."""
    assert judging.told_or_judged("fast10", own=True) == {}


@pytest.mark.parametrize("study", WITHOUT)
def test_the_pipeline_writes_a_ledger_of_it(study):
    folder = ledger.write(study)
    claims = read_csv(folder / "claims.csv")
    assert set(claims["basis"].dropna()) <= {"published", "simulated", "by construction"}
    numbers = json.loads((folder / "numbers.json").read_text())
    assert numbers["without_campaign"]
    assert "over no campaign, and no trial" in (folder / "outcome.txt").read_text()
    before = (folder / "report.pdf").read_bytes()
    assert before.startswith(b"%PDF")
    assert (folder / "figures").is_dir() and (folder / "tables").is_dir()
    if study == "greenfs08":
        assert {file.stem for file in (folder / "figures").glob("*.svg")} >= {"fig4", "fig5"}
        assert len([*(folder / "tables").glob("table*.csv")]) == 6


def test_commands_know_it(capsys):
    """Each of them is typed by somebody who has only read of the study."""
    assert cli.main(["claim", "greenfs08-24"]) == 0
    shown = capsys.readouterr().out
    assert "from print: reproduced" in shown and "up to 153.2 MB" in shown
    assert cli.main(["claim", "greenfs08-62"]) == 0
    assert "simulated" in capsys.readouterr().out
    assert cli.main(["claim", "greenfs08-06"]) == 0
    assert "a test would take: data sheets" in " ".join(capsys.readouterr().out.split())
    assert cli.main(["ledger", "greenfs08"]) == 0
    assert "71 claims over no campaign" in capsys.readouterr().out
    assert cli.main(["ledger", "greenfs08", "g_one_spinup"]) == 0
    assert "(by construction; published 1)" in " ".join(capsys.readouterr().out.split())
    assert cli.main(["list", "studies"]) == 0
    assert "greenfs08" in capsys.readouterr().out
    assert cli.main(["status", "greenfs08-quick"]) == 1
    assert "fsgreen measure" in " ".join(capsys.readouterr().err.split())
