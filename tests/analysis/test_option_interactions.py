"""The table of interactions: what a reader concludes from it must be so."""

import pandas as pd
import pytest
import synthetic

from fsgreen import design, units
from fsgreen.analysis import interactions
from fsgreen.analysis.interactions import drawable, interactions_table, sentences
from fsgreen.design.cell import cells_of
from fsgreen.design.columns import INTERACTIONS
from fsgreen.errors import FsgreenError


def planned(options, fraction="full", blocks=5, **more):
    levels = {
        "workload": ["webserver"],
        "file_system": ["xfs"],
        "factorial": {"options": options, "fraction": fraction},
        **more,
    }
    return synthetic.make_plan(list(cells_of(levels)), blocks=blocks)


def speeds(**by_option):
    return {f"webserver-xfs-{name}": value for name, value in by_option.items()}


def table_of(plan, speed, **changes):
    trials = synthetic.trials_frame(plan.cells, plan.profile.blocks, speed=speed, **changes)
    return interactions_table(trials, plan)


def row(table, term, metric="throughput"):
    (found,) = table[(table["term"] == term) & (table["metric"] == metric)].to_dict("records")
    return found


BOTTLENECK = speeds(noatime=2.49, isz1k=2.28, **{"noatime+isz1k": 2.55})


def test_two_good_options_that_are_not_better_together_are_told_so():
    table = table_of(planned(["noatime", "isz1k"]), BOTTLENECK)
    pair = row(table, "noatime:isz1k")
    assert pair["outcome"] == "different"
    assert pair["change_percent"] == pytest.approx(100 * (2.55 / 2.49 / 2.28 - 1), abs=2)
    assert pair["together_percent"] == pytest.approx(155, abs=5)
    assert pair["expected_percent"] == pytest.approx(468, abs=15)
    assert pair["best_alone"] == "noatime"
    (sentence,) = sentences(table)
    assert sentence.startswith("webserver xfs: noatime with isz1k +15")
    assert "less than expected" in sentence


def test_options_that_multiply_are_as_expected_and_better_together():
    speed = speeds(noatime=1.18, isz1k=1.23, **{"noatime+isz1k": 1.18 * 1.23})
    table = table_of(planned(["noatime", "isz1k"], blocks=10), speed, scatter=0.002)
    assert row(table, "noatime:isz1k")["outcome"] == "equivalent"
    (sentence,) = sentences(table)
    assert sentence.endswith("as expected.")


def test_too_few_blocks_conclude_nothing():
    table = table_of(planned(["noatime", "isz1k"], blocks=3), BOTTLENECK)
    assert set(table["outcome"]) == {"inconclusive"}
    assert set(table["n"]) == {3}


def test_aliases_are_in_the_table_and_in_the_sentence():
    plan = planned(["noatime", "blk2k", "agcnt8", "isz1k"], "IV")
    speed = {cell.label: 1.3 for cell in plan.cells if {"blk2k", "agcnt8"} <= set_of(cell)}
    table = table_of(plan, speed)
    one, other = row(table, "blk2k:agcnt8"), row(table, "noatime:isz1k")
    assert one["aliases"] == "noatime:isz1k"
    assert other["aliases"] == "blk2k:agcnt8"
    assert one["change_percent"] == other["change_percent"]
    assert one["difference_holm_p"] == other["difference_holm_p"] < 0.05
    assert not one["clear"]
    assert row(table, "noatime")["clear"]
    found = [text for text in sentences(table) if "noatime with isz1k" in text]
    assert "not to be told from blk2k:agcnt8" in found[0]


def set_of(cell):
    return set(cell["option"].split("+"))


def test_aliased_terms_count_once_in_their_family():
    """Seven contrasts in eight runs: the smallest p is taken seven times, not ten."""
    plan = planned(["noatime", "blk2k", "agcnt8", "isz1k"], "IV")
    table = table_of(plan, None)
    one = table[table["metric"] == "throughput"].sort_values("difference_p").iloc[0]
    assert one["difference_holm_p"] == pytest.approx(min(1, 7 * one["difference_p"]))


def test_blocks_without_all_runs_do_not_count():
    plan = planned(["noatime", "isz1k"], blocks=6)
    trials = synthetic.trials_frame(plan.cells, 6, speed=BOTTLENECK)
    gone = (trials["block"] > 4) & (trials["option"] == "noatime")
    assert set(interactions_table(trials[~gone], plan)["n"]) == {4}


def test_what_was_not_measured_is_said():
    plan = planned(["noatime", "isz1k"])
    none = synthetic.trials_frame(plan.cells, 1).iloc[:0]
    table = interactions_table(none, plan)
    assert set(table["n"]) == {0}
    assert set(table["outcome"]) == {"inconclusive"}
    assert "not been measured in a whole block" in sentences(table)[0]


def test_a_load_of_its_own_is_a_design_of_its_own():
    plan = planned(["noatime", "isz1k"], load_ops_s=[None, 100.0])
    table = table_of(plan, BOTTLENECK)
    pairs = table[table["term"].eq("noatime:isz1k") & table["metric"].eq("throughput")]
    limited = pairs.set_index("load_ops_s")["change_percent"]
    assert limited.loc[100.0] == pytest.approx(0, abs=1e-6)
    assert abs(limited[limited.index.isna()].iloc[0]) > 40


