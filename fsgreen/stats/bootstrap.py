"""Resampling: the hierarchical bootstrap of two cells, and the studentised one of a single cell."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fsgreen.stats.logratio import NO_SCATTER
from fsgreen.stats.sample import Floats, sample_of
from fsgreen.stats.summary import Estimate

RESAMPLES = 10_000

MIN_BLOCKS = 5
"""Fewer blocks, or trials, give no bootstrap interval: fast10 (section 3.2) asks for five runs, and
the scatter of four is too poorly known."""

LARGEST_LOG = math.log(sys.float_info.max)
"""The logarithm of the largest number there is."""

AT_ONCE = 1_000_000
"""Draws of a chunk; sixteen chunks are kept, as the same ones serve every comparison."""


@dataclass(frozen=True)
class BlockTrials:
    """The trials of one cell: `values` of shape (trials, 2), `above` and `below`, block by block.

    `counts` has the number of trials of each block.
    """

    values: Floats
    counts: NDArray[np.intp]

    @classmethod
    def of(cls, cell: pd.DataFrame, blocks: Sequence[int]) -> BlockTrials:
        """Return the trials of these blocks, in this order.

        The cell has a row per trial with the columns `block`, `above` and `below`. It has all of
        the blocks, which are ascending. Raises ValueError if a value is NaN or infinite.
        """
        values = np.column_stack([cell[name].to_numpy(dtype=float) for name in ("above", "below")])
        if not np.isfinite(values).all():
            raise ValueError("trials need finite values")
        of_block = cell["block"].to_numpy()
        order = np.argsort(of_block, kind="stable")
        starts, ends = (
            np.searchsorted(of_block[order], blocks, side) for side in ("left", "right")
        )
        chosen = order[np.concatenate([np.arange(a, b) for a, b in zip(starts, ends, strict=True)])]
        return cls(values[chosen], ends - starts)

    @property
    def single(self) -> bool:
        """Return whether each block has one trial."""
        return len(self.values) == len(self.counts)

    def totals(self, times: Floats, rng: np.random.Generator) -> Floats:
        """Return totals of `above` and `below`, shape (resamples, 2).

        `times`, shape (resamples, blocks), says how often each block was drawn. `rng` draws as many
        trials as a block has whenever that was drawn.
        """
        if self.single:
            return np.asarray(times @ self.values)
        totals = np.zeros((len(times), 2))
        edges = np.concatenate([[0], np.cumsum(self.counts)])
        for index, count in enumerate(self.counts):
            picks = times[:, index].astype(int) * count
            drawn = rng.multinomial(picks, np.full(count, 1 / count))
            totals += drawn @ self.values[edges[index] : edges[index + 1]]
        return totals


def resampled_totals(cells: Sequence[BlockTrials], seed: int, resamples: int = RESAMPLES) -> Floats:
    """Return the totals of cells that were measured in the same blocks, resampled.

    Blocks are drawn with replacement, the same ones for all cells, and then, in each drawn block,
    as many trials of the cell as it has there (Kalibera & Jones 2013, section 6).

    Returns `above` and `below`, shape (cells, resamples, 2).
    """
    parts = []
    for part, times in enumerate(_times_drawn(len(cells[0].counts), seed, resamples)):
        rng = np.random.default_rng((seed, part, 1))
        parts.append([cell.totals(times, rng) for cell in cells])
    return np.concatenate(parts, axis=1)


def studentised_ratio(
    numerators: ArrayLike,
    denominators: ArrayLike,
    level: float = 0.95,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Return total over total with a studentised bootstrap interval, for cells with a long tail.

    Each resample's logarithm of the ratio is divided by its own error (Efron & Tibshirani 1993,
    section 12.5; the error as in `ratio_of_totals`), so that the interval reaches farther to the
    side of the tail. Longer than need be for few normal trials (docs/statistics.md). The bounds are
    NaN below `MIN_BLOCKS` trials, where most resamples have no scatter, and where a bound is beyond
    every number: next to no scatter but for one trial that lies far off.

    Raises ValueError if the samples differ in length or a total could be zero or negative.
    """
    above, below = sample_of(numerators), sample_of(denominators)
    if above.shape != below.shape:
        raise ValueError("numerators and denominators must come from the same trials")
    if (below <= 0).any() or (above <= 0).any():
        raise ValueError("a logarithm needs positive values")
    n = above.size
    sums = np.column_stack([above, below, above**2, above * below, below**2])
    (value,), (error,) = _log_ratios(sums.sum(axis=0, keepdims=True), n)
    ratio = math.exp(value)
    if n < MIN_BLOCKS:
        return Estimate.without_interval(ratio, n)
    if error < NO_SCATTER:
        return Estimate(ratio, ratio, ratio, n)
    parts = [_log_ratios(times @ sums, n) for times in _times_drawn(n, seed, resamples)]
    values, errors = (np.concatenate(column) for column in zip(*parts, strict=True))
    errors = np.where(errors < NO_SCATTER, 0.0, errors)
    away = np.where(np.abs(values - value) < NO_SCATTER, 0.0, values - value)
    t = np.divide(away, errors, out=np.copysign(math.inf, away), where=errors > 0)
    least, most = np.quantile(t, [0.5 - level / 2, 0.5 + level / 2], method="closest_observation")
    farthest = max(abs(value - most * error), abs(value - least * error))
    if not farthest < LARGEST_LOG:
        return Estimate.without_interval(ratio, n)
    return Estimate(ratio, math.exp(value - most * error), math.exp(value - least * error), n)


def _log_ratios(sums: Floats, n: int) -> tuple[Floats, Floats]:
    """Return logarithms of ratios and their errors from sums of x, y, x^2, x y and y^2."""
    x, y, xx, xy, yy = sums.T
    residual = np.maximum(xx / x**2 - 2 * xy / (x * y) + yy / y**2, 0.0)
    # What is left by rounding where all trials drawn are one.
    residual = np.where(residual < 1e-14 * yy / y**2, 0.0, residual)
    return np.log(x / y), np.sqrt(n / (n - 1) * residual) if n > 1 else np.zeros_like(x)


def _times_drawn(n: int, seed: int, resamples: int) -> Iterator[Floats]:
    """Yield how often each of n blocks is drawn, in chunks of shape (some resamples, n)."""
    most = max(1, AT_ONCE // n)
    for part, start in enumerate(range(0, resamples, most)):
        yield _chunk(n, seed, part, min(most, resamples - start))


@functools.lru_cache(maxsize=16)
def _chunk(n: int, seed: int, part: int, count: int) -> Floats:
    rng = np.random.default_rng((seed, part))
    places = rng.integers(n, size=(count, n)) + n * np.arange(count)[:, None]
    times = np.bincount(places.ravel(), minlength=count * n).reshape(count, n).astype(float)
    times.flags.writeable = False
    return times
