"""Claims that an audit found too strict or too lenient: what just passes, and what just fails."""

import shutil
from dataclasses import replace

import pandas as pd
import pytest
import synthetic
from servers import OF_PAPER, campaign, put_to_test, usual, with_cells

from fsgreen import paths
from fsgreen.claims import SIZE_EXCLUDED, combine, load_claims
from fsgreen.papers.fast10 import published as fast10
from fsgreen.papers.fast10.reference import Printed as Fast10
from fsgreen.papers.nfstricks03 import published as nfstricks03
from fsgreen.papers.nfstricks03.reference import Printed as Nfstricks03

STEADY = 0.001
"""Trials that scatter so little have intervals as narrow as the steps of these tests."""


def verdict(slug, workloads, file_systems, options, speed):
    of = synthetic.cells(workloads, file_systems, ["default", *options])
    return combine(put_to_test(slug, campaign(of, speed=speed, scatter=STEADY)))[0]


@pytest.mark.parametrize(
    ("file_system", "speed", "expected"),
    [
        ("ext3", 1.55, "reproduced"),
        ("ext3", 1.61, "not reproduced"),
        ("ext3", 0.64, "reproduced"),
        ("ext3", 0.61, "not reproduced"),
        ("ext2", 0.61, "reproduced"),
        ("ext2", 1.61, "not reproduced"),
    ],
)
def test_no_such_large_effect_is_none_in_either_direction(file_system, speed, expected):
    """37: +6 % was refused for +4 %, and the loss of half of a rate was no large effect.

    That of Ext2 is in the claim itself, as a loss of 37 % that scatters.
    """
    speeds = {f"webserver-{file_system}-noatime": speed}
    of = ["webserver"], ["ext2", "ext3", "xfs"], ["noatime"]
    assert verdict("noatime_others_web", *of, speeds) == expected


@pytest.mark.parametrize(
    ("factor", "expected"),
    [(1.78, SIZE_EXCLUDED), (1.82, "reproduced"), (2.94, "reproduced"), (3.0, SIZE_EXCLUDED)],
)
def test_a_loss_lies_between_that_of_the_text_and_that_of_the_table(factor, expected):
    """46: 2 times in the text and 2.7 times in table 2, and 10 % beyond either."""
    speed = {"webserver-ext3-wrbck": 1 / factor}
    assert verdict("web_wrbck", ["webserver"], ["ext3"], ["wrbck"], speed) == expected


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [(30.8, SIZE_EXCLUDED), (32.5, "reproduced"), (308, "reproduced"), (325, SIZE_EXCLUDED)],
)
def test_two_orders_of_magnitude_are_within_half_of_one(ratio, expected):
    """21: whatever is far above passed for about a hundred times."""
    speed = {
        f"{workload}-{file_system}-default": synthetic.RATE["webserver"] / (rate * ratio)
        for workload, rate in synthetic.RATE.items()
        if workload != "webserver"
        for file_system in ("ext2", "ext3", "xfs")
    }
    of = list(synthetic.RATE), ["ext2", "ext3", "xfs"], []
    assert verdict("web_rate_magnitude", *of, speed) == expected


@pytest.mark.parametrize(
    ("ext2", "expected"), [(0.545, "reproduced"), (0.52, SIZE_EXCLUDED), (0.66, SIZE_EXCLUDED)]
)
def test_the_losses_of_the_text_decide_and_those_of_the_table_alone_do_not(ext2, expected):
    """69: what only table 2 has of blocks of 2 KiB is no part of what the text claims."""
    speed = {"varmail-ext2-blk1k": ext2, "varmail-ext3-blk1k": 0.47}
    assert verdict("mail_blk", ["varmail"], ["ext2", "ext3"], ["blk1k"], speed) == expected


@pytest.mark.parametrize(("wide", "expected"), [(4, "by construction"), (5, "not testable here")])
def test_the_protocol_may_note_as_many_exceptions_as_the_paper_does(wide, expected):
    """13: table 2 notes 4 of its 61 pairs; wide intervals of ours said that theirs are wide."""
    source = usual()
    cells = source.cells.sample(61, replace=True, random_state=1)
    cells = cells.assign(n=5, half_width_percent=[30.0] * wide + [2.0] * (61 - wide))
    parts = put_to_test("stat_protocol", with_cells(source, cells))
    assert [part.verdict for part in parts][:2] == ["by construction", expected]
    few = put_to_test("stat_protocol", with_cells(source, cells.assign(n=2)))
    assert few[0].verdict == "not testable here"


