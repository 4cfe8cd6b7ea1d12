"""A study of one's own states claims in a file, and the same machinery judges them."""

from pathlib import Path

import pytest
import synthetic
import yaml

from fsgreen import paths
from fsgreen.analysis.claims import Claims, Source
from fsgreen.analysis.claims.ledger import claims_table, judge_claims
from fsgreen.design import Cell
from fsgreen.errors import FsgreenError

FILE = """
xfs_leads:
  statement: XFS does most of these on the web server, then ext4, then ext3.
  where: {workload: webserver}
  order:
  - {of: [xfs, ext4, ext3], metric: throughput}
little_gain:
  statement: XFS gains 30 % over ext3, on every server.
  numbers: [{metric: throughput, op: approx, value: 1.3, unit: x}]
  ratio:
  - {number: 0, for_each: {workload: [webserver, varmail]}, of: xfs, against: ext3}
busy:
  statement: ext3 does at least 5,000 operations a second.
  level:
  - {where: {workload: webserver}, of: ext3, metric: throughput, at_least: 5000}
level:
  statement: ext3 and ext4 are level.
  equivalence:
  - {where: {workload: webserver}, of: ext4, against: ext3, metric: throughput}
thrifty:
  statement: XFS does 30 % more per joule than ext3.
  numbers: [{metric: efficiency, op: approx, value: 1.3, unit: x}]
  ratio:
  - {number: 0, where: {workload: webserver}, of: xfs, against: ext3}
aged:
  statement: Nothing of this holds on an aged device.
  needs: [aged-device]
"""


@pytest.fixture
def declared(tmp_path, monkeypatch):
    """Write the claims of the study `own`, and read them."""
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    folder = tmp_path / "studies" / "own"
    folder.mkdir(parents=True)
    (folder / "needs.yaml").write_text("aged-device: a campaign on an aged device\n")

    def write(text=FILE):
        (folder / "claims.yaml").write_text(text)
        return Claims.of("own")

    return write


def judged(claims, columns=None, **frame):
    cells = synthetic.cells(["webserver", "varmail"], ["ext3", "ext4", "xfs"])
    trials = synthetic.trials_frame(cells, scatter=0.004, **frame).assign(**(columns or {}))
    ledger = judge_claims(claims, {"loop": Source(trials, 0.05, claims.needs, "modelled")}, {}, {})
    return claims_table(claims, ledger, "loop", "modelled").set_index("slug")


def test_each_kind_of_claim_gets_a_verdict_by_the_data(declared):
    """Whoever has a study has a ledger, without a line of Python."""
    table = judged(declared())
    assert dict(table["verdict"]) == {
        "xfs_leads": "reproduced",
        "little_gain": "reproduced",
        "busy": "reproduced",
        "level": "not reproduced",
        "thrifty": "not testable here",
        "aged": "not testable here",
    }
    assert table.loc["little_gain", "tested_count"] == 2
    assert table.loc["aged", "needs"] == "a campaign on an aged device"
    assert "wall" in table.loc["thrifty", "needs"]


def test_other_data_give_other_verdicts(declared):
    """No verdict is written down."""
    slow = {"webserver-xfs-default": 0.5, "webserver-ext3-default": 0.5}
    table = judged(declared(), speed=slow)
    assert table.loc["xfs_leads", "verdict"] == "not reproduced"
    assert table.loc["busy", "verdict"] == "not reproduced"


@pytest.mark.parametrize("limit", ["above: 90000", "at_least: 90000"])
def test_an_amount_far_below_what_is_claimed_has_no_direction(limit, declared):
    """Half of what was claimed was called "direction only": it is above 1, as the claim is."""
    table = judged(declared(FILE.replace("at_least: 5000", limit)))
    assert table.loc["busy", "verdict"] == "not reproduced"


def test_what_was_not_run_is_named(declared):
    text = FILE.replace("[webserver, varmail]", "[webserver, oltp]")
    table = judged(declared(text))
    assert "oltp xfs/default" in table.loc["little_gain", "needs"]
    assert table.loc["little_gain", "scope"] == "part"


UNTOLD = """
writes:
  statement: XFS writes more than ext4 does, and twice what applications write.
  where: {workload: webserver}
  order:
  - {of: [xfs, ext4], metric: device_write_percent}
  level:
  - {of: xfs, metric: device_write_percent, at_least: 200}
"""


def test_what_no_trial_told_is_said_and_stops_nothing(declared):
    """A guest's trials had no counters of its disk, and no claim of their campaign was judged."""
    ledger_of = judged(declared(FILE + UNTOLD), {"device_write_percent": float("nan")})
    assert ledger_of.loc["writes", "verdict"] == "not testable here"
    assert "trials that tell device_write_percent" in ledger_of.loc["writes", "needs"]
    assert ledger_of.loc["xfs_leads", "verdict"] == "reproduced"


