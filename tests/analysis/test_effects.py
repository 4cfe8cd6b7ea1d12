"""Comparisons of a campaign: what is told apart, what is equal, and what stays open."""

import numpy as np
import pandas as pd
import pytest
import synthetic

from fsgreen import stats
from fsgreen.analysis.comparisons import USUAL, pairs_of
from fsgreen.analysis.configuration import configuration, label, parse
from fsgreen.analysis.effects import effects_table, outcome
from fsgreen.analysis.scatter import TREATMENTS, Scatters, sample
from fsgreen.errors import FsgreenError

CELLS = synthetic.cells(["webserver", "oltp"], ["ext3", "xfs"], ["default", "dtlg", "blk1k"])


def effects(**frame):
    trials = synthetic.trials_frame(CELLS, **frame)
    return effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS)


def test_options_meet_their_default_and_defaults_each_other():
    """Four options per workload and one pair of defaults, each for both metrics."""
    table = effects()
    assert table.groupby("kind").size().to_dict() == {"file system": 4, "option": 16}
    options = table[table["kind"] == "option"]
    assert (options["file_system"] == options["baseline_file_system"]).all()
    assert (options["baseline_option"] == "default").all()


def test_number_dash_and_question_mark():
    """A large effect is different, a quiet none is equivalent, a noisy one stays open."""
    quiet = effects(speed={"webserver-ext3-dtlg": 0.7}, scatter=0.005)
    rows = quiet[quiet["metric"] == "throughput"].set_index(["workload", "file_system", "option"])
    changed = rows.loc[("webserver", "ext3", "dtlg")]
    assert changed["outcome"] == "different"
    assert changed["change_percent"] == pytest.approx(-30, abs=2)
    assert rows.loc[("oltp", "ext3", "dtlg")]["outcome"] == "equivalent"
    assert "equivalent" not in set(effects(scatter=0.3)["outcome"])


def test_few_trials_decide_nothing():
    """Rule 26: below the minimum neither a number nor a dash is shown."""
    assert set(effects(blocks=3, scatter=0.001)["outcome"]) == {"inconclusive"}
    assert outcome(4, 0.001, 0.001, synthetic.BOUNDS) == "inconclusive"


def test_a_cell_without_a_steady_state_has_no_mean_to_compare():
    """Rule 24: a number in table 2 would quote what the report says not to quote."""
    trials = synthetic.trials_frame(CELLS, speed={"webserver-ext3-dtlg": 0.5}, scatter=0.005)
    of_cell = (trials["workload"] == "webserver") & (trials["option"] == "dtlg")
    trials.loc[of_cell & (trials["file_system"] == "ext3"), "steady"] = "no steady state"
    table = effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS)
    names = ["workload", "file_system", "option"]
    found = table.set_index(names)["outcome"]
    assert set(found.loc[("webserver", "ext3", "dtlg")]) == {"inconsistent"}
    assert set(found.loc[("webserver", "xfs", "dtlg")]) == {"equivalent"}


def test_unsteady_power_leaves_the_work_comparable():
    """Rule 24 by metric: work at one level and power that climbs are two things."""
    trials = synthetic.trials_frame(CELLS).assign(steady_power="flat")
    trials.loc[trials["file_system"] == "ext3", "steady_power"] = "no steady state"
    table = effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS)
    found = table.groupby("metric")["outcome"].agg(set)
    assert "inconsistent" in found["efficiency"]
    assert "inconsistent" not in found["throughput"]


def test_what_power_is_stands_in_every_row():
    """Rule 19: modelled joules must not leave the table without their name."""
    assert set(effects(boundary="modelled")["boundary"]) == {"modelled"}


def test_families_are_adjusted_together():
    """Rule 38: one workload, metric and kind share the error; raw values stay beside."""
    table = effects(scatter=0.05)
    assert (table["difference_holm_p"] >= table["difference_p"]).all()
    assert (table["difference_holm_p"] > table["difference_p"]).any()


def test_no_pairs_no_rows():
    """A campaign of one cell has an empty table, not a crash."""
    trials = synthetic.trials_frame(synthetic.cells(file_systems=["xfs"]))
    assert effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS).empty


def test_configurations_are_written_and_read():
    """`ext3/dtlg` in the declaration of claims is that cell."""
    assert parse("ext3/dtlg") == configuration("ext3", "dtlg")
    assert label(parse("xfs")) == "xfs/default"


def test_absolute_values_stand_beside_every_ratio():
    """Rule 30: both sides, in both metrics, over the same blocks as the ratio."""
    table = effects()
    for unit, metric in (("ops_s", "throughput"), ("ops_j", "efficiency")):
        rows = table[table["metric"] == metric]
        ratio = rows[f"candidate_{unit}"] / rows[f"baseline_{unit}"]
        assert ratio.to_numpy() == pytest.approx(rows["ratio_x"].to_numpy())
    xfs = table[(table["file_system"] == "xfs") & (table["workload"] == "webserver")]
    assert xfs["candidate_ops_s"].to_numpy() == pytest.approx(9000 * 1.3, rel=0.1)


