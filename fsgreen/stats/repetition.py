"""How many repetitions, of what, and whether they drift."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats as distributions


@dataclass(frozen=True)
class Components:
    """Standard deviations between blocks and between trials of a block, in per cent."""

    block_percent: float
    trial_percent: float
    blocks: int
    cells: int

    @property
    def buys_most(self) -> str:
        """Return the level whose repetition narrows an interval most."""
        if not (math.isfinite(self.block_percent) and math.isfinite(self.trial_percent)):
            return "unknown"
        return "block" if self.block_percent > self.trial_percent else "trial"


def trend(order: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """Return Kendall's tau of a cell's values over the run order, and its p-value.

    (nan, nan) below four trials: three can never be significant.
    """
    sample = np.asarray(values, dtype=float)
    if sample.size < 4 or float(np.ptp(sample)) == 0:
        return math.nan, math.nan
    result = distributions.kendalltau(np.asarray(order, dtype=float), sample)
    return float(result.statistic), float(result.pvalue)


def trials_needed(
    values: ArrayLike, target: float = 0.05, level: float = 0.95, most: int = 100_000
) -> int | None:
    """Return the n whose Student-t half-width falls below `target` of the mean.

    The question is that of Maricq et al. 2018 (section 5), answered with the variation seen so
    far. None without two trials or when more than `most` were needed.
    """
    sample = np.asarray(values, dtype=float)
    if sample.size < 2 or sample.mean() == 0:
        return None
    cv = float(sample.std(ddof=1)) / abs(float(sample.mean()))

    def too_wide(n: int) -> bool:
        return bool(distributions.t.ppf(0.5 + level / 2, n - 1) * cv / math.sqrt(n) >= target)

    low, high = 2, 2
    while too_wide(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if too_wide(middle) else (low, middle)
    return high


def variance_components(values: ArrayLike) -> Components:
    """Return the components of log(value) = cell + block + trial by the method of moments.

    Searle, Casella & McCulloch, Variance Components, section 4.3, for one trial per cell and block.

    Parameters
    ----------
    values : array_like, shape (cells, blocks)
        Positive values; every cell in every block.
    """
    table = np.log(np.asarray(values, dtype=float))
    cells, blocks = table.shape
    if cells < 2 or blocks < 2:
        return Components(math.nan, math.nan, blocks, cells)
    grand = table.mean()
    of_block = table.mean(axis=0)
    residual = table - table.mean(axis=1, keepdims=True) - of_block + grand
    trial = float((residual**2).sum()) / ((cells - 1) * (blocks - 1))
    block = cells * float(((of_block - grand) ** 2).sum()) / (blocks - 1)
    between = max(0.0, (block - trial) / cells)
    return Components(100 * math.sqrt(between), 100 * math.sqrt(trial), blocks, cells)