def test_a_campaign_without_a_design_has_an_empty_table_and_advice():
    plan = synthetic.make_plan(blocks=5)
    table = interactions_table(synthetic.trials_frame(plan.cells), plan)
    assert table.empty
    assert tuple(table)[-len(INTERACTIONS) :] == INTERACTIONS
    assert sentences(table) == []
    assert drawable(table, "", "throughput")["none-throughput"].empty
    text = interactions.advice(plan)
    assert "no factorial design" in text
    assert "studies/fast10.yaml" in text


def test_the_advice_can_be_followed():
    """What it tells to add is a factorial that every file system of the example can have."""
    import yaml

    from fsgreen.stacks import filesystems

    lines = interactions.advice(synthetic.make_plan()).splitlines()
    matrix = yaml.safe_load("\n".join(line for line in lines if line.startswith("  ")))
    (levels,) = matrix.values()
    cells = list(cells_of(levels))
    assert len(cells) == 8
    sizes = [filesystems.recipe(cell["file_system"], cell["option"]).minimum_b for cell in cells]
    assert max(sizes) <= 2.5 * 2**30


def test_columns_carry_their_units():
    units.check_columns(table_of(planned(["noatime", "isz1k"]), BOTTLENECK))


def test_the_table_survives_its_file(monkeypatch, tmp_path):
    from fsgreen import reduce

    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    table = table_of(planned(["noatime", "isz1k"]), BOTTLENECK)
    reduce.write_table(table, "mine", "interactions")
    read = reduce.read_table("mine", "interactions")
    assert sentences(read) == sentences(table)
    (drawn,) = drawable(read, "webserver", "efficiency").values()
    assert len(drawn) == 1


def test_every_design_has_a_figure_of_its_own():
    """Three of four workloads with a design had no plot, and nobody was told."""
    table = table_of(planned(["noatime", "isz1k"]), BOTTLENECK)
    both = pd.concat([table, table.assign(workload="varmail")])
    names = list(drawable(both, "", "throughput"))
    assert names == ["01-webserver-xfs-throughput", "02-varmail-xfs-throughput"]


def test_what_cannot_be_drawn_names_what_can():
    table = table_of(planned(["noatime", "isz1k"]), BOTTLENECK)
    with pytest.raises(FsgreenError, match="webserver"):
        drawable(table, "varmail", "throughput")
    with pytest.raises(FsgreenError, match="did you mean throughput"):
        drawable(table, "", "throughputs")


def test_constants_of_a_study_do_not_hide_its_trials():
    """Tables fill in what a study holds constant, where its cells have None."""
    plan = planned(["noatime", "isz1k"])
    trials = synthetic.trials_frame(plan.cells, 5, speed=BOTTLENECK)
    filled = trials.assign(cache="cold", device="initial", scheduler="none")
    pd.testing.assert_frame_equal(
        interactions_table(filled, plan)[["term", "change_percent"]],
        interactions_table(trials, plan)[["term", "change_percent"]],
    )


def test_designs_of_the_plan_are_analysed_not_what_luck_left():
    """A cell that was never measured must not turn a design into a smaller one."""
    plan = planned(["noatime", "isz1k", "agcnt8"])
    trials = synthetic.trials_frame(plan.cells)
    table = interactions_table(trials[trials["option"] != "noatime+isz1k+agcnt8"], plan)
    assert set(table["design"]) == {"noatime+isz1k+agcnt8"}
    assert set(table["n"]) == {0}


def test_a_cell_with_a_factor_of_the_machine_is_found():
    cells = [
        design.Cell(workload="webserver", file_system="xfs", option=o, cache="warm")
        for o in ("default", "a", "b", "a+b")
    ]
    plan = synthetic.make_plan(cells, blocks=5)
    speed = {cell.label: 1.5 for cell in cells if cell["option"] == "a+b"}
    table = interactions_table(synthetic.trials_frame(cells, speed=speed), plan)
    assert row(table, "a:b")["change_percent"] == pytest.approx(50, abs=5)


def test_warm_trials_do_not_count_among_cold_ones():
    """The level that a study holds constant has no name in its cells, and the other level has."""
    names = ("default", "a", "b", "a+b")
    cells = [
        design.Cell(workload="webserver", file_system="xfs", option=o, cache=level)
        for level in (None, "warm")
        for o in names
    ]
    plan = synthetic.make_plan(cells, blocks=5)
    speed = {
        cell.label: 9.0 for cell in cells if cell.get("cache") == "warm" and cell["option"] == "a+b"
    }
    table = interactions_table(synthetic.trials_frame(cells, speed=speed), plan)
    together = table[(table["term"] == "a:b") & (table["metric"] == "throughput")]
    changes = together.set_index("cache")["change_percent"]
    assert changes["cold"] == pytest.approx(0, abs=5)
    assert changes["warm"] == pytest.approx(800, abs=50)
