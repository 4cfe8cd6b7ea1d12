"""Rule 45: a claim is judged only on trials in the state that it is about."""

import pytest
import synthetic

from fsgreen import paths
from fsgreen.analysis.claims import Claims, Source
from fsgreen.analysis.claims.ledger import claims_table, judge_claims, parts_table
from fsgreen.claims import OTHER_STATE
from fsgreen.errors import FsgreenError

CLAIMS = """
small_blocks:
  statement: Blocks of 2 KiB double what xfs does on a database, and noatime changes nothing.
  numbers: [{metric: throughput, op: approx, value: 2, unit: x}]
  where: {workload: oltp}
  ratio:
  - {number: 0, of: xfs/blk2k, state: [from-disk]}
  equivalence:
  - {metric: throughput, of: xfs/noatime, against: {option: default}}
"""
STATES = """
from-disk:
  says: reads come from a disk
  of: {workload: [oltp]}
  holds: {device_read_percent: {at_least: 50}}
  way: fsgreen measure own --profile disk
"""


@pytest.fixture
def declared(tmp_path, monkeypatch):
    """Write the claims and the states of the study `own`, and read them."""
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    folder = tmp_path / "studies" / "own"
    folder.mkdir(parents=True)

    def write(claims=CLAIMS, states=STATES):
        (folder / "claims.yaml").write_text(claims)
        (folder / "states.yaml").write_text(states)
        return Claims.of("own")

    return write


def tables(claims, **state):
    cells = synthetic.cells(["oltp"], ["xfs"], ["default", "blk2k", "noatime"])
    trials = synthetic.trials_frame(cells, blocks=10, scatter=0.003, speed={"oltp-xfs-blk2k": 2.0})
    source = Source(trials.assign(**state), 0.05, claims.needs)
    ledger = judge_claims(claims, {"loop": source}, {}, {})
    table = claims_table(claims, ledger, "loop", "wall")
    return table.iloc[0], parts_table(ledger)


def test_trials_in_the_state_decide(declared):
    claim, parts = tables(declared(), device_read_percent=80.0)
    assert (claim["verdict"], claim["scope"]) == ("reproduced", "whole")
    assert set(parts["verdict"]) == {"reproduced"}


@pytest.mark.parametrize(("found", "told"), [(0.04, "was 0.04, not"), (float("nan"), "recorded")])
def test_what_memory_answered_is_no_verdict_on_a_disk(found, told, declared):
    """Twelve published effects of a disk were called not reproduced on the page cache."""
    claim, parts = tables(declared(), device_read_percent=found)
    part = parts.set_index("part").loc["oltp throughput: xfs/blk2k over xfs/default"]
    assert part["verdict"] == "not in the state of the claim"
    assert told in part["needs"]
    assert "fsgreen measure own --profile disk" in part["needs"]
    assert part["ours_x"] == pytest.approx(2, rel=0.05), "it may still be looked at"
    assert claim["verdict"] == "reproduced", "its other part is about no disk"
    assert claim["scope"] == "part"


def test_a_claim_without_any_part_in_its_state_says_so(declared):
    only = CLAIMS.partition("  equivalence")[0]
    claim, _ = tables(declared(only), device_read_percent=0.04)
    assert claim["verdict"] == "not in the state of the claim"
    assert claim["tested_count"] == 0
    assert claim["basis"] == ""


def test_no_trial_is_chosen_by_the_state_that_it_was_in(declared):
    """One trial of fifteen from memory: the others alone would be a choice by what came of them."""
    claims = declared()
    _, parts = tables(claims, device_read_percent=[0.1] + [80.0] * 29)
    assert "was 0.1 to 80" in " ".join(parts["needs"])


@pytest.mark.parametrize(
    ("wrong", "instead", "line", "told"),
    [
        ("device_read_percent: {", "device_read_share: {", 5, "did you mean device_read_percent"),
        ("at_least: 50", "at_lest: 50", 5, "did you mean at_least"),
        ("workload: [oltp]", "work_load: [oltp]", 4, "unknown factor 'work_load'"),
        ("  way: fsgreen measure own --profile disk\n", "", 2, "way"),
        ("  way: fsgreen measure own --profile disk\n", "  why: any will do\n", 2, "why"),
        ("  holds: {device_read_percent: {at_least: 50}}\n", "", 2, "holds"),
    ],
)
def test_a_state_that_would_be_misread_is_refused_with_its_line(
    wrong, instead, line, told, declared
):
    assert wrong in STATES
    with pytest.raises(FsgreenError, match=f"line {line}: .*{told}"):
        declared(states=STATES.replace(wrong, instead))


def test_a_state_may_say_why_it_asks_for_nothing(declared):
    """Rule 45 tells a claim that any trial decides from one that nobody looked at."""
    claims = declared(states="from-disk: {says: any trial shows it, why: the cause is known}\n")
    claim, parts = tables(claims, device_read_percent=0.04)
    assert set(parts["verdict"]) == {"reproduced"}
    assert claim["states"] == "from-disk"


@pytest.mark.parametrize(("blk2k", "verdict"), [(80.0, "reproduced"), (0.1, OTHER_STATE)])
def test_one_of_two_cells_may_be_enough(blk2k, verdict, declared):
    claims = declared(states=STATES.replace("  way", "  one_is_enough: true\n  way"))
    of_cell = [0.1, blk2k, 0.1] * 10
    _, parts = tables(claims, device_read_percent=of_cell)
    assert parts["verdict"].iloc[0] == verdict


@pytest.mark.parametrize("where", ["state: [from-disk]", "where: {workload: oltp}\n"])
def test_a_claim_about_no_known_state_is_refused(where, declared):
    """A precondition that is misspelt would never be asked."""
    other = {"state: [from-disk]": "state: [from-disc]"}.get(
        where, f"{where}  state: [from-disc]\n"
    )
    with pytest.raises(FsgreenError, match="did you mean from-disk"):
        declared(CLAIMS.replace(where, other))


def test_of_several_baselines_the_first_that_ran_counts(declared):
    """A cell with the default of the paper beats today's default, once it was measured."""
    against = "{number: 0, of: xfs/blk2k, against: [{option: FIRST}, {option: default}]}"
    for first, told in (("noatime", "xfs/noatime"), ("isz1k", "xfs/default")):
        text = CLAIMS.replace(
            "{number: 0, of: xfs/blk2k, state: [from-disk]}", against.replace("FIRST", first)
        )
        _, parts = tables(declared(text))
        assert parts["part"].iloc[0].endswith(f"over {told}")
