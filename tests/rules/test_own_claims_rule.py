"""Rule 44: one verdict for each claim, of one's own study as of a paper."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
import sound_campaign

from fsgreen import claims, paths
from fsgreen.rules import reporting

ROW = {
    "verdict": "reproduced",
    "needs": None,
    "published": "xfs above ext3",
    "ours": "1.2x",
    "n": 5,
    "testbed": "loop",
    "basis": "measured",
    "boundary": "",
}


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A study that states two claims, and a campaign of it without results."""
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    plan = SimpleNamespace(study="own")
    monkeypatch.setattr(reporting, "read_plan", lambda campaign: plan)
    file = claims.own_file("own")
    file.parent.mkdir(parents=True)
    file.write_text("leads: {statement: XFS leads.}\nlevel: {statement: They are level.}\n")
    return reporting.Report.of("own-quick")


def judged(report, *slugs):
    table = pd.DataFrame([{"slug": slug, **ROW} for slug in slugs])
    found = reporting.Report(report.texts, table, report.stated)
    return reporting.verdict_per_claim(found)


def test_a_claim_of_ones_own_that_vanished_from_the_ledger_fires(own):
    """It was stated before there were data: leaving it out would hide how it came out."""
    assert own.stated == {"leads", "level"}
    assert reporting.verdict_per_claim(own).state == "unknown"
    assert judged(own, "leads").state == "fired"
    assert "level" in judged(own, "leads").found
    assert judged(own, "leads", "level").state == "quiet"


def test_a_verdict_that_rests_on_modelled_power_fires():
    report = sound_campaign.make_report()
    claims = report.claims.assign(boundary=["modelled", None])
    found = reporting.verdict_per_claim(replace(report, claims=claims)).found
    assert "rest on modelled power" in found


def test_before_the_ledger_is_made_its_rule_is_unknown():
    report = replace(sound_campaign.make_report(), claims=pd.DataFrame())
    assert reporting.verdict_per_claim(report).state == "unknown"
