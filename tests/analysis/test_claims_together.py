"""Rule 49: one row of a part over all campaigns of a study."""

import math
import shutil

import pandas as pd
import pytest
import synthetic
from scipy import stats as distributions

from fsgreen import paths
from fsgreen.analysis.claims.together import claims_together, over_parts, parts_together
from fsgreen.analysis.claims.told import as_told, tell, told
from fsgreen.claims import DISAGREE
from fsgreen.errors import FsgreenError
from fsgreen.reduce import write_table
from tests.parts_of_claims import part_of_a_campaign

STATEMENTS = {"gain": "It gains 20 %.", "other": "Something else."}


def table(name, *rows):
    return pd.DataFrame(rows).assign(campaign=name)


def together(**campaigns):
    return parts_together({name: table(name, *rows) for name, rows in campaigns.items()})


def test_two_campaigns_by_hand():
    """Logs 0.1 and 0.2, errors 0.05: Q = 2, tau^2 = 0.0025, mean 0.15 +- 0.05, next +- 0.0707."""
    (row,) = together(one=[part_of_a_campaign(0.1)], two=[part_of_a_campaign(0.2)]).to_dict(
        "records"
    )
    t = distributions.t.ppf(0.975, 1)
    assert row["campaigns_count"] == 2
    assert math.log(row["ours_x"]) == pytest.approx(0.15)
    assert math.log(row["ours_high_x"]) == pytest.approx(0.15 + t * 0.05, rel=1e-4)
    assert math.log(row["next_high_x"]) == pytest.approx(0.15 + t * math.sqrt(0.005), rel=1e-4)
    assert row["spread_percent"] == pytest.approx(100 * math.expm1(0.05), rel=1e-4)
    assert row["same_holm_p"] == pytest.approx(distributions.chi2.sf(2, 1), rel=1e-4)
    assert row["verdict"] == "inconclusive"
    assert row["one"] == "1.11x [1, 1.22], reproduced at power 0.50"


def test_a_claim_on_all_cells_has_one_row_and_pools_what_is_worst_in_the_same_cell():
    """What was worst once stood in the name: two campaigns had two rows and were never pooled."""
    worst = [part_of_a_campaign(0.2, 0.001, detail=f"{n} readers") for n in (8, 8, 16)]
    (same,) = together(one=[worst[0]], two=[worst[1]]).to_dict("records")
    assert same["detail"] == "8 readers"
    assert not math.isnan(same["next_low_x"])
    (apart,) = together(one=[worst[0]], two=[worst[2]]).to_dict("records")
    assert apart["detail"] == ""
    assert math.isnan(apart["next_low_x"])
    assert apart["verdict"] == "reproduced", "as both of them say"
    assert apart["two"].endswith("reproduced at power 0.50 (16 readers)")
    (bare,) = together(one=[part_of_a_campaign(detail=math.nan)]).to_dict("records")
    assert bare["detail"] == "", "as a table on disk has it whose parts have no detail"


def test_two_clocks_are_compared_on_the_same_cells_only():
    """What the worst of one is over the worst of the other is no error of the model."""
    real, virtual = (
        part_of_a_campaign(log, part=f"first over last ({clock} time)", detail=detail)
        for clock, log, detail in (("real", 0.1, "8 readers"), ("virtual", 0.2, "2 readers"))
    )
    assert together(one=[real, virtual])["model_error_percent"].isna().all()
    alike = together(one=[real, {**virtual, "detail": "8 readers"}])
    assert alike["model_error_percent"].dropna().tolist() == pytest.approx([100 * math.expm1(0.1)])


def test_campaigns_that_agree_closely_decide_for_the_next():
    (row,) = together(
        one=[part_of_a_campaign(0.180, 0.001)],
        two=[part_of_a_campaign(0.181, 0.001)],
        three=[part_of_a_campaign(0.182, 0.001)],
    ).to_dict("records")
    assert row["verdict"] == "reproduced"
    assert row["ours"].startswith("1.2x [")


def test_campaigns_that_disagree_are_not_pooled():
    """A mean of two numbers that exclude each other is what neither of them found."""
    (row,) = together(
        one=[part_of_a_campaign(0.0, 0.01)], two=[part_of_a_campaign(0.5, 0.01)]
    ).to_dict("records")
    assert row["verdict"] == DISAGREE
    assert row["ours"] == "" and math.isnan(row["ours_x"]) and math.isnan(row["next_low_x"])
    assert row["same_holm_p"] < 1e-6
    claims = claims_together(
        parts_together({"one": table("one", row | part_of_a_campaign())}), STATEMENTS
    )
    assert list(claims["verdict"]) == ["reproduced", "not testable here"]
    assert over_parts([DISAGREE, "reproduced"]) == DISAGREE
    assert over_parts([DISAGREE, "reversed"]) == "reversed"


def test_a_claim_has_the_power_of_its_weakest_part_in_the_ledger_too():
    """The campaign itself called the claim underpowered."""
    parts = [
        part_of_a_campaign(verdict="inconclusive", power_p=0.7),
        part_of_a_campaign(part="ext4 over ext3", power_p=0.1),
    ]
    rows = together(one=parts)
    assert list(rows["power_p"]) == [0.7, 0.1]
    verdicts = claims_together(rows, STATEMENTS).set_index("slug")["verdict"]
    assert verdicts["gain"] == "underpowered"


