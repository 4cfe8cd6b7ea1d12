"""All 77 claims of nfstricks03 get a verdict from runs of readers, or say what a test needs."""

from dataclasses import replace

import pandas as pd
import pytest
import synthetic_readers
from readers import DISK, OF_PAPER, judged, ledger_of, parts_of, slower, source, verdicts

from fsgreen.analysis.claims.ledger import VIRTUAL, claims_table, judge_claims, parts_table
from fsgreen.claims import SIZE_EXCLUDED, VERDICTS, combine, load_claims
from fsgreen.confounds import KNOWN, Gate, Size
from fsgreen.papers.nfstricks03.claims import CHECKS
from fsgreen.papers.nfstricks03.published import RECOMPUTED
from fsgreen.papers.nfstricks03.reference import FILE_SYSTEMS, PAPER
from fsgreen.papers.nfstricks03.sources import Zones


@pytest.fixture(scope="module")
def runs():
    """Readers that behave as nfstricks03 has it."""
    return synthetic_readers.runs()


def test_every_claim_has_an_entry_that_names_what_exists():
    """A claim without an entry would vanish from the report."""
    entries = OF_PAPER.entries
    assert list(entries) == list(load_claims(PAPER))
    assert len(entries) == 77
    assert {entry.check for entry in entries.values() if entry.check} == set(CHECKS)
    assert {slug for slug, entry in entries.items() if entry.published} == set(RECOMPUTED)


def test_every_claim_gets_a_verdict_or_a_need_and_none_is_called_measured(runs):
    """Disks in software are simulated, whatever ran above them."""
    zones = dict.fromkeys(("wd200bb", "ddys-t36950n"), Zones.of_file(DISK))
    for testbed in ("simdisk", VIRTUAL):
        ledger = judged(runs, testbed=testbed, zones=zones)
        table = claims_table(OF_PAPER, ledger, testbed, "modelled")
        assert len(table) == 77
        assert set(table["verdict"]) <= set(VERDICTS)
        untested = table[table["verdict"] == "not testable here"]
        assert (untested["needs"].str.len() > 10).all()
        assert set(table["basis"]) == {"simulated", "by construction", "published", ""}
        assert len(parts_table(ledger)) > 77
        where = {""} if testbed == VIRTUAL else {"", testbed}
        assert set(table["testbed"]) == where, "no trial is behind virtual time"


def test_readers_as_published_reproduce_the_published(runs):
    found = verdicts(runs)
    for slug in (
        "zcav_obscures",
        "tcq_off_27",
        "elev_ratio",
        "ncscan_fair",
        "ncscan_throughput",
        "ncscan_slowest_vs_fastest",
    ):
        assert found[slug] == "reproduced", slug
    assert found["udp_vs_tcp"] == "not testable here"


@pytest.mark.parametrize(
    ("slug", "levels", "factor", "verdict"),
    [
        ("zcav_order", {"partition": 1}, 2.0, "reversed"),
        ("tcq_off_faster", {"queue_depth": 1}, 3.0, "reversed"),
        ("tcq_on_15", {"queue_depth": 64}, 2.0, "not reproduced"),
        ("tcq_off_27", {"queue_depth": 1}, 1.3, "not reproduced"),
        ("ncscan_throughput", {"scheduler": "n-cscan"}, 0.6, SIZE_EXCLUDED),
        ("ncscan_slowest_vs_fastest", {"scheduler": "n-cscan"}, 0.2, "reversed"),
        ("elev_scsi1_times", {"scheduler": "elevator"}, 1.5, "not reproduced"),
    ],
)
def test_other_runs_give_other_verdicts(runs, slug, levels, factor, verdict):
    """No verdict is written down."""
    assert verdicts(slower(runs, factor, **levels), slug)[slug] == verdict


def test_the_worst_pair_decides_a_claim_on_all_pairs(runs):
    """A pair that is far above on average, and at times below, is no proof."""
    trials = runs.trials.copy()
    wide = trials["readers"].eq(16) & trials["partition"].eq(1) & trials["disk"].eq("wd200bb")
    factor = trials.loc[wide, "block"].map({1: 0.1, 2: 0.3, 3: 5.0, 4: 1.0, 5: 0.1})
    trials.loc[wide, "duration_s"] *= factor
    trials.loc[wide, "bandwidth_b_s"] /= factor
    slug, scattered = "zcav_order", replace(runs, trials=trials)
    free = OF_PAPER.entries[slug].model_copy(update={"built": False})
    claims = replace(OF_PAPER, stated={slug: OF_PAPER.stated[slug]}, entries={slug: free})
    part, *_ = judge_claims(claims, {"simdisk": source(scattered)}, CHECKS, RECOMPUTED)[slug]
    assert part.detail == "16 readers, the worst of 6"
    assert part.verdict == "underpowered"
    built = parts_of(scattered, slug)[0]
    assert (built.detail, built.verdict) == (part.detail, "by construction")


