"""The ranking: what may be said of a configuration, and what not without evidence."""

import pytest
import synthetic

from fsgreen import confounds
from fsgreen.analysis.cells import cells_table
from fsgreen.recommend.verdicts import verdict
from tests.recommend.choices import gate_of, made, of_throughput, ranked, tables


def test_gain_loss_and_no_difference_worth_a_reformat_are_told_apart():
    """The three answers of a comparison, in words that an administrator can act on."""
    speed = {
        "varmail-ext3-noatime": 1.3,
        "varmail-ext3-dtlg": 0.7,
        "varmail-ext3-blk2k": 1.005,
        "varmail-xfs-default": 1.0 / 1.3,
    }
    table = of_throughput(made(speed=speed, scatter=0.004))
    assert table.loc[("ext3", "noatime"), "verdict"] == "gain"
    assert table.loc[("ext3", "noatime"), "says"].startswith("gain of 2")
    assert table.loc[("ext3", "dtlg"), "verdict"] == "loss"
    assert table.loc[("ext3", "dtlg"), "says"].startswith("loss of ")
    assert table.loc[("ext3", "blk2k"), "says"] == "no difference worth a reformat"
    assert table.loc[("xfs", "default"), "says"] == "no difference worth a reformat"
    assert table.loc[("ext3", "wrbck"), "says"] == "no difference worth a change of mount options"
    assert table.index[0] == ("ext3", "noatime")
    assert table["order"].tolist() == list(range(1, 9))
    assert table.loc[("ext3", "default"), "says"] == "what there is now"


def test_noise_is_inconclusive_and_says_how_many_blocks_would_tell():
    """An effect of 7 % in noise as large needs more blocks; with them, it is found."""
    speed = {"varmail-ext3-noatime": 1.07}
    of = synthetic.cells(["varmail"], ["ext3"], ["default", "noatime"])
    row = of_throughput(made(of=of, speed=speed, scatter=0.05)).loc[("ext3", "noatime")]
    assert row["verdict"] == "inconclusive"
    assert row["says"] == "inconclusive: 1 more block to tell whether they differ"
    told = made(of=of, speed=speed, scatter=0.05, blocks=5 + 4 * row["more_blocks_count"])
    assert of_throughput(told).loc[("ext3", "noatime"), "verdict"] == "gain"


def test_fewer_blocks_than_the_minimum_decide_nothing():
    """Rule 26: two blocks of the quick profile recommend nothing, whatever the effect."""
    table = of_throughput(made(blocks=2, speed={"varmail-ext3-noatime": 3.0}))
    assert set(table["verdict"]) == {"now", "inconclusive"}
    assert (table["more_blocks_count"].dropna() >= 3).all()
    one = of_throughput(made(blocks=1)).drop(index=("ext3", "default"))
    assert set(one["says"]) == {"inconclusive: too few blocks to say how many would decide"}


def test_modelled_power_decides_nothing_about_joules():
    """Rule 19: the ranking by joule is marked, and only a meter may call a gain."""
    speed = {"varmail-ext3-noatime": 1.5}
    for boundary, expected in (("modelled", "modelled"), ("wall", "gain")):
        table = made(boundary=boundary, speed=speed, scatter=0.004)
        row = table.loc[("efficiency", "ext3", "noatime")]
        assert row["verdict"] == expected
        assert row["ratio_x"] == pytest.approx(1.48, abs=0.03)
        assert ("modelled" in row["says"]) == (boundary == "modelled")


def test_the_best_is_not_alone_if_others_are_not_told_apart_from_it():
    """To take the first of many noisy means for the best is a trap."""
    speed = {"varmail-ext3-noatime": 1.5, "varmail-ext3-blk2k": 1.5}
    beside = of_throughput(made(speed=speed, scatter=0.004))["beside_best"]
    assert set(beside.iloc[:2]) == {"best", "equivalent"}
    assert beside[("ext3", "default")] == "different"


def unsteady(option, speed, column="steady"):
    """The tables of a campaign in which most trials of an option of ext3 have no steady state."""
    trials, _ = tables(scatter=0.004, speed=speed)
    of = (trials["file_system"] == "ext3") & (trials["option"] == option) & (trials["block"] <= 3)
    trials.loc[of, column] = "no steady state"
    return trials, cells_table(trials, synthetic.BOUNDS)


def test_a_cell_without_steady_state_is_not_ranked():
    """Rule 24: most trials without steady state are no mean, and no mean is the best."""
    table = ranked(*unsteady("noatime", {"varmail-ext3-noatime": 2.0}))
    for metric in ("throughput", "efficiency"):
        of_metric = table.loc[metric]
        row = of_metric.loc[("ext3", "noatime")]
        assert (row["verdict"], row["says"]) == ("inconsistent", "no steady state")
        assert row["beside_best"] == "inconsistent"
        assert of_metric["order"].isna().tolist() == [False] * 7 + [True]
        assert of_metric["beside_best"].iloc[0] == "best"


