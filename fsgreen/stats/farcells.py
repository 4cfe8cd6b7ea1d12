"""Cells some of whose trials lie further off than those of the others (rule 52)."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import ArrayLike

from fsgreen.stats.logratio import NO_SCATTER
from fsgreen.stats.sample import Floats

FEWEST_CELLS = 3
"""Of two cells, what one is off the other is too, to the other side."""

FEWEST_BLOCKS = 3
"""Of two trials neither is the one that is off."""

NULL_CAMPAIGNS = 2_000
"""Simulated for a p-value; at 5 % its error is 0.5 %."""


def off_medians(logs: ArrayLike) -> Floats:
    """Return what the medians of cells and of blocks leave of logarithms (..., cells, blocks).

    A rare slow trial stays as far off as it was, where means would take a part of it.
    """
    table = np.asarray(logs, dtype=float)
    of_cells = table - np.median(table, axis=-1, keepdims=True)
    return np.asarray(of_cells - np.median(of_cells, axis=-2, keepdims=True))


def far_p(logs: ArrayLike) -> Floats:
    """Return for each cell how often, by chance, any cell has a trial as far off as its farthest.

    How far off is counted in root mean squares of the other cells. The null distribution is that of
    normal trials that scatter alike, of the farthest cell: at a level of 5 % any cell is called far
    in 5 % of the campaigns in which none is. 1 with fewer than three cells or blocks.

    `logs`, shape (cells, blocks), are logarithms of trials.
    """
    table = np.asarray(logs, dtype=float)
    cells, blocks = table.shape
    if cells < FEWEST_CELLS or blocks < FEWEST_BLOCKS or np.ptp(off_medians(table)) < NO_SCATTER:
        return np.ones(cells)
    null = _null(cells, blocks)
    as_far = (null >= _farthest(table)[:, None] * (1 - 1e-9)).sum(axis=1)
    return np.asarray((1 + as_far) / (1 + null.size))


def _farthest(logs: Floats) -> Floats:
    """Return how far off the farthest trial of each cell is, shape (..., cells)."""
    left = off_medians(logs)
    squares = (left**2).sum(axis=-1)
    cells, blocks = logs.shape[-2:]
    of_others = (squares.sum(axis=-1, keepdims=True) - squares) / ((cells - 1) * blocks)
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(left).max(axis=-1) / np.sqrt(of_others)
    return np.asarray(np.nan_to_num(off, posinf=np.inf))


@functools.cache
def _null(cells: int, blocks: int) -> Floats:
    rng = np.random.default_rng(0)
    return _farthest(rng.normal(size=(NULL_CAMPAIGNS, cells, blocks))).max(axis=-1)
