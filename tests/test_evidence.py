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


@pytest.mark.usefixtures("told")
def test_the_claims_of_all_papers_are_counted_in_a_screenful(capsys):
    """780 lines of statements answered who asked what there is."""
    assert cli.main(["list", "claims"]) == 0
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) < 40
    told = " ".join(shown.split())
    assert "fast10 99 claims; measured: 1 reproduced; undecided: 98 not testable here" in told
    assert "sun14 52 claims; no campaign of it has been judged here" in told
    assert "fsgreen list claims STUDY" in told
    assert cli.main(["list"]) == 0
    assert "measured: 1 reproduced" not in capsys.readouterr().out


@pytest.mark.usefixtures("told")
def test_all_claims_of_a_study_are_listed_each_with_its_verdict(capsys):
    assert cli.main(["list", "claims", "fast10"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "fast10-62 file_journal measured: reproduced: On fileserver data journaling" in told
    assert "fast10-01 " in told and "sun14-01 " not in told


@pytest.mark.parametrize(
    ("words", "message"),
    [(["claims", "fast11"], "did you mean fast10"), (["meters", "fast10"], "only claims are")],
)
def test_what_is_listed_by_study_is_claims_of_one_that_there_is(words, message, capsys):
    assert cli.main(["list", *words]) == 1
    assert message in capsys.readouterr().err
