"""Claims of nfstricks03 on campaigns that are too small, or in another state: they say so."""

from dataclasses import replace

import pandas as pd
import pytest
import synthetic_readers
from readers import judged, ledger_of, parts_of, slower, source, verdicts

from fsgreen.claims import OTHER_STATE, combine, load_claims, missing
from fsgreen.papers.nfstricks03.claims import CHECKS
from fsgreen.papers.nfstricks03.reference import PAPER


@pytest.fixture(scope="module")
def runs():
    """Readers that behave as nfstricks03 has it."""
    return synthetic_readers.runs()


def test_pairs_that_were_not_run_leave_a_claim_tested_in_part(runs):
    """The profile quick has one and eight readers of six counts."""
    few = replace(runs, trials=runs.trials[runs.trials["readers"].isin([1, 8])])
    verdict, whole = combine(parts_of(few, "zcav_order"))
    assert (verdict, whole) == ("by construction", False)
    assert (
        "ext2 wd200bb partition 4 queue 1 elevator 32 readers"
        in parts_of(few, "zcav_order")[1].lacks
    )


def test_two_trials_say_nothing_of_scatter(runs):
    """Below five trials a deviation of 5 % may be anything."""
    few = replace(runs, trials=runs.trials[runs.trials["block"] <= 2])
    numbers = load_claims(PAPER)["nfs_stat"]["numbers"]
    found = [list(CHECKS["protocol"](source(one), numbers)) for one in (runs, few)]
    assert [parts[1].verdict for parts in found] == ["reproduced", "underpowered"]


def test_what_hangs_on_how_long_files_are_takes_files_of_the_published_size():
    """The quick profile reads a quarter of the files."""
    small = synthetic_readers.runs(scale=0.25)
    ledger = judged(small)
    for slug in ("elev_scsi1_times", "elev_ide1_times", "elev_ratio", "ncscan_fair"):
        assert combine(ledger[slug])[0] == OTHER_STATE, slug
    assert "--profile eight-readers" in missing(ledger["elev_scsi1_times"])
    assert combine(ledger["zcav_obscures"])[0] == "reproduced"
    assert combine(ledger["nfs_bench_volume"]) == ("reproduced", False)
    assert {part.basis for part in ledger["nfs_bench_volume"]} == {"published", None}


@pytest.mark.parametrize(
    ("read_mib", "verdict"), [(256.4, "by construction"), (256.6, "not reproduced")]
)
def test_blocks_of_a_map_are_no_more_of_a_file(runs, read_mib, verdict):
    """256 MB that were read with a thousandth of map were called underpowered."""
    more = runs.trials.assign(bandwidth_b_s=runs.trials["bandwidth_b_s"] * read_mib / 256)
    (part,) = parts_of(replace(runs, trials=more), "nfs_bench_volume")
    assert part.verdict == verdict


def test_too_few_blocks_conclude_nothing(runs):
    """Rule 26: also where the number is not a ratio of two cells."""
    few = replace(runs, trials=runs.trials[runs.trials["block"] <= 3])
    found = verdicts(few, "tcq_off_27", "elev_ratio", "zcav_obscures")
    assert set(found.values()) == {"underpowered"}
    made_so = ("tcq_on_15", "zcav_order", "tcq_off_faster")
    assert set(verdicts(few, *made_so).values()) == {"by construction"}
    off = verdicts(slower(few, 2.0, queue_depth=64), "tcq_on_15")
    assert off["tcq_on_15"] == "underpowered", "more trials may refuse what was made so"


def test_what_was_not_run_is_named(runs):
    """The profile fairness has eight readers alone."""
    eight = replace(runs, trials=runs.trials[runs.trials["readers"] == 8])
    ledger = judged(eight, "elev_ratio", "zcav_read_time")
    assert combine(ledger["elev_ratio"])[0] == "reproduced"
    verdict, whole = combine(ledger["zcav_read_time"])
    assert (verdict, whole) == ("not testable here", False)
    assert (
        "ext2 wd200bb partition 1 queue 1 elevator 1 readers" in ledger["zcav_read_time"][0].lacks
    )


def test_fewer_runs_than_published_are_no_answer_to_their_number(runs):
    """Five runs do not show that nfstricks03 had no 34."""
    ledger = judged(runs, "fig3_runs")
    assert combine(ledger["fig3_runs"])[0] == "not testable here"
    assert "profile fairness" in ledger["fig3_runs"][0].needs
    times = [runs.trials.assign(trial=runs.trials["trial"] + str(n), block=n) for n in range(34)]
    ends = [runs.finishes.assign(trial=runs.finishes["trial"] + str(n)) for n in range(34)]
    many = source(replace(runs, trials=pd.concat(times), finishes=pd.concat(ends)))
    assert combine(ledger_of({"simdisk": many}, "fig3_runs")["fig3_runs"])[0] == "reproduced"