@pytest.mark.parametrize(
    ("scatter", "expected"), [(0.06, "reproduced"), (0.8, "not reproduced"), (0.3, "inconclusive")]
)
def test_no_high_deviation_is_a_part_of_its_own(scatter, expected):
    """53: the order alone was tested, and the claim called whole."""
    rates = campaign(synthetic.cells(["fileserver"], ["ext2", "ext3"]), blocks=8, scatter=STEADY)
    off = 1 + scatter * rates.trials["block"].map(lambda block: 1 if block % 2 else -1)
    trials = rates.trials.assign(throughput_ops_s=rates.trials["throughput_ops_s"] * off)
    parts = put_to_test("file_ext2_ext3", replace(rates, trials=trials))
    (deviation,) = [part for part in parts if part.published == "no high deviation"]
    assert deviation.verdict.replace("underpowered", "inconclusive") == expected


def printed(paper, table, tmp_path, change):
    """The printed numbers of a paper with one table changed."""
    shutil.copytree(paths.reference(), tmp_path, dirs_exist_ok=True)
    rows = pd.read_csv(tmp_path / f"{table}.csv")
    change(rows)
    rows.to_csv(tmp_path / f"{table}.csv", index=False)
    return paper(tmp_path)


@pytest.mark.parametrize(("worst", "expected"), [(5.66, "reproduced"), (5.70, SIZE_EXCLUDED)])
def test_a_factor_of_one_digit_is_no_half_of_one_more(worst, expected, tmp_path):
    """64: 4.5 passed for 4. The tables have 5.8 over 1.29; 4.4 is as far as it goes."""

    def change(rows):
        rows.loc[rows["workload"] == "varmail", "perf_gain_over_worst_default_x"] = worst

    tables = printed(Fast10, "fast10_table3", tmp_path, change)
    numbers = OF_PAPER.stated["mail_reiserfs_others"]["numbers"]
    assert combine(list(fast10.RECOMPUTED["mail_reiserfs_others"](tables, numbers)))[0] == expected


@pytest.mark.parametrize(("gain", "expected"), [(1.97, "reproduced"), (1.95, SIZE_EXCLUDED)])
def test_almost_double_is_what_rounds_to_double(gain, expected, tmp_path):
    """nfstricks03-01: the largest gain below the limit passed, whatever it was."""
    assert verdict_with_gain("nfs_abstract_stride", gain, tmp_path) == expected


def verdict_with_gain(slug, gain, tmp_path):
    """The verdict on a claim if table 1 had this gain of cursors in each stride."""

    def change(rows):
        cursor = rows["read_ahead"] == "cursor"
        default = rows[~cursor].set_index(["partition", "stride"])["throughput_mb_s"]
        places = rows.loc[cursor, ["partition", "stride"]].itertuples(index=False, name=None)
        rows.loc[cursor, "throughput_mb_s"] = [gain * default[place] for place in places]

    tables = printed(Nfstricks03, "nfstricks03_table1", tmp_path, change)
    numbers = load_claims("nfstricks03")[slug]["numbers"]
    return combine(list(nfstricks03.RECOMPUTED[slug](tables, numbers)))[0]


def test_what_our_own_derivation_says_of_print_is_no_evidence_but_for_its_failure(tmp_path):
    """fast10-04: nothing is printed to hold the correlation against; that there is none counts."""

    def change(rows):
        of_power = rows["metric"] == "power_eff"
        rows.loc[of_power, "change_percent"] = -rows.loc[of_power, "change_percent"]

    tables = printed(Fast10, "fast10_table2", tmp_path, change)
    found = [
        combine(list(fast10.RECOMPUTED["linearity"](one, [])))[0] for one in (Fast10.load(), tables)
    ]
    assert found == ["by construction", "not reproduced"]


@pytest.mark.parametrize(("gain", "expected"), [(1.499, "reproduced"), (1.49, "not reproduced")])
def test_half_more_is_what_may_have_been_rounded_from_it(gain, expected, tmp_path):
    """nfstricks03-70: table 1 has two places, and 50 % there to the last of them."""
    assert verdict_with_gain("cursor_50", gain, tmp_path) == expected


def test_a_claim_of_which_print_has_one_half_is_tested_in_part():
    """nfstricks03-74: rates of the network are printed, those of disks on that bus are not."""
    parts = list(nfstricks03.RECOMPUTED["pci_limit"](Nfstricks03.load(), []))
    assert combine(parts) == ("reproduced", False)
    assert any("disks" in part.what for part in parts if not part.tested)