def test_where_the_model_holds_intervals_rest_on_all_cells():
    """Rule 36: one scatter for all pairs of a workload, and the bootstrap stands beside it."""
    table = effects(blocks=10, scatter=0.02, seed=2)
    modelled = table[(table["model"] == "mixed model") & (table["metric"] == "throughput")]
    assert len(modelled) > 4
    length = np.log(modelled["ratio_high_x"] / modelled["ratio_low_x"])
    assert (length.groupby(modelled["workload"]).agg(np.ptp) < 1e-6).all()
    alone = np.log(modelled["bootstrap_high_x"] / modelled["bootstrap_low_x"])
    assert alone.median() == pytest.approx(length.median(), rel=0.4)
    assert np.ptp(alone) > 0.01


def test_the_bootstrap_takes_over_and_says_why():
    """Cells that are wild break the model for all; the reason is in the row."""
    trials = synthetic.trials_frame(CELLS, blocks=12)
    odd = (trials["option"] == "dtlg") & (trials["block"] % 2 == 0)
    trials.loc[odd, "work_ops"] //= 3
    table = effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS)
    assert set(table["model"]) == {"bootstrap"}
    assert table["model_note"].str.contains("not normal|variances of cells differ").all()
    assert (table["ratio_low_x"] == table["bootstrap_low_x"]).all()


def test_all_who_compare_a_pair_say_the_same():
    """Table, claims and figures must not contradict each other about one pair."""
    trials = synthetic.trials_frame(CELLS, scatter=0.03)
    table = effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS)
    scatters = Scatters(trials)
    assert set(table["model"]) == {"mixed model", "bootstrap"}
    for row in table.to_dict("records"):
        pair = (
            configuration(row["file_system"], row["option"]),
            configuration(row["baseline_file_system"], row["baseline_option"]),
        )
        samples = (sample(trials, row["workload"], one, row["metric"]) for one in pair)
        found = stats.effect(*samples, scatters.of(row["workload"], row["metric"], *pair))
        assert (found.value, found.low, found.high) == (
            row["ratio_x"],
            row["ratio_low_x"],
            row["ratio_high_x"],
        )
    notes = table.groupby("model")["model_note"].agg(set)
    assert stats.WILD in notes["bootstrap"]


def test_a_pair_without_common_blocks_says_why():
    """The reason in the row is the true one."""
    trials = synthetic.trials_frame(CELLS, scatter=0.02)
    odd = (trials["option"] == "dtlg") & (trials["block"] > 1)
    table = effects_table(trials[~odd], pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS)
    short = table[table["option"] == "dtlg"]
    assert set(short["n"]) == {1}
    assert set(short["model_note"]) == {"too few common blocks"}


@pytest.fixture
def two_caches():
    """Trials of each cell with a cold cache, and faster ones with a warm one."""
    cold = synthetic.trials_frame(CELLS, scatter=0.005).assign(cache="cold")
    return pd.concat([cold, cold.assign(cache="warm", work_ops=5 * cold["work_ops"])])


def test_cold_and_warm_are_never_pooled(two_caches):
    """Rule 7: a pair is compared once in each state, and its family is that of the state."""
    table = effects_table(two_caches, pairs_of(two_caches, USUAL, TREATMENTS), synthetic.BOUNDS)
    of = ["kind", "metric", "workload", "file_system", "option", "baseline_file_system"]
    assert set(table.groupby(of)["cache"].agg(lambda cache: " ".join(sorted(cache)))) == {
        "cold warm"
    }
    cold, warm = (table[table["cache"] == cache] for cache in ("cold", "warm"))
    assert (warm["candidate_ops_s"].to_numpy() / cold["candidate_ops_s"].to_numpy()) == (
        pytest.approx(5)
    )
    assert warm["ratio_x"].to_numpy() == pytest.approx(cold["ratio_x"].to_numpy())


def test_a_sample_of_two_states_is_refused(two_caches):
    """A claim about a cell must not be judged by warm and cold trials together."""
    with pytest.raises(FsgreenError, match="differ in cache: cold, warm"):
        sample(two_caches, "oltp", configuration("xfs"), "throughput")
    cold = two_caches[two_caches["cache"] == "cold"]
    assert len(sample(cold, "oltp", configuration("xfs"), "throughput")) == 5


def test_a_cell_that_names_no_level_of_a_factor_is_the_one_without_it(two_caches):
    """The disk alone is not the disk beside flash: a claim on it was refused, or would mix them."""
    one_unset = two_caches.assign(cache=two_caches["cache"].replace("cold", None))
    chosen = sample(one_unset, "oltp", configuration("xfs"), "throughput")
    cold = two_caches[two_caches["cache"] == "cold"]
    assert chosen.equals(sample(cold, "oltp", configuration("xfs"), "throughput"))
