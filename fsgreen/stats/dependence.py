"""Whether trials depend on those of the block before (rule 52), and what that costs."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fsgreen.stats.logratio import NO_SCATTER
from fsgreen.stats.sample import Floats

SUSPECT_LEVEL = 0.15
"""Level from which on dependence widens an interval, lenient as that for a wild cell (Bancroft
1964): five blocks of six cells seldom show even a strong one at 5 %."""

FEWEST_BLOCKS = 4
"""Three blocks have six orders, so that none is rare."""

ALL_ORDERS = 6
"""Blocks up to which every order is tried; of more, `ORDERS` at random."""

ORDERS = 1_000

COEFFICIENTS = np.linspace(-0.95, 0.95, 191)


@dataclass(frozen=True)
class Dependence:
    """How much of what a trial is off its cell and block returns in the next block.

    `coefficient` is that of an AR(1) series; `p` that of "the blocks could be in any order". NaN
    where there are too few cells or blocks.
    """

    coefficient: float
    p: float
    blocks: int

    @property
    def widening(self) -> float:
        """Return by what errors that rest on independent trials must be multiplied.

        1 where dependence is not suspected.
        """
        if not (self.p < SUSPECT_LEVEL and self.coefficient > 0):
            return 1.0
        n = self.blocks
        together = _correlations(self.coefficient, n).sum()
        # Variance of a mean over what independent trials with the same scatter would give.
        return math.sqrt((n - 1) * together / (n * n - together))


def logs_of_whole(cells: ArrayLike, blocks: ArrayLike, values: ArrayLike) -> pd.DataFrame:
    """Return the mean logarithms of the cells that every block has: a row each, a column per block.

    `cells`, `blocks` and `values`, shape (trials,), say what each trial is of, when its block was
    measured, and what came out. Those without a block or a positive value are left out.
    """
    table = pd.DataFrame(
        {"cell": np.asarray(cells), "block": np.asarray(blocks), "x": np.asarray(values, float)}
    )
    known = table[(table["x"] > 0) & np.isfinite(table["x"])]
    logs = known.assign(x=np.log(known["x"])).pivot_table("x", "cell", "block")
    return logs.dropna()


def left_over(logs: ArrayLike) -> Floats:
    """Return what cells and blocks leave of logarithms of the shape (..., cells, blocks)."""
    table = np.asarray(logs, dtype=float)
    of_cells, of_blocks = (table.mean(axis=axis, keepdims=True) for axis in (-1, -2))
    return np.asarray(table - of_cells - of_blocks + of_cells.mean(axis=-2, keepdims=True))


def dependence(logs: ArrayLike, seed: int = 0) -> Dependence:
    """Return how much trials depend on those of the block before, from all cells together.

    The coefficient is the one whose lag-1 autocorrelation, as few blocks show it after their mean
    was taken off, is that of the residuals: the usual estimate is too small by about 1/n. The
    p-value rearranges whole blocks, so that cells may depend on each other.

    `logs`, shape (cells, blocks), are logarithms of trials, the blocks in the order of the clock.
    The orders that are tried follow from the seed.
    """
    table = np.asarray(logs, dtype=float)
    cells, blocks = table.shape
    if cells < 2 or blocks < FEWEST_BLOCKS:
        return Dependence(math.nan, math.nan, blocks)
    residuals = left_over(table)
    square = float((residuals**2).sum())
    if square < NO_SCATTER**2 * table.size:
        return Dependence(math.nan, math.nan, blocks)
    products = residuals.T @ residuals
    orders = _orders(blocks, seed)
    sums = products[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    seen = float(np.diagonal(products, 1).sum())
    p = float((sums >= seen - 1e-9 * square).mean())
    return Dependence(float(np.interp(seen / square, _shown(blocks), COEFFICIENTS)), p, blocks)


def _correlations(coefficient: float, n: int) -> Floats:
    places = np.arange(n)
    return np.asarray(coefficient ** np.abs(places[:, None] - places), dtype=float)


@functools.cache
def _shown(n: int) -> Floats:
    """Return the lag-1 autocorrelation that n blocks show of each of `COEFFICIENTS`."""
    centre = np.eye(n) - 1 / n
    covariances = (centre @ _correlations(c, n) @ centre for c in COEFFICIENTS)
    return np.array([np.trace(covariance, 1) / np.trace(covariance) for covariance in covariances])


@functools.cache
def _orders(n: int, seed: int) -> NDArray[np.intp]:
    """Return orders of n blocks, the one that they are in among them."""
    if n <= ALL_ORDERS:
        return np.array(list(itertools.permutations(range(n))))
    rng = np.random.default_rng(seed)
    return np.vstack([np.arange(n), rng.permuted(np.tile(np.arange(n), (ORDERS, 1)), axis=1)])
