"""The shape of a cell's trials: normal, long-tailed, or of more than one mode."""

from __future__ import annotations

import functools
import math
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from fsgreen.stats.sample import LEVEL, Floats, constant, sample_of

Shape = Literal["unremarkable", "long-tailed", "bimodal", "too few to tell"]
TOO_FEW: Shape = "too few to tell"
NOT_NORMAL: tuple[Shape, ...] = ("long-tailed", "bimodal")
"""Shapes of trials that their mean hides (rule 33)."""

WIDE_PERCENT = 40
"""Coefficient of variation above which fast10 marks a cell of table 2 with a dagger."""

FEW = 10
"""Below this many trials the tests find too few of the long tails and second modes that are there
(their power is in docs/statistics.md) for silence to mean anything."""

LARGEST_SHAPIRO = 5000
"""Trials up to which the p-value of Shapiro and Wilk is accurate (Royston 1995)."""

NULL_SKEWNESSES, NULL_DIPS = 20_000, 2_000
"""Simulated samples from which p-values come; at p = 5 % the error is 0.15 % and 0.5 %."""


def normality_p(values: ArrayLike) -> float:
    """Return the p-value of Shapiro and Wilk 1965, NaN below three trials or without variation.

    Above `LARGEST_SHAPIRO` trials it is that of D'Agostino and Pearson 1973.
    """
    sample = sample_of(values)
    if sample.size < 3 or constant(sample):
        return math.nan
    if sample.size > LARGEST_SHAPIRO:
        return float(scipy.stats.normaltest(sample).pvalue)
    return float(scipy.stats.shapiro(sample).pvalue)


def skewness_p(values: ArrayLike) -> float:
    """Return the p-value of a skewness beyond that of normal trials, to either side.

    The null distribution of the moment coefficient (D'Agostino 1970) is simulated, as its normal
    approximation needs eight trials. NaN below three trials or without variation.
    """
    sample = sample_of(values)
    if sample.size < 3 or constant(sample):
        return math.nan
    null = _null_skewnesses(sample.size)
    return _simulated_p(null, float(_skewnesses(sample[None, :])[0]))


def dip(values: ArrayLike) -> float:
    """Return the dip: how far, at least, the distribution is from one with a single mode.

    The largest difference between the empirical distribution function and the closest unimodal one
    (Hartigan & Hartigan 1985, the algorithm of section 3), from 1 / (2 n) to 1 / 4.

    `values`, shape (n,), has one per trial, in any order; ties count.
    """
    points, counts = np.unique(sample_of(values), return_counts=True)
    upper = np.cumsum(counts).astype(float)
    lower = upper - counts.astype(float)
    first, last, widest = 0, len(points) - 1, 1.0
    while True:
        here = slice(first, last + 1)
        minorant, below = _hull(points[here], lower[here])
        majorant, above = _hull(points[here], -upper[here])
        gap = -above - below
        place = int(np.argmax(gap))
        if gap[place] <= widest:
            break
        if place in minorant:
            left, right = place, majorant[np.searchsorted(majorant, place)]
        else:
            left, right = minorant[np.searchsorted(minorant, place) - 1], place
        outside = (upper[here] - below)[:left], (-above - lower[here])[right + 1 :]
        widest = max([widest, *np.concatenate(outside)])
        if left == 0 and right == last - first:
            break
        first, last = first + int(left), first + int(right)
    return float(widest / (2 * upper[-1]))


def dip_p(values: ArrayLike) -> float:
    """Return the p-value of the dip test: "the trials come from one mode".

    The null distribution is simulated from the uniform, the hardest single mode to tell from two
    (Hartigan & Hartigan 1985, section 4). NaN below four trials, whose dip is always the least.
    At n = 5 it misses most second modes (docs/statistics.md): silence then says nothing.
    """
    sample = sample_of(values)
    if sample.size < 4 or constant(sample):
        return math.nan
    return _simulated_p(_null_dips(sample.size), dip(sample))


def shape(values: ArrayLike) -> Shape:
    """Return what the trials of a cell look like (rule 33).

    bimodal: the dip test rejects one mode. long-tailed: skewed beyond normal. Otherwise
    unremarkable, or, below `FEW` trials, too few to tell.
    """
    sample = sample_of(values)
    if dip_p(sample) < LEVEL:
        return "bimodal"
    if skewness_p(sample) < LEVEL:
        return "long-tailed"
    return TOO_FEW if sample.size < FEW else "unremarkable"


def _hull(x: Floats, y: Floats) -> tuple[list[int], Floats]:
    """Return the vertices of the greatest convex minorant of points, and its value at each x."""
    vertices: list[int] = []
    xs, ys = x.tolist(), y.tolist()
    for index in range(len(xs)):
        while len(vertices) > 1:
            a, b = vertices[-2:]
            rise = (ys[b] - ys[a]) * (xs[index] - xs[a])
            if rise < (ys[index] - ys[a]) * (xs[b] - xs[a]):
                break
            vertices.pop()
        vertices.append(index)
    return vertices, np.interp(x, x[vertices], y[vertices])


def _skewnesses(samples: Floats) -> Floats:
    """Return the size of the skewness of each row."""
    centred = samples - samples.mean(axis=1, keepdims=True)
    return np.asarray(np.abs((centred**3).mean(axis=1)) / (centred**2).mean(axis=1) ** 1.5)


@functools.cache
def _null_skewnesses(n: int) -> Floats:
    return _skewnesses(np.random.default_rng(0).normal(size=(NULL_SKEWNESSES, n)))


@functools.cache
def _null_dips(n: int) -> Floats:
    return np.array([dip(row) for row in np.random.default_rng(0).random((NULL_DIPS, n))])


def _simulated_p(null: Floats, statistic: float) -> float:
    # Equal statistics may differ in the last bits.
    return float(1 + (null >= statistic * (1 - 1e-9)).sum()) / (1 + null.size)
