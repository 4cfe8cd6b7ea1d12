"""Rule 52: a mode of one cell alone is told beside its numbers where a trial was in it."""

import re

import numpy as np
import pandas as pd
import pytest
import synthetic

from fsgreen import paths, stats
from fsgreen.analysis.cells import cells_table
from fsgreen.analysis.comparisons import USUAL, pairs_of
from fsgreen.analysis.effects import effects_table
from fsgreen.analysis.scatter import TREATMENTS
from fsgreen.stats.dependence import left_over

CAMPAIGNS = 600

SLOW = np.log(0.6)


def logs_of(cells, blocks, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.03, (cells, blocks)) + rng.normal(0, 0.05, blocks)


def with_slow(logs, count):
    """The same with the first trials of the first cell slower by two fifths."""
    changed = logs.copy()
    changed[0, :count] += SLOW
    return changed


@pytest.mark.parametrize("cells", [3, 6, 34])
@pytest.mark.parametrize(("blocks", "slow"), [(5, 1), (5, 2), (10, 1), (10, 3)])
def test_a_cell_of_which_a_trial_was_slow_is_marked_alone(cells, blocks, slow):
    found = [stats.far_p(with_slow(logs_of(cells, blocks, seed), slow)) for seed in range(40)]
    of_first, of_others = zip(*((p[0], p[1:].min()) for p in found), strict=True)
    assert np.mean(np.array(of_first) < stats.LEVEL) >= 0.95
    assert np.mean(np.array(of_others) < stats.LEVEL) <= 0.05


@pytest.mark.parametrize(("cells", "blocks"), [(3, 5), (6, 5), (34, 5), (12, 10)])
def test_one_campaign_in_twenty_has_a_mark_by_chance(cells, blocks):
    """A mark that many sound campaigns bear says nothing."""
    found = [stats.far_p(logs_of(cells, blocks, seed)).min() for seed in range(400)]
    assert np.mean(np.array(found) < stats.LEVEL) <= 0.08


def test_a_mode_that_all_cells_have_is_of_none_alone():
    """How often intervals cover is then told for all of them, by what they have in common."""
    rng = np.random.default_rng(0)
    found = [
        stats.far_p(logs_of(12, 10, seed) + SLOW * (rng.random((12, 10)) < 1 / 8)).min()
        for seed in range(40)
    ]
    assert np.mean(np.array(found) < stats.LEVEL) <= 0.1


def test_a_cell_that_only_scatters_more_may_be_marked():
    """docs/statistics.md says how often: five trials do not tell a wide scatter from a mode."""
    found = []
    for seed in range(300):
        logs = logs_of(6, 5, seed)
        logs[0] += np.random.default_rng(seed).normal(0, 0.03 * np.sqrt(3), 5)
        found.append(stats.far_p(logs)[0] < stats.LEVEL)
    assert np.mean(found) == pytest.approx(0.4, abs=0.1)


@pytest.mark.parametrize("shape", [(2, 9), (9, 2), (1, 1)])
def test_too_few_cells_or_blocks_mark_nothing(shape):
    assert list(stats.far_p(with_slow(np.zeros(shape), 1))) == [1] * shape[0]


def test_without_scatter_nothing_is_far_and_one_that_differs_is():
    """A disk that is simulated in virtual time repeats to the digit."""
    same = np.tile(np.arange(5.0), (6, 1))
    assert stats.far_p(same).min() == 1
    assert stats.far_p(with_slow(same, 1))[0] < stats.LEVEL < stats.far_p(with_slow(same, 1))[1]


@pytest.mark.parametrize("blocks", [5, 10])
def test_its_own_trials_say_how_often_its_intervals_cover(blocks):
    """In a third of campaigns like this none is slow: two thirds cover, where 95 % are promised."""
    table = pd.DataFrame(with_slow(logs_of(12, blocks, 0), 1), index=list("abcdefghijkl"))
    depends = stats.dependence(logs_of(12, blocks, 0))
    found = stats.own_coverage(table, depends)
    assert set(found.far) == {"a"}
    assert found.of_cell("a") == pytest.approx(67, abs=10)
    assert found.of_ratio("b", "a", pooled=False) == pytest.approx(67, abs=12)
    assert found.of_cell("b") > found.of_cell("a")
    assert found.of_ratio("b", "c", pooled=True) == found.pooled_percent


