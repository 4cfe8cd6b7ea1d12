"""Cells that take turns in windows: what that would buy, and what is left to scatter (rule 47)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fsgreen.stats import distributions
from fsgreen.stats.repetition import variance_components

FEWEST_WINDOWS = 8
"""Samples of a trial, below which its two halves by turns are too few to compare."""


def left_by_turns(series: Iterable[ArrayLike], trial_sd: float) -> float:
    """Return the share of an interval's width that would be left if two cells took turns.

    Odd and even samples of a trial are two cells that take turns and do not differ. By how much
    they do, against how far whole trials scatter inside blocks, is 1 where samples are independent,
    and less where the level moves slowly enough for neighbours to share it (Abedi & Brecht 2017;
    Bulej et al. 2020). NaN where too few trials are long enough.

    `series` has a rate at equal distances in time for each trial, and `trial_sd` is the standard
    deviation of the logarithms of trials inside blocks.
    """
    logs = []
    for values in series:
        rates = np.asarray(values, dtype=float)
        rates = rates[: rates.size - rates.size % 2]
        if rates.size >= FEWEST_WINDOWS and (rates > 0).all():
            logs.append(math.log(rates[::2].sum() / rates[1::2].sum()))
    if len(logs) < 2 or not trial_sd > 0:
        return math.nan
    # Each half has half the time of a trial, and a comparison has two trials.
    return float(np.sqrt(np.mean(np.square(logs)))) / (2 * trial_sd)


@dataclass(frozen=True)
class TurnComponents:
    """Standard deviations of log(rate) = cell + block + making + round + window, in per cent.

    Cells that take turns share block and round, so that their ratio has none of these two. A
    making is one cell of a block: its file system, its files and its mount. A trial has `windows`
    windows; `cells` were measured in `blocks`.
    """

    block_percent: float
    making_percent: float
    round_percent: float
    window_percent: float
    windows: int
    cells: int
    blocks: int

    @property
    def buys_most(self) -> str:
        """Return the level whose repetition narrows the interval of a ratio most."""
        if not math.isfinite(self.making_percent):
            return "unknown"
        of_windows = self.window_percent / math.sqrt(self.windows)
        return "making" if self.making_percent > of_windows else "window"

    def half_width_percent(self, blocks: int, windows: int, level: float = 0.95) -> float:
        """Return the half-width of the ratio of two cells after so many blocks and windows.

        It takes both to scatter as all cells together (log values, Student's t): for planning.
        """
        degrees = (self.cells - 1) * (blocks - 1)
        if degrees < 1:
            return math.nan
        quantile = float(distributions.t_quantile(0.5 + level / 2, degrees))
        of_trial = math.hypot(self.making_percent, self.window_percent / math.sqrt(windows))
        return 100 * math.expm1(quantile * math.sqrt(2 / blocks) * of_trial / 100)


def turn_components(groups: Iterable[ArrayLike], trials: ArrayLike) -> TurnComponents:
    """Return what scatters where cells took turns, by the method of moments.

    Round and window are those of two-way tables, pooled over groups; block and making are what
    `variance_components` finds between and within blocks, without the share of the windows that a
    trial is the mean of (Searle, Casella & McCulloch, Variance Components, sections 4.3 and 4.4). A
    negative estimate is given as 0. All are NaN where no two cells took turns in two rounds.

    `groups` has rates of cells that took turns, one table of shape (cells, rounds) for each group.
    `trials`, shape (cells, blocks), has those of whole trials; NaN where a cell was not measured in
    a block. Raises ValueError if a rate is not positive.
    """
    tables = [np.asarray(rates, dtype=float) for rates in groups]
    if any(table.ndim != 2 or not (table > 0).all() for table in tables):
        raise ValueError("components of turns need tables of cells and rounds, positive rates")
    whole = variance_components(trials)
    squares = degrees = of_rounds = weight = 0.0
    for logs in (np.log(table) for table in tables if min(table.shape) > 1):
        cells, rounds = logs.shape
        squares += float((_left(logs) ** 2).sum())
        degrees += (cells - 1) * (rounds - 1)
        of_rounds += cells * float(((logs.mean(axis=0) - logs.mean()) ** 2).sum())
        weight += rounds - 1
    windows = min((table.shape[1] for table in tables), default=0)
    if not degrees:
        nan = math.nan
        return TurnComponents(nan, nan, nan, nan, windows, whole.cells, whole.blocks)
    window = squares / degrees
    ready = sum(table.shape[0] * (table.shape[1] - 1) for table in tables if len(table) > 1)
    round_ = max(0.0, (of_rounds - weight * window) / ready)
    making = max(0.0, (whole.trial_percent / 100) ** 2 - window / windows)
    block = max(0.0, (whole.block_percent / 100) ** 2 - round_ / windows)
    block, making, round_, window = (
        100 * math.sqrt(part) for part in (block, making, round_, window)
    )
    return TurnComponents(block, making, round_, window, windows, whole.cells, whole.blocks)


def explained_share(groups: Iterable[ArrayLike], covariates: Iterable[ArrayLike]) -> float:
    """Return the share of the variance between windows that goes with a covariate, at least 0.

    It is the adjusted R squared of log(rate) on the covariate, both without what cells and rounds
    share. NaN where the covariate is not known or does not vary.

    Each group has the positive rates of cells that took turns, shape (cells, rounds), and its
    covariates are of the same windows.
    """
    pairs = [
        (_left(np.log(np.asarray(rates, dtype=float))), _left(np.asarray(known, dtype=float)))
        for rates, known in zip(groups, covariates, strict=True)
    ]
    degrees = sum((len(left) - 1) * (left.shape[1] - 1) for left, _ in pairs)
    of_both = sum(float((left * known).sum()) for left, known in pairs)
    of_known = sum(float((known**2).sum()) for _, known in pairs)
    total = sum(float((left**2).sum()) for left, _ in pairs)
    if degrees < 2 or not (of_known > 0 and total > 0):
        return math.nan
    unexplained = 1 - of_both**2 / (of_known * total)
    return max(0.0, 1 - unexplained * degrees / (degrees - 1))


def _left(table: np.ndarray) -> np.ndarray:
    """Return what rows and columns of a table do not share."""
    left: np.ndarray = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    return left