def test_a_study_without_claims_is_fine(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    assert Claims.of("own").entries == {}


@pytest.mark.parametrize(
    ("wrong", "instead", "line", "told"),
    [
        ("order:", "ordr:", 5, "unknown key ordr, did you mean order"),
        ("number: 0, for_each", "number: 1, for_each", 11, "number 1 of 1 published numbers"),
        ("metric: throughput, op: approx", "metric: thruput, op: approx", 11, "throughput"),
        ("for_each: {workload", "for_each: {work_load", 11, "unknown factor 'work_load'"),
        ("needs: [aged-device]", "needs: [aged-devise]", 27, "did you mean aged-device"),
        ("needs: [aged-device]", "check: ageing", 27, "unknown check 'ageing'"),
        ("  statement: ext3 and ext4 are level.\n", "", 16, "level takes a `statement`"),
        ("op: approx, value: 1.3", "op: aprox, value: 1.3", 9, "did you mean approx"),
        ("value: 1.3, unit", "unit", 9, "takes a `value`"),
        (", at_least: 5000", "", 15, "nothing is claimed"),
        ("at_least: 5000", "above: 5000, at_most: 5001", 15, "at_most and above would not count"),
        ("throughput, at_least", "throughput, what: '{off}', at_least", 15, "did you mean of"),
        ("throughput, at_least", "throughput, what: '{of', at_least", 15, "cannot be filled in"),
    ],
)
def test_a_file_that_would_be_misread_is_refused_with_its_line(
    wrong, instead, line, told, declared
):
    """A claim that is silently not tested looks like one that needs something."""
    assert wrong in FILE
    with pytest.raises(FsgreenError, match=f"line {line}: .*{told}"):
        declared(FILE.replace(wrong, instead, 1))


@pytest.mark.parametrize(
    ("wrong", "instead", "told"),
    [
        ("metric: throughput}", "metric: througput}", "did you mean throughput"),
        ("  where: {workload: webserver}\n", "", "names no workload"),
    ],
)
def test_what_only_the_trials_can_tell_is_named(wrong, instead, told, declared):
    claims = declared(FILE.replace(wrong, instead, 1))
    with pytest.raises(FsgreenError, match=told):
        judged(claims)


def test_a_claim_of_a_paper_that_is_none_is_refused(monkeypatch, tmp_path):
    """A misspelt slug would leave a published claim without a test."""
    from fsgreen.analysis.claims import declared as room

    monkeypatch.setattr(room, "PAPERS", tmp_path)
    (tmp_path / "fast10").mkdir()
    real = yaml.safe_load((paths.root() / "fsgreen/papers/fast10/claims.yaml").read_text())
    text = yaml.safe_dump({"web_dtlgg": real["web_dtlg"]})
    (tmp_path / "fast10" / "claims.yaml").write_text(text)
    with pytest.raises(FsgreenError, match="did you mean web_dtlg"):
        Claims.of("fast10")


def test_cells_are_spelled_by_what_they_have():
    from fsgreen.analysis.claims.cells import spelled

    assert spelled(Cell(workload="varmail", file_system="xfs", cache="warm")) == (
        "varmail xfs/default warm"
    )


def test_the_example_of_the_documentation_is_judged(declared):
    """It is what a new user copies."""
    text = Path(__file__).parents[2].joinpath("docs/claims.md").read_text()
    example = text.partition("```yaml\n")[2].partition("```")[0]
    table = judged(declared(example))
    assert table.loc["xfs_leads", "verdict"] == "reproduced"
    assert "webserver ext4/noatime" in table.loc["noatime_helps", "needs"]


OVER = """
everywhere:
  statement: XFS does more than ext3, whatever the server.
  order:
  - over: {workload: [webserver, varmail, oltp]}
    of: [fast, ext3]
    metric: throughput
    what: "{of} over ext3"
    published: xfs first
"""


def test_a_claim_over_levels_is_as_good_as_its_worst_and_names_what_did_not_run(declared):
    """Three servers were claimed, one was never measured."""
    (paths.root() / "studies" / "own" / "cells.yaml").write_text("fast: {file_system: xfs}\n")
    claims = declared(OVER)
    table = judged(claims)
    assert table.loc["everywhere", ["verdict", "scope"]].tolist() == ["reproduced", "part"]
    assert table.loc["everywhere", "published"] == "xfs first"
    assert "oltp xfs" in table.loc["everywhere", "needs"]


TWO_SERVERS = """
everywhere:
  statement: XFS against ext3 on every server.
  numbers: [{{metric: throughput, op: {op}, value: {value}, unit: x}}]
  ratio:
  - {{number: 0, over: {{workload: [webserver, varmail]}}, of: xfs, against: ext3{more}}}
"""


@pytest.mark.parametrize(
    ("claim", "worst"),
    [
        ({"op": "at_most", "value": 2, "more": ""}, "varmail"),
        ({"op": "at_least", "value": 1.1, "more": ""}, "webserver"),
        ({"op": "approx", "value": 1.6, "more": ", tolerance: 0.3"}, "webserver"),
        ({"op": "approx", "value": 1.3, "more": ", tolerance: 0.3"}, "varmail"),
    ],
)
def test_the_worst_of_several_is_the_nearest_to_what_refutes_the_claim(declared, claim, worst):
    """Where less is better the least was shown: of 1.3 and 1.56 for "at most 2" the 1.3."""
    claims = declared(TWO_SERVERS.format(**claim))
    cells = synthetic.cells(["webserver", "varmail"], ["ext3", "xfs"])
    trials = synthetic.trials_frame(cells, scatter=0.004, speed={"varmail-xfs-default": 1.2})
    sources = {"loop": Source(trials, 0.05, claims.needs)}
    (part,) = judge_claims(claims, sources, {}, {})["everywhere"]
    assert part.verdict == "reproduced"
    assert part.detail == f"{worst} workload, the worst of 2"
    assert part.what == (
        "any workload throughput: xfs/default over ext3/default, the worst over workload"
    )


def test_a_claim_over_levels_that_a_model_cannot_decide_says_so(declared):
    """Whoever has no meter has modelled power in every cell."""
    own = OVER.replace("[fast, ext3]", "[xfs, ext3]").replace("throughput", "efficiency")
    table = judged(declared(own))
    assert table.loc["everywhere", "verdict"] == "not testable here"
    assert "wall" in table.loc["everywhere", "needs"]


def test_a_precondition_that_is_no_need_is_refused(declared):
    """A part that waits for it would never say what it takes."""
    with pytest.raises(FsgreenError, match=r"line 5: .*ten-blocks"):
        declared(OVER + "    requires: ten-blocks\n")
