"""What trials look like: bells, tails and modes, against published values and linear programs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from fsgreen.stats import dip, dip_p, normality_p, shape, skewness_p

# Quality of 63 faculties, the example of Hartigan & Hartigan 1985.
FACULTIES = [
    *(30, 33, 35, 36, 37, 37, 39, 39, 39, 39, 39, 40, 40, 40, 40, 41, 42, 43, 43, 43, 44, 44, 45),
    *(45, 46, 46, 47, 47, 48, 48, 48, 49, 50, 50, 51, 52, 52, 53, 53, 53, 53, 53, 54, 54, 57, 57),
    *(59, 60, 60, 60, 61, 61, 61, 61, 62, 62, 62, 62, 63, 66, 70, 72, 72),
]
MEN_POUNDS = [148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236]
few = st.lists(st.integers(0, 9), min_size=2, max_size=8)


def dip_by_program(values):
    """The distance to the closest unimodal distribution function, by linear programming.

    Unknown are its values at the points (the one at the mode twice: it may jump there) and t.
    """
    points, counts = np.unique(np.asarray(values, dtype=float), return_counts=True)
    upper = np.cumsum(counts) / counts.sum()
    lower = upper - counts / counts.sum()
    best = math.inf
    for mode in range(len(points)):
        x = np.insert(points, mode, points[mode])
        low, high = np.insert(lower, mode, lower[mode]), np.insert(upper, mode, upper[mode])
        low[mode + 1], high[mode] = upper[mode], lower[mode]
        size = len(x)
        rows, limits = [], []

        def add(limit, rows=rows, limits=limits, size=size, **terms):
            row = np.zeros(size + 1)
            for name, factor in terms.items():
                row[size if name == "t" else int(name[1:])] += factor
            rows.append(row)
            limits.append(limit)

        for i in range(size):
            add(low[i], **{f"u{i}": 1, "t": -1})
            add(-high[i], **{f"u{i}": -1, "t": -1})
        for i in range(size - 1):
            add(0, **{f"u{i}": 1, f"u{i + 1}": -1})
        for i in range(1, size - 1):
            if i in (mode, mode + 1):
                continue
            side = 1 if i < mode else -1
            left, right = 1 / (x[i] - x[i - 1]), 1 / (x[i + 1] - x[i])
            terms = {f"u{i}": left + right, f"u{i - 1}": -left, f"u{i + 1}": -right}
            add(0, **{name: side * factor for name, factor in terms.items()})
        goal = np.append(np.zeros(size), 1)
        best = min(best, linprog(goal, np.array(rows), limits, bounds=(0, 1)).fun)
    return max(best, 1 / (2 * len(values)))


def test_the_published_example_of_the_dip():
    """Hartigan & Hartigan 1985: a dip of 0.059, with a tail probability of about 10 %."""
    assert len(FACULTIES) == 63
    assert dip(FACULTIES) == pytest.approx(7.5 / 126)
    assert 0.07 < dip_p(FACULTIES) < 0.11


def test_two_heaps_dip_most_and_one_heap_least():
    """Two equal atoms: 1/4; equal distances or a single value: 1 / (2 n)."""
    assert dip([3, 3, 3, 8, 8, 8]) == pytest.approx(1 / 4)
    assert dip(range(7)) == pytest.approx(1 / 14)
    assert dip([2, 2, 2]) == pytest.approx(1 / 6)


@settings(deadline=None, max_examples=40)
@given(few)
def test_the_dip_is_the_distance_to_the_closest_single_mode(values):
    """The definition, solved as linear programs: ties and all."""
    assert dip(values) == pytest.approx(dip_by_program(values), abs=1e-7)


@given(few, st.floats(0.1, 10), st.booleans())
def test_the_dip_knows_neither_unit_nor_direction(values, factor, turned):
    """Seconds or rates, ops/s or kops/s: the same modes."""
    scaled = (-factor if turned else factor) * np.array(values)
    assert dip(scaled) == pytest.approx(dip(values), abs=1e-9)


def test_a_cell_that_is_sometimes_slow_is_bimodal():
    """Rule 33: ten fast and ten slow trials must not be shown as one mean."""
    rng = np.random.default_rng(1)
    assert shape(rng.normal([[1.0], [0.7]], 0.02, (2, 10)).ravel()) == "bimodal"
    assert shape(rng.lognormal(sigma=1.0, size=30)) == "long-tailed"
    assert shape(rng.normal(size=30)) == "unremarkable"


def test_five_trials_cannot_tell():
    """Silence at n = 5 must not look like a sound cell."""
    assert shape([99, 101, 100, 98, 103]) == "too few to tell"
    assert shape([7.0]) == "too few to tell"
    assert math.isnan(dip_p([1, 1, 9]))


def test_the_published_example_of_shapiro_and_wilk():
    """Shapiro & Wilk 1965, example 1: weights of 11 men, p below 1 %."""
    assert normality_p(MEN_POUNDS) == pytest.approx(0.0067, abs=0.0005)
    assert skewness_p(MEN_POUNDS) < 0.01


def test_normality_tells_a_bell_from_a_long_tail():
    """The star on a t interval rests on this."""
    rng = np.random.default_rng(2)
    assert normality_p(rng.normal(size=30)) > 0.05
    assert normality_p(rng.lognormal(sigma=1.5, size=30)) < 0.001
    assert normality_p(rng.lognormal(sigma=0.5, size=6000)) < 0.001


def test_trials_without_scatter_have_no_shape():
    """Equal trials give no p-value, and no division by zero."""
    for test in (normality_p, skewness_p, dip_p):
        assert math.isnan(test([1.0, 1.0, 1.0, 1.0, 1.0]))


@pytest.mark.parametrize(
    ("test", "statistic"),
    list(
        itertools.product(
            [normality_p, skewness_p, dip_p, dip, shape], [[], [1, math.nan], [1, math.inf]]
        )
    ),
)
def test_no_shape_of_what_is_missing(test, statistic):
    """A NaN among trials must stop the analysis."""
    with pytest.raises(ValueError):
        test(statistic)