def gate_of(runs, **levels):
    """A gate that was told the levels of confounds by a function of a trial's cell."""
    rows = [
        {**cell, **dict.fromkeys(KNOWN, "alike")}
        | {name: level(cell) for name, level in levels.items()}
        for cell in runs.trials.to_dict("records")
    ]
    return Gate(pd.DataFrame(rows), dict.fromkeys(KNOWN, Size(900.0, 800.0, 999.0, 1.0, 1e-6)))


def test_a_verdict_says_what_the_gate_does(runs):
    """Read-ahead that somebody changed for the outer quarter may be all of the zones' effect."""
    careless = gate_of(runs, **{"read-ahead": lambda cell: str(cell["partition"])})
    for gate, state in ((careless, "flagged"), (gate_of(runs), "passed")):
        ledger = ledger_of({"simdisk": source(runs, gate=gate)})
        table = claims_table(OF_PAPER, ledger, "simdisk", "modelled").set_index("slug")
        assert table.loc["zcav_order", "gate"] == state
        assert table.loc["ncscan_throughput", "gate"] == "passed"


def test_what_both_clocks_say_must_agree(runs):
    """A model without a kernel does not outvote one with."""
    virtual = slower(replace(runs, clock="virtual time"), 2.0, partition=1)
    sources = {"simdisk": source(runs), VIRTUAL: source(virtual)}
    parts = ledger_of(sources, "zcav_obscures")["zcav_obscures"]
    assert combine(parts)[0] == "not reproduced"
    assert ["(real time)" in part.what for part in parts] == [True, True, False, False]


def test_readers_who_are_done_together_do_not_show_the_direction_of_a_spread(runs):
    """The last is never before the first: fair readers were called "direction only"."""
    last_s = runs.finishes.groupby("trial")["ended_s"].transform("max")
    together = last_s * (1 - 0.01 * (8 - runs.finishes["rank"]))
    parts = parts_of(replace(runs, finishes=runs.finishes.assign(ended_s=together)), "elev_ratio")
    assert {part.verdict for part in parts} == {"not reproduced"}


def test_lines_without_a_bend_are_not_told_apart_by_their_rounding(runs):
    """Both left a hundred-thousandth of the variance, one of it a tenth: that was "reversed"."""
    eighths = runs.finishes["rank"].eq(4) & runs.finishes["trial"].str.contains("wd200bb")
    bent = runs.finishes.assign(ended_s=runs.finishes["ended_s"] * (1 + 1e-4 * eighths))
    assert verdicts(replace(runs, finishes=bent), "elev_shape") == {"elev_shape": "not reproduced"}


def test_each_file_system_decides_by_itself(runs):
    """Pooled, the fair readers of ext2 would hide the unfair ones of ext4 behind a mean."""
    finishes = runs.finishes.copy()
    trials = runs.trials
    fair = trials["file_system"].eq("ext2") & trials["scheduler"].eq("elevator")
    last_s = finishes.groupby("trial")["ended_s"].transform("max")
    named = finishes["trial"].isin(trials.loc[fair, "trial"])
    finishes.loc[named, "ended_s"] = last_s[named] * (1 - 0.001 * (8 - finishes["rank"]))
    parts = parts_of(replace(runs, finishes=finishes), "elev_ratio")
    nearly_six = {part.what: part for part in parts if part.published == "6x"}
    assert len(nearly_six) == len(FILE_SYSTEMS)
    for what, part in nearly_six.items():
        assert part.ours.value == pytest.approx(1.007 if "on ext2" in what else 5.8, rel=0.01)


def test_a_testbed_that_decides_a_claim_as_well_is_a_word_and_no_boolean(runs):
    """YAML 1.1 reads a key `on` as true: a simulated disk decided nothing under that name."""
    assert OF_PAPER.entries["local_rises"].also_on == ("simdisk",)
    parts = parts_of(runs, "local_rises")
    assert combine(parts)[0] in ("reproduced", "reversed", "inconclusive")
    assert {part.basis for part in parts} == {"simulated"}
