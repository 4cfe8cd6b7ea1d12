"""How many blocks more would tell."""

import numpy as np
import pandas as pd

from fsgreen.recommend.planning import more_blocks
from fsgreen.stats import Scatter


def logs(*values):
    """Two samples whose ratio per block is exp of these values."""
    block = range(1, len(values) + 1)
    base = pd.DataFrame({"block": block, "above": 100.0, "below": 1.0})
    return base.assign(above=100 * np.exp(values)), base


def blocks(*values, minimum=5, level=0.05):
    return more_blocks(*logs(*values), bound=0.05, minimum=minimum, level=level)


def test_more_blocks_are_those_of_the_t_tests():
    """By hand: mean 0.1, deviation 0.2: |t| = 0.5 sqrt(n) passes t(0.975, n - 1) at n = 18."""
    values = [0.1 + 0.2 * x for x in (-1.0, 1.0, -1.0, 1.0, 0.0)]
    assert blocks(*values) == 18 - 5
    assert blocks(0.0, 0.001, -0.001, minimum=5) == 2
    assert blocks(0.3) is None
    edge = 0.0512932943875505
    assert blocks(*(edge + x for x in (-0.2, 0.2, -0.2, 0.2)), minimum=5) is not None
    assert blocks(0.01, 3.0, -3.0, 0.5, -0.4) is None


def test_the_scatter_of_all_cells_makes_the_plan_shorter():
    """By hand: 0.1 over 0.1003 sqrt(2 / n) passes t(0.975, 100 and more) at n = 8."""
    values = [0.1 + 0.2 * x for x in (-1.0, 1.0, -1.0, 1.0, 0.0)]
    known = more_blocks(
        *logs(*values), scatter=Scatter(0.1, 100, 20), bound=0.05, minimum=5, level=0.05
    )
    assert known == 8 - 5
