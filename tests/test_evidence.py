"""One claim with its evidence, as a reviewer asks for it."""

import pandas as pd
import pytest

from fsgreen import cli, evidence, paths
from fsgreen.errors import FsgreenError
from fsgreen.reduce import write_csv
from tests.parts_of_claims import part_of_a_campaign

PART = "fileserver throughput: ext3/dtlg over ext3/default"


@pytest.fixture
def told(tmp_path, monkeypatch):
    """A campaign of fast10 whose trials decide one part of a claim; another has it from print."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    of_claim = {"slug": "file_journal", "part": PART, "published": "-10 %", "unit": "change"}
    rows = {
        "small": {"kind": "published", "verdict": "reproduced", "basis": "published"},
        "large": {"kind": "measured", "verdict": "reproduced", "basis": "measured"},
    }
    for name, values in rows.items():
        row = part_of_a_campaign(
            -0.1, 0.01, **of_claim, **values, band_low_x=0.85, band_high_x=0.95
        )
        table = pd.DataFrame([row]).assign(campaign=name)
        write_csv(table, paths.told("fast10", name, shipped=False))


@pytest.mark.parametrize("name", ["fast10-62", "file_journal"])
def test_a_claim_is_found_by_its_number_and_by_its_slug(name):
    claim = evidence.find(name)
    assert (claim.study, claim.slug) == ("fast10", "file_journal")
    assert claim.statement.startswith("On fileserver data journaling costs")


def test_every_published_claim_has_one_name():
    """A slug of two papers would be answered with the first."""
    text = (paths.reference() / "claims.yaml").read_text()
    slugs = [line.split()[-1] for line in text.splitlines() if line.startswith("  slug:")]
    assert len(slugs) == len({*slugs}) > 300


def test_a_claim_that_is_misspelt_gets_the_nearest():
    with pytest.raises(FsgreenError, match="did you mean file_journal") as refused:
        evidence.find("file_jurnal")
    assert len(str(refused.value)) < 300, "it does not list hundreds of names"


@pytest.mark.parametrize("command", [["claim"], ["ledger", "fast10"]])
@pytest.mark.usefixtures("told")
def test_what_is_no_claim_gets_few_names_and_the_command_that_lists_all(command, capsys):
    """The ledger answered with all 99."""
    assert cli.main([*command, "file_jurnal"]) == 1
    told = capsys.readouterr().err
    assert "file_journal" in told and "fsgreen list claims" in told
    assert len(told) < 400


def test_all_claims_are_listed_with_what_they_say(capsys):
    """Only when asked for: hundreds of lines would bury what else `fsgreen list` has."""
    assert cli.main(["list", "claims"]) == 0
    told = capsys.readouterr().out
    names = [
        line.split()[:2]
        for line in told.splitlines()
        if line.startswith(("fast10", "massie25", "nfs", "sun14", "greenfs08"))
    ]
    assert ["fast10-62", "file_journal"] in names
    assert len(names) > 300
    assert cli.main(["list"]) == 0
    assert "file_journal" not in capsys.readouterr().out


def test_a_claim_of_a_study_that_nobody_judged_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    assert cli.main(["claim", "file_journal"]) == 0
    assert "no campaign of fast10 has been judged here" in capsys.readouterr().out
    assert cli.main(["claim", "file_journal", "--run"]) == 1
    assert "./run reproduce" in capsys.readouterr().err


@pytest.mark.usefixtures("told")
def test_published_ours_and_what_would_agree_stand_together(capsys):
    assert cli.main(["claim", "fast10-62"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith("fast10-62 file_journal (section 5.3, table2, fig4a)")
    assert "published: -10 % (Ext3 dtlg over Ext3 default)" in shown
    assert "never added up): measured: reproduced; from print: reproduced" in shown
    assert f"{PART} (measured; published -10 %, agrees if -15 % to -5 %): reproduced" in shown
    assert "large: -9.52 %" in shown
