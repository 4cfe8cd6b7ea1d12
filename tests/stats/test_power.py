"""What a design can show before it is measured."""

import math

import pytest
from statsmodels.stats.power import TTestPower

from fsgreen.stats import smallest_difference


@pytest.mark.parametrize("n", [5, 10, 40])
@pytest.mark.parametrize("level", [0.05, 0.05 / 34])
def test_it_is_that_of_another_program(n, level):
    """A plan that promises too small a difference sends its user away for hours in vain."""
    effect = TTestPower().solve_power(nobs=n, alpha=level, power=0.8, alternative="two-sided")
    found = smallest_difference(0.03, n - 1, level)
    assert found == pytest.approx(0.03 * math.sqrt(n) * effect, rel=1e-4)


def test_without_a_degree_of_freedom_nothing_is_shown():
    assert math.isnan(smallest_difference(0.03, 0))
    assert math.isnan(smallest_difference(math.nan, 4))