def test_work_per_energy_needs_steady_power():
    """Its cells are compared on power that drifted, however steady the work."""
    table = ranked(*unsteady("noatime", {"varmail-ext3-noatime": 2.0}, "steady_power"))
    assert table.loc[("throughput", "ext3", "noatime"), "verdict"] == "gain"
    assert table.loc[("efficiency", "ext3", "noatime"), "says"] == "no steady state"


def test_nothing_is_compared_with_what_has_no_steady_state():
    """Each would be called better or worse than a mean that is none."""
    table = of_throughput(ranked(*unsteady("default", {"varmail-ext3-noatime": 2.0})))
    assert table.loc[("ext3", "default"), "says"] == "what there is now: no steady state"
    others = table.drop(index=("ext3", "default"))
    assert set(others["says"]) == {"what there is now has no steady state"}
    assert others["order"].tolist() == list(range(1, 8))


def test_a_campaign_without_any_steady_state_has_no_best():
    trials, _ = tables()
    trials["steady"] = "no steady state"
    table = ranked(trials, cells_table(trials, synthetic.BOUNDS))
    assert set(table["beside_best"]) == {""}
    assert table["order"].isna().all()


SPEED = {
    "varmail-ext3-noatime": 1.3,
    "varmail-ext3-dtlg": 0.7,
    "varmail-ext3-wrbck": 12.0,
    "varmail-ext3-blk1k": 1.3,
}


def test_what_a_confound_may_have_made_is_no_gain():
    """The read-ahead of some options was another, and may make more than they seem to."""
    trials, cells = tables(scatter=0.004, speed=SPEED)
    gate = gate_of(trials, ["noatime", "dtlg", "blk2k", "wrbck"], size_percent=500.0)
    table = of_throughput(ranked(trials, cells, gate=gate))
    for option in ("noatime", "dtlg", "blk2k"):
        row = table.loc[("ext3", option)]
        assert (row["gate"], row["verdict"]) == ("flagged", "endangered")
        assert row["says"] == "endangered by read-ahead"
        assert "against an effect of" in row["gate_reason"]
    assert table.loc[("ext3", "wrbck"), ["gate", "verdict"]].tolist() == ["passed", "gain"]
    assert table.loc[("ext3", "blk1k"), ["gate", "verdict"]].tolist() == ["passed", "gain"]
    assert table.loc[("ext3", "default"), "gate"] == ""


def test_a_difference_from_the_best_that_a_confound_may_have_made_is_none():
    """The first of the ranking would seem told apart from what lay further out on the disk."""
    trials, cells = tables(scatter=0.004, speed=SPEED)
    beside = of_throughput(ranked(trials, cells, gate=gate_of(trials, ["noatime"], 9000.0)))
    assert beside["beside_best"][("ext3", "noatime")] == "endangered"
    assert beside["beside_best"][("ext3", "blk1k")] == "different"


def test_options_are_what_is_compared_and_endanger_nothing():
    """Blocks of another size are aligned otherwise: that is the option, not a confound of it."""
    trials, cells = tables(scatter=0.004)
    rows = trials.assign(**dict.fromkeys(confounds.KNOWN, "alike"))
    rows.loc[rows["option"] == "blk1k", "alignment"] = "blocks of 1024 B"
    size = confounds.Size(900.0, 900.0, 900.0, 1.0, 1e-6)
    gate = confounds.Gate(rows, dict.fromkeys(confounds.KNOWN, size))
    assert set(of_throughput(ranked(trials, cells, gate=gate))["gate"]) == {"", "passed"}


def test_other_comparisons_made_together_raise_the_hurdle():
    """Rule 38: one of many options that stands out by luck is not recommended."""
    table = of_throughput(made(scatter=0.03, seed=4))
    compared = table[table["verdict"] != "now"]
    assert (compared["difference_holm_p"] >= compared["difference_p"]).all()
    assert (compared["difference_holm_p"] > compared["difference_p"]).any()


@pytest.mark.parametrize(
    ("outcome", "equivalence_holm_p", "found"),
    [
        ("equivalent", 0.01, "level"),
        ("different", 0.01, "level"),
        ("different", 0.2, "loss"),
        ("inconclusive", 0.2, "no gain"),
    ],
)
def test_an_interval_within_the_bound_is_no_test_of_equivalence(outcome, equivalence_holm_p, found):
    """Rules 37 and 38: of thirty such intervals some lie there by chance."""
    effect = {"change": "format", "metric": "throughput", "boundary": "wall", "n": 5}
    ratio = {"ratio_x": 0.98, "ratio_low_x": 0.96, "ratio_high_x": 0.99, "outcome": outcome}
    row = {**effect, **ratio, "equivalence_holm_p": equivalence_holm_p, "gate": "passed"}
    assert verdict(row, True, synthetic.BOUNDS) == found


def test_absolute_values_stand_beside_every_ratio():
    """Rule 30."""
    table = made()
    assert table[["throughput_ops_s", "efficiency_ops_j"]].notna().all().all()
