"""Two cells without common blocks: Welch's t, beside another implementation of it."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats as distributions

from fsgreen.stats import compare_unpaired


def cell(rates):
    """Runs of equal length, by their rates."""
    return pd.DataFrame({"above": rates, "below": 1.0})


def test_ratio_interval_and_p_are_those_of_welch_on_logarithms():
    rng = np.random.default_rng(4)
    one, other = np.exp(rng.normal(1, 0.1, 7)), np.exp(rng.normal(0.8, 0.3, 12))
    ours = compare_unpaired(cell(one), cell(other))
    theirs = distributions.ttest_ind(np.log(one), np.log(other), equal_var=False)
    interval = theirs.confidence_interval()
    assert ours.difference_p == pytest.approx(theirs.pvalue)
    assert (ours.ratio.low, ours.ratio.high) == pytest.approx(np.exp([interval.low, interval.high]))
    assert (ours.ratio.n, ours.ratio.degrees) == (7, pytest.approx(theirs.df))
    assert ours.candidate == pytest.approx(one.mean())


def test_without_a_bound_nothing_is_equivalent_and_with_one_it_can_be():
    same = cell([1.0, 1.001, 0.999, 1.0, 1.001, 0.999])
    assert math.isnan(compare_unpaired(same, same).equivalence_p)
    assert compare_unpaired(same, same, 0.05).equivalence_p < 0.05


@pytest.mark.parametrize(
    ("one", "other"), [([2.0], [1.0, 1.1]), ([0.0, 2.0], [1.0, 1.1]), ([], [1.0])]
)
def test_what_has_no_interval_has_no_p_value_either(one, other):
    """A p-value never stands alone (rule 35)."""
    result = compare_unpaired(cell(one), cell(other))
    assert not result.ratio.has_interval
    assert math.isnan(result.difference_p)


def test_runs_that_do_not_scatter_are_told_apart_or_are_the_same():
    assert compare_unpaired(cell([2.0] * 5), cell([1.0] * 5)).difference_p == 0
    assert compare_unpaired(cell([2.0] * 5), cell([2.0] * 5)).difference_p == 1
