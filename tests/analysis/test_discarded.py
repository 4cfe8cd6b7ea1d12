"""Comparisons with what was set aside after a look, and without it (rule 48)."""

import numpy as np
import pandas as pd
import pytest
import synthetic

from fsgreen.analysis.comparisons import USUAL, pairs_of
from fsgreen.analysis.discarded import as_first_measured, beside, both_ways
from fsgreen.analysis.effects import effects_table
from fsgreen.analysis.scatter import TREATMENTS

CELLS = synthetic.cells(["webserver"], ["ext3", "ext4", "xfs"])
TRIALS = synthetic.trials_frame(CELLS, blocks=5, speed={"webserver-xfs-default": 0.785})


def compare(trials):
    return effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS)


def slow_first_block(scatter, seed=0):
    """Block 1 as it was first measured: slow, and by another factor in each cell."""
    first = TRIALS[TRIALS["block"] == 1]
    factors = 0.6 * np.exp(np.random.default_rng(seed).normal(0, scatter, len(first)))
    return first.assign(work_ops=first["work_ops"] * factors)


def test_what_was_set_aside_stands_in_place_of_its_successor():
    """Both of one trial would make six blocks of five."""
    first = as_first_measured(TRIALS, slow_first_block(0.1))
    assert sorted(first["trial"]) == sorted(TRIALS["trial"])
    work = first.set_index("trial")["work_ops"] / TRIALS.set_index("trial")["work_ops"]
    assert set(work.index[work < 0.9]) == set(TRIALS["trial"][TRIALS["block"] == 1])


def test_of_trials_set_aside_more_than_once_the_first_measured_counts():
    """Two rows of one trial would be two trials of its block."""
    twice = slow_first_block(0.1)
    later = twice.assign(started_s=twice["started_s"] + 1e5, work_ops=1.0)
    both = pd.concat([later, twice], ignore_index=True)
    pd.testing.assert_frame_equal(as_first_measured(TRIALS, both), as_first_measured(TRIALS, twice))


def test_a_block_that_was_slow_by_other_factors_in_each_cell_costs_outcomes():
    """What fast10's report once denied: "by the same factor in every cell"."""
    effects = compare(TRIALS)
    found = beside(effects, TRIALS, slow_first_block(0.15), compare)
    assert len(found) == len(effects)
    wider = np.log(found["first_high_x"] / found["first_low_x"])
    assert (wider > np.log(found["ratio_high_x"] / found["ratio_low_x"])).all()
    pd.testing.assert_frame_equal(found[effects.columns], effects)


def test_a_block_that_was_slow_as_a_whole_costs_none():
    """Ratios are formed inside blocks."""
    found = beside(compare(TRIALS), TRIALS, slow_first_block(0), compare)
    speed = found[found["metric"] == "throughput"]
    assert len(speed) == 3
    assert speed["first_outcome"].tolist() == speed["outcome"].tolist()
    assert speed["first_ratio_x"].tolist() == pytest.approx(speed["ratio_x"].tolist(), rel=0.01)


def test_the_report_names_each_comparison_that_ends_otherwise():
    """Who reads one analysis alone believes what was chosen after a look."""
    told = both_ways(beside(compare(TRIALS), TRIALS, slow_first_block(0.4), compare), {})
    assert told is not None
    assert told["compared"] == 6
    comparison, metric, now, first = told["differ"][0]
    assert {*comparison.split(" over ")} == {"webserver ext3 default", "webserver xfs default"}
    assert metric in ("throughput", "efficiency, modelled power")
    assert now.startswith("different, ")
    assert first.startswith("inconclusive, ")
    assert both_ways(compare(TRIALS), {}) is None


def test_where_nothing_was_set_aside_the_table_stays_as_it_is():
    effects = compare(TRIALS)
    assert beside(effects, TRIALS, TRIALS.iloc[:0], compare) is effects