def test_of_many_groups_of_cells_each_is_held_to_more():
    """Four workloads and two metrics are one campaign."""
    for seed in range(200):
        logs = logs_of(6, 5, seed)
        if 0.01 < stats.far_p(logs).min() < stats.LEVEL:
            break
    depends = stats.dependence(logs)
    assert stats.own_coverage(logs, depends).far
    assert not stats.own_coverage(logs, depends, among=8).far


def test_what_is_compared_with_such_a_cell_says_so_and_the_cell_has_a_star():
    """A difference from it was shown, or refused, without a word."""
    cells = synthetic.cells(["webserver"], list(synthetic.SPEED), ["default", "wrbck"])
    trials = synthetic.trials_frame(cells, 5, seed=1, boundary="wall")
    odd = (trials["file_system"] == "ext4") & (trials["option"] == "wrbck")
    factors = np.where(odd & (trials["block"] == 3), 0.6, 1.0)
    trials = trials.assign(
        **{name: trials[name] * factors for name in ("work_ops", "throughput_ops_s")}
    )
    table = cells_table(trials, synthetic.BOUNDS)
    noted = table["interval_note"].str.contains("further off than those of the others")
    of_odd = (table["file_system"] == "ext4") & (table["option"] == "wrbck")
    assert list(noted) == list(of_odd)
    assert table.loc[of_odd, "starred"].all()
    effects = effects_table(trials, pairs_of(trials, USUAL, TREATMENTS), synthetic.BOUNDS)
    effects = effects[effects["metric"] == "throughput"]
    with_odd = (effects["file_system"] == "ext4") & (effects["option"] == "wrbck")
    assert with_odd.any()
    short = effects["coverage_percent"] < stats.LEAST_PERCENT
    assert list(short) == list(with_odd)


@pytest.mark.parametrize("blocks", [5, 10])
def test_the_guide_says_what_cannot_be_seen(blocks):
    """By simulation, comparing by the scatter of all cells, or of the pair where one is marked."""
    section = section_of("## What these intervals cannot see")
    row = re.search(rf"^\| {blocks} \| " + r" \| ".join([r"(\d+) %"] * 5) + r" \|$", section, re.M)
    said = [int(percent) for percent in row.groups()]
    found = [lone_mode(blocks, seed) for seed in range(CAMPAIGNS)]
    assert said[0] == round(100 * (7 / 8) ** blocks)
    assert 100 * np.mean(found, axis=0) == pytest.approx(said, abs=4)


def lone_mode(blocks, seed):
    """Whether no trial was slow, the cell is marked, it is called different, with a mark, equal."""
    rng = np.random.default_rng(seed)
    slow = rng.random(blocks) < 1 / 8
    rates = np.exp(logs_of(6, blocks, seed))
    rates[0] *= np.where(slow, 0.6, 1.0) / 0.95
    marked = stats.far_p(np.log(rates))[0] < stats.LEVEL
    different = compared(rates, marked).difference_p() < stats.LEVEL
    faster = rates.copy()
    faster[1:] /= 0.95
    equal = compared(faster, marked).equivalence_p(0.05) < stats.LEVEL
    return [not slow.any(), marked, different, different and marked, equal]


def compared(rates, alone):
    """The first cell over the second, as totals over totals."""
    cells, blocks = rates.shape
    if alone:
        shares = rates[:2] / rates[:2].mean(axis=1, keepdims=True)
        error, degrees = (shares[0] - shares[1]).std(ddof=1) / np.sqrt(blocks), blocks - 1
    else:
        degrees = (cells - 1) * (blocks - 1)
        sd = np.sqrt((left_over(np.log(rates)) ** 2).sum() / degrees)
        error = stats.Scatter(sd, degrees, cells - 1).error(blocks)
    one, other = rates[:2].sum(axis=1)
    return stats.LogRatio(np.log(one / other), error, degrees)


def section_of(title):
    return (paths.root() / "docs" / "statistics.md").read_text().split(title)[1].split("\n## ")[0]