def test_a_claim_of_which_a_part_was_not_tested_is_not_called_whole():
    """A campaign that had ext3 and not ReiserFS reproduced a claim on both, in the ledger alone."""
    tested = part_of_a_campaign(0.181, 0.001)
    absent = {"part": "reiserfs over ext3", "verdict": "not testable here", "basis": ""}
    elsewhere = {"slug": "other", "part": "Something else.", **absent}
    about = {name: tested[name] for name in ("testbed", "profile", "place")}
    rows = pd.DataFrame([tested, tested | absent, tested | elsewhere])
    parts = as_told(rows.drop(columns=["kind", *about]), campaign="one", **about)
    assert list(parts["slug"]) == ["gain", "gain"], "a claim that nothing tested is not told of"
    (claim, other) = claims_together(parts_together({"one": parts}), STATEMENTS).to_dict("records")
    assert (claim["verdict"], claim["scope"]) == ("reproduced", "part")
    assert (other["verdict"], other["scope"]) == ("not testable here", "")
    whole = together(one=[tested])
    assert list(claims_together(whole, {"gain": "x"})["scope"]) == ["whole"]


def test_kinds_of_evidence_are_never_pooled():
    simulated = {"kind": "simulated", "basis": "simulated", "verdict": "not reproduced"}
    rows = together(
        one=[part_of_a_campaign(0.0, 0.01)], two=[part_of_a_campaign(0.5, 0.01, **simulated)]
    )
    assert list(rows["kind"]) == ["measured", "simulated"]
    assert list(rows["campaigns_count"]) == [1, 1]
    assert rows["same_holm_p"].isna().all()
    (claim,) = claims_together(rows, {"gain": "x"}).to_dict("records")
    assert (claim["verdict"], claim["basis"]) == ("reproduced", "measured")
    assert claim["simulated"] == "not reproduced"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"boundary": "wall"}, {"boundary": "dc-rail"}),
        (
            {"kind": "simulated", "basis": "simulated", "testbed": "simdisk"},
            {"kind": "simulated", "basis": "simulated", "testbed": "vm"},
        ),
    ],
)
def test_what_has_another_boundary_or_model_is_never_pooled(one, other):
    """Watts at the wall and behind it, or two models of a machine, are no sample of one number."""
    (agree,) = together(
        one=[part_of_a_campaign(0.15, **one)], two=[part_of_a_campaign(0.16, **other)]
    ).to_dict("records")
    assert (agree["verdict"], agree["campaigns_count"]) == ("reproduced", 2)
    assert math.isnan(agree["same_holm_p"]) and math.isnan(agree["ours_x"])
    (differ,) = together(
        one=[part_of_a_campaign(**one)], two=[part_of_a_campaign(verdict="reversed", **other)]
    ).to_dict("records")
    assert differ["verdict"] == DISAGREE
    (alike,) = together(one=[part_of_a_campaign(**one)], two=[part_of_a_campaign(**one)]).to_dict(
        "records"
    )
    assert alike["same_holm_p"] == 1


def test_campaigns_of_few_blocks_do_not_disagree_by_chance():
    """Errors from five blocks are guesses: 2.9 of them apart is p = 0.02, not 0.004."""
    few = {"degrees_count": 4}
    (row,) = together(
        one=[part_of_a_campaign(0.0, **few)], two=[part_of_a_campaign(0.2, **few)]
    ).to_dict("records")
    error = 0.05 * distributions.norm.ppf(0.975) / distributions.t.ppf(0.975, 4)
    p = 2 * distributions.t.sf(0.2 / (error * math.sqrt(2)), 8)
    assert row["same_holm_p"] == pytest.approx(p, rel=1e-4)


def test_trials_in_another_state_stand_beside_and_are_not_pooled():
    other = {"verdict": "not in the state of the claim", "basis": None, "ours": None}
    (row,) = together(
        ram=[part_of_a_campaign(0.9, **other)], disk=[part_of_a_campaign(0.15)]
    ).to_dict("records")
    assert (row["verdict"], row["campaigns_count"]) == ("reproduced", 1)
    assert row["ram"].endswith("in another state")
    (only,) = together(ram=[part_of_a_campaign(0.9, **other)]).to_dict("records")
    assert only["verdict"] == "not in the state of the claim"


def test_one_campaign_says_what_it_said():
    (row,) = together(one=[part_of_a_campaign()]).to_dict("records")
    assert row["verdict"] == "reproduced"
    assert row["ours"] == part_of_a_campaign()["ours"]
    assert math.isnan(row["same_holm_p"])


