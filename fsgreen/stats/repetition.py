"""How many repetitions are needed, and of what."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fsgreen.stats import distributions
from fsgreen.stats.sample import sample_of


@dataclass(frozen=True)
class Components:
    """Standard deviations between blocks and between trials of a block, in per cent.

    `total_percent` is that of a single trial, both together; it has `degrees` of freedom.
    """

    block_percent: float
    trial_percent: float
    blocks: int
    cells: int
    total_percent: float = math.nan
    degrees: float = math.nan

    @property
    def buys_most(self) -> str:
        """Return the level whose repetition narrows an interval most."""
        if not (math.isfinite(self.block_percent) and math.isfinite(self.trial_percent)):
            return "unknown"
        return "block" if self.block_percent > self.trial_percent else "trial"

    def half_width_percent(self, blocks: int, level: float = 0.95) -> float:
        """Return the half-width of a cell's mean after so many blocks with one trial in each.

        It takes the scatter to be that of all cells together (log values, Student's t): for
        planning, and for cells that scatter alike.
        """
        if not self.degrees > 0:
            return math.nan
        quantile = float(distributions.t_quantile(0.5 + level / 2, self.degrees))
        return 100 * math.expm1(quantile * self.total_percent / 100 / math.sqrt(blocks))


def trials_needed(
    values: ArrayLike, target: float = 0.05, level: float = 0.95, most: int = 100_000
) -> int | None:
    """Return the n whose Student-t half-width falls below `target` of the mean.

    The question is that of Maricq et al. 2018 (section 5), answered with the variation seen so
    far. None without two trials or when more than `most` were needed.
    """
    sample = sample_of(values)
    if sample.size < 2 or sample.mean() == 0:
        return None
    cv = float(sample.std(ddof=1)) / abs(float(sample.mean()))

    def too_wide(n: int) -> bool:
        return bool(distributions.t_quantile(0.5 + level / 2, n - 1) * cv / math.sqrt(n) >= target)

    n = 2 + bisect.bisect_left(range(2, most + 1), True, key=lambda n: not too_wide(n))
    return n if n <= most else None


def variance_components(values: ArrayLike) -> Components:
    """Return the components of log(value) = cell + block + trial.

    Henderson's method 3 (Searle, Casella & McCulloch, Variance Components, section 5.5), for one
    trial per cell and block; in complete blocks it is the method of moments (section 4.3). A
    negative estimate of the variance between blocks is given as 0. The degrees of freedom of the
    total are those of Satterthwaite 1946.

    `values`, shape (cells, blocks), are positive; NaN where a cell was not measured in a block.
    Cells or blocks without two values are left out. Raises ValueError if a value is not positive.
    """
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or not (np.isnan(table) | (table > 0) & np.isfinite(table)).all():
        raise ValueError("components need a table of cells and blocks with positive values")
    table = _connected(table)
    cells, blocks = table.shape
    if cells < 2 or blocks < 2:
        return Components(math.nan, math.nan, blocks, cells)
    row, column = np.nonzero(np.isfinite(table))
    logs = np.log(table[row, column])
    of_cell, of_block = np.eye(cells)[row], np.eye(blocks)[column]
    within = logs - (of_cell.T @ logs / of_cell.sum(axis=0))[row]
    whole = np.hstack([of_cell, of_block])
    fit, _, rank, _ = np.linalg.lstsq(whole, logs, rcond=None)
    residual = float(((logs - whole @ fit) ** 2).sum())
    trial_degrees, block_degrees = logs.size - int(rank), int(rank) - cells
    if trial_degrees < 1 or block_degrees < 1:
        return Components(math.nan, math.nan, blocks, cells)
    trial = residual / trial_degrees
    inside_cells = float((within**2).sum())
    between_square = (inside_cells - residual) / block_degrees
    spread = (logs.size - cells) / block_degrees
    between = (between_square - trial) / spread
    # The same as between + trial, which rounding can make negative.
    total = inside_cells / (logs.size - cells)
    parts = (between_square / spread) ** 2 / block_degrees + (
        (1 - 1 / spread) * trial
    ) ** 2 / trial_degrees
    return Components(
        100 * math.sqrt(max(0.0, between)),
        100 * math.sqrt(trial),
        blocks,
        cells,
        100 * math.sqrt(total),
        total**2 / parts if parts else math.nan,
    )


def _connected(table: np.ndarray) -> np.ndarray:
    """Return the table without cells and blocks that have fewer than two values."""
    while True:
        known = np.isfinite(table)
        rows, columns = known.sum(axis=1) > 1, known.sum(axis=0) > 1
        if rows.all() and columns.all():
            return table
        table = table[rows][:, columns]
