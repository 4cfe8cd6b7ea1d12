"""Effects and interactions: known coefficients come back, and noise is noise."""

import itertools
import math

import numpy as np
import pytest

from fsgreen.design.factorial import Factorial, fractional
from fsgreen.stats import holm
from fsgreen.stats.interactions import contrast, interaction_weights, pair

RNG = np.random.default_rng(20100223)
DESIGNS = [
    Factorial(("A", "B")),
    Factorial(("A", "B", "C")),
    fractional("ABCD", 4),
    fractional("ABCDE", 4),
    fractional("ABCDEF", 4),
    fractional("ABCDEFG", 4),
]
EACH = pytest.mark.parametrize("design", DESIGNS, ids=lambda d: f"{len(d.runs)}x{len(d.options)}")


def levels_of(design):
    return [[option in run for option in design.options] for run in design.runs]


def columns(design, term):
    return [design.options.index(option) for option in term]


def logs_of(design, coefficients, blocks=6):
    """Logs of a model with coefficients of levels coded -1 and +1, and an effect of each block."""
    coded = 2 * np.array(levels_of(design)) - 1
    values = sum(
        value * coded[:, columns(design, term)].prod(axis=1) for term, value in coefficients.items()
    )
    return values + RNG.normal(5, 1, (blocks, 1))


@EACH
def test_known_coefficients_come_back_exactly(design):
    """Every estimate is its own coefficient and those of its aliases, each with its sign; a block
    that is twice as fast changes nothing."""
    subsets = [
        term
        for size in range(1, len(design.options) + 1)
        for term in itertools.combinations(design.options, size)
        if term not in design.words
    ]
    coefficients = {term: float(RNG.normal(0, 0.1)) for term in subsets}
    logs = logs_of(design, coefficients)
    for term in design.terms:
        aliased = sum(sign * coefficients[alias] for sign, alias in design.aliases(term))
        weights = interaction_weights(levels_of(design), columns(design, term))
        found = contrast(logs, weights, 0.05)
        expected = 2 ** len(term) * (coefficients[term] + aliased)
        assert math.log(found.ratio.value) == pytest.approx(expected, abs=1e-12)
        assert found.ratio.low == pytest.approx(found.ratio.high)


def test_interaction_is_a_difference_of_differences():
    """fast10, section 5.6: 155 % together where 149 % and 128 % let expect 468 %."""
    design = Factorial(("noatime", "notail"))
    logs = np.log([[1, 2.49, 2.28, 2.55]] * 5)
    found = pair(logs, levels_of(design), 0, 1)
    assert found.first.value == pytest.approx(2.49)
    assert found.second.value == pytest.approx(2.28)
    assert found.expected.value == pytest.approx(2.49 * 2.28)
    assert found.together.value == pytest.approx(2.55)
    assert (found.best, found.over_best.value) == (1, pytest.approx(2.55 / 2.49))
    interaction = contrast(logs, interaction_weights(levels_of(design), [0, 1]), 0.05)
    assert interaction.ratio.value == pytest.approx(2.55 / (2.49 * 2.28))


def test_options_that_multiply_do_not_interact():
    """fast10's other pair: blk2k +18 %, agcnt64 +23 %; 45 % would be no interaction."""
    logs = np.log([[1, 1.18, 1.23, 1.18 * 1.23]] * 5)
    weights = interaction_weights(levels_of(Factorial(("blk2k", "agcnt64"))), [0, 1])
    assert contrast(logs, weights, 0.05).ratio.value == pytest.approx(1)


@pytest.mark.parametrize(
    ("rates", "best"), [([1, 0.9, 0.8, 0.9], 0), ([1, 2, 3, 2.5], 2), ([1, 2, 0.5, 4], 1)]
)
def test_the_best_alone_may_be_neither(rates, best):
    found = pair(np.log([rates] * 5), levels_of(Factorial(("a", "b"))), 0, 1)
    assert found.best == best
    assert found.over_best.value == pytest.approx(rates[3] / rates[best])


def test_a_pair_is_averaged_over_the_other_options():
    design = fractional("ABCD", 4)
    coefficients = {("A",): 0.1, ("B",): 0.05, ("C",): 0.4, ("A", "B"): -0.02}
    found = pair(logs_of(design, coefficients), levels_of(design), 0, 1)
    assert math.log(found.first.value) == pytest.approx(2 * (0.1 + 0.02))
    assert math.log(found.together.value) == pytest.approx(2 * (0.1 + 0.05))


def test_intervals_and_tests_hold_their_level_on_noise():
    """With cells of unequal scatter too; 5000 experiments of 5 blocks."""
    design = fractional("ABCD", 4)
    scatter = np.linspace(0.01, 0.05, len(design.runs))
    weights = interaction_weights(levels_of(design), [0, 1])
    rng = np.random.default_rng(7)
    missed = found = equal = 0
    for _ in range(5000):
        noise = contrast(rng.normal(0, scatter, (5, len(scatter))), weights, 0.05)
        missed += not noise.ratio.low <= 1 <= noise.ratio.high
        found += noise.difference_p < 0.05
        at_bound = rng.normal(0, scatter, (5, len(scatter))) - math.log1p(-0.05) * (weights > 0) / 2
        equal += contrast(at_bound, weights, 0.05).equivalence_p < 0.05
    assert 0.044 <= missed / 5000 <= 0.056
    assert missed == found
    assert equal / 5000 <= 0.056


def test_a_family_of_contrasts_errs_at_its_level():
    """All contrasts of a design together, under Holm: at most one experiment in twenty."""
    design = fractional("ABCDE", 4)
    weights = [interaction_weights(levels_of(design), columns(design, t)) for t in design.terms]
    rng = np.random.default_rng(11)
    wrong = 0
    for _ in range(1000):
        logs = rng.normal(0, 0.02, (5, len(design.runs)))
        p_values = holm([contrast(logs, weight, 0.05).difference_p for weight in weights])
        wrong += min(p_values) < 0.05
    assert wrong / 1000 <= 0.065


def test_real_interactions_are_found():
    design = Factorial(("a", "b"))
    rng = np.random.default_rng(3)
    logs = np.log([1, 1.2, 1.2, 1.2]) + rng.normal(0, 0.02, (8, 4)) + rng.normal(0, 1, (8, 1))
    found = contrast(logs, interaction_weights(levels_of(design), [0, 1]), 0.05)
    assert found.difference_p < 0.01
    assert found.ratio.low < 1 / 1.2 < found.ratio.high < 1


@pytest.mark.parametrize("blocks", [0, 1])
def test_without_blocks_there_is_no_interval(blocks):
    design = Factorial(("a", "b"))
    logs = np.zeros((blocks, 4))
    found = contrast(logs, interaction_weights(levels_of(design), [0]), 0.05)
    assert found.ratio.n == blocks
    assert not found.ratio.has_interval
    assert math.isnan(found.difference_p)
    assert pair(logs, levels_of(design), 0, 1).over_best.n == blocks


def test_a_combination_that_was_not_run_has_no_interaction():
    with pytest.raises(ValueError, match="no run of the design"):
        interaction_weights([[False, False], [True, True]], [0, 1])
    with pytest.raises(ValueError, match="no run of the design"):
        pair([[1.0, 2.0]], [[False, False], [True, True]], 0, 1)
