"""The ledger of a study: files of the pipeline, a PDF, and a screen."""

import json

import pandas as pd
import pytest

from fsgreen import cli, ledger, paths
from fsgreen.errors import FsgreenError
from fsgreen.reduce import read_csv, write_csv
from tests.parts_of_claims import part_of_a_campaign

SLUG = "web_ext3_xfs"
PART = "webserver throughput: ext3/default over xfs/default"


@pytest.fixture(autouse=True)
def shipping(monkeypatch):
    """The pipeline analyses two campaigns."""
    monkeypatch.setattr(paths, "ships", lambda name: name in ("one", "two"))


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Three campaigns of fast10: two that ship and disagree, and one's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(tmp_path_factory.mktemp("data")))
        logs = {"one": (0.0, True), "two": (0.5, True), "mine": (0.1, False)}
        for name, (log, shipped) in logs.items():
            row = part_of_a_campaign(log, 0.01, slug=SLUG, part=PART, published="-22 %", needs="")
            write_csv(
                pd.DataFrame([row]).assign(campaign=name),
                paths.told("fast10", name, shipped=shipped),
            )
        yield


@pytest.mark.usefixtures("told")
def test_the_pipeline_writes_tables_and_a_pdf_of_the_campaigns_that_ship():
    folder = ledger.write("fast10")
    parts = read_csv(folder / "parts.csv")
    assert list(parts["verdict"]) == ["campaigns disagree"]
    assert {"one", "two"} <= {*parts} and "mine" not in parts
    claims = read_csv(folder / "claims.csv").set_index("slug")
    assert len(claims) == 99
    assert claims.loc[SLUG, "verdict"] == "campaigns disagree"
    numbers = json.loads((folder / "numbers.json").read_text())
    assert (numbers["pooled"], numbers["disagree"]) == (1, 1)
    assert (
        f"  {SLUG}, {PART}: one 1x [0.981, 1.02], reproduced at power 0.50; two"
        in (folder / "outcome.txt").read_text()
    )
    before = (folder / "report.pdf").read_bytes()
    assert before.startswith(b"%PDF")
    assert (ledger.write("fast10") / "report.pdf").read_bytes() == before


@pytest.mark.usefixtures("told")
def test_the_terminal_has_ones_own_campaigns_too(capsys):
    assert cli.main(["ledger", "fast10"]) == 0
    shown = capsys.readouterr().out
    assert "fast10: 99 claims over 3 campaigns (rule 49)" in shown
    assert "  mine: loop, on disk, profile lab, parts: 1 measured" in shown
    assert f"  campaigns disagree: {SLUG} (measured, 3 campaigns)" in shown
    assert cli.main(["ledger", "fast10", SLUG]) == 0
    in_full = capsys.readouterr().out
    assert "    mine: 1.11x [1.08, 1.13], reproduced" in in_full


@pytest.mark.usefixtures("told")
def test_a_claim_that_is_misspelt_gets_the_nearest():
    with pytest.raises(FsgreenError, match="did you mean web_ext3_xfs"):
        list(ledger.lines("fast10", "web_ext3_xsf"))


def test_a_study_that_nobody_judged_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    with pytest.raises(FsgreenError, match="no campaign of fast10 has been judged"):
        list(ledger.lines("fast10"))
    with pytest.raises(FsgreenError, match="did you mean fast10"):
        list(ledger.lines("fast11"))


def test_one_campaign_has_a_ledger(tmp_path, monkeypatch):
    """Most studies have one; nothing is pooled, and nothing breaks."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    row = part_of_a_campaign(slug=SLUG, part=PART, needs="")
    write_csv(pd.DataFrame([row]).assign(campaign="one"), paths.told("fast10", "one", shipped=True))
    text = "\n".join(ledger.lines("fast10"))
    assert "0 parts with an interval in several campaigns" in text
    assert (ledger.write("fast10") / "report.pdf").is_file()


def test_what_a_model_decides_has_no_campaign_behind_it(tmp_path, monkeypatch):
    """ "1 campaign" stood behind what no trial of it had decided."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    part = {"part": f"{PART} (virtual time)", "kind": "simulated", "basis": "simulated"}
    row = part_of_a_campaign(slug=SLUG, needs="", **part)
    write_csv(pd.DataFrame([row]).assign(campaign="one"), paths.told("fast10", "one", shipped=True))
    text = "\n".join(ledger.lines("fast10"))
    assert f"  reproduced: {SLUG} (simulated, by a model without a trial)" in text
    claims = read_csv(ledger.write("fast10") / "claims.csv").set_index("slug")
    assert claims.loc[SLUG, "campaigns_count"] == 0
