"""Effects and interactions in factorial designs, estimated inside blocks on a log scale.

What two options do together is set against what each does alone: on logs, effects that multiply add
up, and an interaction is a difference of differences. Block by block it is a plain contrast of the
cells' logs, so that what a block does to all cells cancels, and Student's t over blocks holds
whatever the cells' variances are (Box, Hunter & Hunter, Statistics for Experimenters, 2nd ed.,
sections 5.3 to 5.8).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fsgreen.stats.logratio import LogRatio
from fsgreen.stats.sample import Floats
from fsgreen.stats.summary import Estimate


@dataclass(frozen=True)
class Contrast:
    """A ratio of cells with its 95 % interval, and the tests of `Comparison` on it."""

    ratio: Estimate
    difference_p: float
    equivalence_p: float


@dataclass(frozen=True)
class Pair:
    """What two options do alone and together, each as a ratio to neither, with 95 % intervals.

    `expected` is the product of `first` and `second`. `over_best` is together over the best of
    neither, first and second; `best` is its place among these (0, 1, 2). The best is chosen by the
    same data, so that `over_best` errs to the low side.
    """

    first: Estimate
    second: Estimate
    expected: Estimate
    together: Estimate
    over_best: Estimate
    best: int


def interaction_weights(levels: ArrayLike, term: Sequence[int]) -> Floats:
    """Return the weight of each run in the effect (one option) or interaction of some options.

    One option: the mean log with it, less that without it. Two: how much more the first does with
    the second than without, and so on; the means are over all levels of the other options.

    `levels`, shape (runs, options), says which options are on in each run; `term` are columns of
    it. Raises ValueError if some combination of these options was not run.
    """
    chosen = np.asarray(levels, dtype=bool)[:, list(term)]
    weights = np.zeros(len(chosen))
    for combination in np.ndindex(*[2] * len(term)):
        runs = (chosen == np.array(combination, dtype=bool)).all(axis=1)
        if not runs.any():
            raise ValueError("a combination of these options is no run of the design")
        weights[runs] = (-1) ** (len(term) - sum(combination)) / runs.sum()
    return weights


def contrast(logs: ArrayLike, weights: ArrayLike, bound: float) -> Contrast:
    """Return a weighted sum of the runs' logs as a ratio, by Student's t over blocks.

    `logs`, shape (blocks, runs), are logarithms of the cells' rates; every run is in every block.
    The sum of the weights, shape (runs,), is zero. `bound` is as in `LogRatio.equivalence_p`.
    """
    of_block = np.asarray(logs, dtype=float) @ np.asarray(weights, dtype=float)
    ratio = LogRatio.of_blocks(of_block)
    return Contrast(_ratio(of_block), ratio.difference_p(), ratio.equivalence_p(bound))


def pair(logs: ArrayLike, levels: ArrayLike, first: int, second: int) -> Pair:
    """Return what two options do alone and together, averaged over the levels of the others.

    `logs` are as in `contrast`. `levels`, shape (runs, options), says which options are on in each
    run; `first` and `second` are columns of it. Raises ValueError if one of their four combinations
    was not run.
    """
    values, chosen = np.asarray(logs, dtype=float), np.asarray(levels, dtype=bool)
    means = {}
    for combination in ((False, False), (True, False), (False, True), (True, True)):
        runs = (chosen[:, [first, second]] == combination).all(axis=1)
        if not runs.any():
            raise ValueError("a combination of these options is no run of the design")
        means[combination] = values[:, runs].mean(axis=1)
    neither, only_first, only_second, both = means.values()
    best = (
        int(np.argmax([neither.mean(), only_first.mean(), only_second.mean()]))
        if len(values)
        else 0
    )
    return Pair(
        first=_ratio(only_first - neither),
        second=_ratio(only_second - neither),
        expected=_ratio(only_first + only_second - 2 * neither),
        together=_ratio(both - neither),
        over_best=_ratio(both - (neither, only_first, only_second)[best]),
        best=best,
    )


def _ratio(logs: Floats) -> Estimate:
    """Return the mean of logs as a ratio, with its interval."""
    ratio = LogRatio.of_blocks(logs)
    return Estimate(math.exp(ratio.value), *ratio.interval(), len(logs))