def test_a_campaign_of_two_blocks_does_not_hide_what_one_of_five_found():
    """A number without an interval stood beside one with, and the row had none."""
    nothing = {"ours_low_x": math.nan, "ours_high_x": math.nan, "degrees_count": math.nan}
    few = part_of_a_campaign(0.3, verdict="underpowered", detail="of 2", n=2, **nothing)
    (row,) = together(one=[few], two=[part_of_a_campaign(detail="of 6")]).to_dict("records")
    assert (row["verdict"], row["campaigns_count"]) == ("reproduced", 2)
    assert row["ours_x"] == pytest.approx(math.exp(0.15))
    assert row["detail"] == "of 6"
    assert row["one"].endswith("underpowered at power 0.50 (of 2)")


def test_campaigns_without_common_parts_stand_side_by_side():
    rows = together(
        one=[part_of_a_campaign()], two=[part_of_a_campaign(slug="other", verdict="reversed")]
    )
    assert list(rows["verdict"]) == ["reproduced", "reversed"]
    assert rows.loc[0, "two"] == "" and rows.loc[1, "one"] == ""


def test_two_clocks_of_one_model_are_two_rows_with_its_error():
    simulated = {"kind": "simulated", "basis": "simulated"}
    rows = together(
        one=[
            part_of_a_campaign(math.log(2), part="last over first (real time)", **simulated),
            part_of_a_campaign(math.log(8), part="last over first (virtual time)", **simulated),
        ]
    )
    assert list(rows["campaigns_count"]) == [1, 1]
    assert math.isnan(rows.loc[0, "model_error_percent"])
    assert rows.loc[1, "model_error_percent"] == pytest.approx(300)


def test_what_a_model_computes_again_counts_once():
    """The same runs in virtual time were two campaigns, and a sample of two."""
    simulated = {"kind": "simulated", "basis": "simulated", "degrees_count": math.nan}
    run = part_of_a_campaign(part="first over last (virtual time)", **simulated)
    (row,) = together(one=[run], two=[run]).to_dict("records")
    assert (row["verdict"], row["campaigns_count"]) == ("reproduced", 1)
    assert (row["ours"], row["one"]) == (run["ours"], row["two"])
    assert math.isnan(row["same_holm_p"])
    longer, trial = run | {"ours_x": 1.5}, run | {"part": "first over last (real time)"}
    for one, two in ((run, longer), (trial, trial)):
        (row,) = together(one=[one], two=[two]).to_dict("records")
        assert row["campaigns_count"] == 2


def test_virtual_time_shows_the_error_of_its_model_where_it_decides_nothing():
    simulated = {"kind": "simulated", "basis": "simulated"}
    real, virtual = (
        part_of_a_campaign(log, part=f"MiB/s ({clock} time)", **simulated)
        for clock, log in (("real", 0.0), ("virtual", math.log(12)))
    )
    undecided = virtual | {"verdict": "not testable here", "basis": "", "ours": ""}
    rows = together(one=[real, undecided]).set_index("part")
    assert rows.loc["MiB/s (virtual time)", "model_error_percent"] == pytest.approx(1100)
    elsewhere = undecided | {"verdict": "not in the state of the claim"}
    assert together(one=[real, elsewhere])["model_error_percent"].isna().all()


def test_a_part_that_two_published_numbers_are_about_is_two_rows():
    """The text and a figure of a paper may differ; one campaign then disagreed with itself."""
    rows = together(
        one=[part_of_a_campaign(), part_of_a_campaign(published="2x", verdict="not reproduced")]
    )
    assert list(rows["verdict"]) == ["reproduced", "not reproduced"]
    assert list(rows["campaigns_count"]) == [1, 1]


def test_what_print_says_is_told_once():
    """Each campaign recomputes it from the same numbers."""
    printed = {"kind": "published", "basis": "published", "ours_low_x": math.nan}
    (row,) = together(
        one=[part_of_a_campaign(**printed)], two=[part_of_a_campaign(**printed)]
    ).to_dict("records")
    assert row["verdict"] == "reproduced"
    assert row["ours"] == part_of_a_campaign()["ours"]


def test_a_campaign_is_told_beside_others_of_its_study(tmp_path, monkeypatch):
    """One's own are apart from those that ship, on which the shipped ledger rests."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    monkeypatch.setattr(paths, "ships", {"one"}.__contains__)
    for name in ("one", "two"):
        synthetic.write_raw(name, synthetic.make_plan())
        columns = part_of_a_campaign()
        for told_beside in ("kind", "place", "profile", "testbed"):
            del columns[told_beside]
        write_table(pd.DataFrame([columns]), name, "claim_parts")
        tell(name, shipped=name == "one")
    shutil.copy(
        paths.told("fast10", "one", shipped=True), paths.told("fast10", "former", shipped=True)
    )
    assert [*told("fast10", own=False)] == ["one"], "one that params.yaml named once is pooled"
    both = told("fast10", own=True)
    assert [*both] == ["one", "two"]
    assert list(both["two"][["kind", "place", "profile"]].iloc[0]) == [
        "measured",
        "loop, in memory",
        "test",
    ]
    file = paths.told("fast10", "two", shipped=False)
    both["two"].drop(columns="boundary").to_csv(file, index=False)
    with pytest.raises(FsgreenError, match="another version: its table has no boundary") as older:
        told("fast10", own=True)
    assert "fsgreen notebook $step -p campaign two" in (older.value.next_step or "")
