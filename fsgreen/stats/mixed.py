"""The mixed model of all cells of a group, and whether its assumptions hold."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from fsgreen.stats import distributions
from fsgreen.stats.dependence import Dependence, dependence, logs_of_whole
from fsgreen.stats.logratio import Scatter
from fsgreen.stats.sample import LEVEL, Floats
from fsgreen.stats.shape import normality_p

WILD_LEVEL = 0.15
"""Level of the test for a cell that scatters more than the rest, lenient as Bancroft (1964) advises
before pooling. Over a cell that scatters twice as much as five others, intervals cover 92 % at
least and a family of comparisons errs in 7 % at most (docs/statistics.md)."""

ROUNDING = 1e-9
"""Degrees of freedom that are none."""

UNKNOWN = Dependence(math.nan, math.nan, 0)

WILD = "one of the two cells scatters more than the rest"


@dataclass(frozen=True)
class MixedModel:
    """A mean for each cell and a random effect of each block, on a log scale.

    `trouble` says why the model must not be used, and is empty where it may; `normality_p` (Shapiro
    and Wilk, of the residuals) and `equal_variance_p` (Brown & Forsythe 1974, between cells) are
    the diagnostics. `wild` are the cells whose trials scatter more than those of the rest.
    `block_percent` is the scatter between blocks, `trial_percent` that inside them: the root of the
    mean square of what cells and blocks leave, with its `degrees` of freedom.

    `whole` has the logarithms of the cells that every block has, a row each and a column per block,
    and `depends` how far these depend on the block before.
    """

    cells: int
    degrees: int
    block_percent: float = math.nan
    trial_percent: float = math.nan
    normality_p: float = math.nan
    equal_variance_p: float = math.nan
    wild: frozenset[Hashable] = frozenset()
    trouble: str = ""
    depends: Dependence = UNKNOWN
    whole: pd.DataFrame = field(default_factory=pd.DataFrame, compare=False)

    def refuses(self, *cells: Hashable) -> str:
        """Return why these cells must not be compared by the scatter of all; empty if they may."""
        return self.trouble or (WILD if self.wild.intersection(cells) else "")

    def scatter(self, *cells: Hashable) -> Scatter | None:
        """Return how far trials of these cells scatter inside blocks; None where it `refuses`.

        Where it does so although blocks depend on each other, only the widening is told.
        """
        widening = self.depends.widening
        if self.refuses(*cells):
            return None if widening == 1 else Scatter(math.nan, 0, 0, widening)
        return Scatter(self.trial_percent / 100, self.degrees, self.cells - 1, widening)


def mixed_model(trials: pd.DataFrame, cell: str, metric: str) -> MixedModel:
    """Fit `log(metric) ~ cell + (1 | block)` by REML (Laird & Ware 1982), and diagnose it.

    Logarithms are divided by the scatter of the residuals before the fit, so that no bound of the
    optimiser depends on it.

    `trials` has a row per trial with `block`, which rises with the clock, and the columns `cell`,
    what it is of, whatever that is, and `metric`, a positive value. Raises ValueError if a value of
    the metric is NaN or infinite.
    """
    values = trials[metric].to_numpy(dtype=float)
    if not np.isfinite(values).all():
        raise ValueError("a mixed model needs finite values")
    of_cell, names = pd.factorize(trials[cell])
    of_block, numbers = pd.factorize(trials["block"])
    cells, blocks = len(names), len(numbers)
    degrees = len(values) - cells - blocks + 1
    if (values <= 0).any():
        return MixedModel(cells, degrees, trouble="a value is zero or negative")
    logs, design = np.log(values), np.eye(cells)[of_cell]
    basis, singular, _ = np.linalg.svd(
        np.hstack([design, np.eye(blocks)[of_block]]), full_matrices=False
    )
    basis = basis[:, singular > 1e-9]
    if blocks < 2 or degrees < 1 or basis.shape[1] < cells + blocks - 1:
        return MixedModel(cells, degrees, trouble="too few blocks or trials")
    left = logs - basis @ (basis.T @ logs)
    scatter = math.sqrt(float(left @ left) / degrees)
    if scatter < 1e-9:
        return MixedModel(cells, degrees, trouble="no scatter between trials")
    fitted = _fit(logs / scatter, design, of_block)
    if fitted is None:
        return MixedModel(cells, degrees, trouble="the fit did not converge")
    block_variance, residuals = fitted
    normal = normality_p(residuals)
    wild = _wild(left, basis, of_cell)
    whole = logs_of_whole(of_cell, trials["block"], values)
    equal = _equal_variance_p(residuals, of_cell)
    trouble = [
        text
        for text, failed in (
            ("residuals are not normal", normal < LEVEL),
            ("variances of cells differ", equal < LEVEL),
            ("too few trials for its diagnostics", math.isnan(normal) or math.isnan(equal)),
        )
        if failed
    ]
    return MixedModel(
        cells,
        degrees,
        block_percent=100 * scatter * math.sqrt(block_variance),
        trial_percent=100 * scatter,
        normality_p=normal,
        equal_variance_p=equal,
        wild=frozenset(names[wild]),
        trouble=" and ".join(trouble),
        # A cell that scatters more than the rest would be all that is seen.
        depends=dependence(whole[~wild[whole.index]]),
        whole=whole.set_axis(names[whole.index], axis="index"),
    )


def _wild(left: Floats, basis: Floats, of_cell: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return for each cell whether its mean square is larger than that of the rest (F test)."""
    degrees = np.bincount(of_cell, 1 - (basis**2).sum(axis=1))
    squares = np.bincount(of_cell, left**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = (squares.sum() - squares) / (degrees.sum() - degrees)
        # The only trial of a cell is what its mean is: it scatters by rounding alone.
        excess = np.where(degrees > ROUNDING, squares / degrees / rest, 0.0)
    return distributions.f_tail(excess, degrees, degrees.sum() - degrees) < WILD_LEVEL


def _fit(logs: Floats, design: Floats, of_block: NDArray[np.intp]) -> tuple[float, Floats] | None:
    """Return the variance of blocks and the residuals; None without a fit."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    with warnings.catch_warnings():
        # Convergence and boundary are asked of the result.
        warnings.simplefilter("ignore")
        try:
            # Powell's method needs no gradient: that of the others vanishes at the boundary.
            result = MixedLM(logs, design, groups=of_block).fit(reml=True, method="powell")
        except np.linalg.LinAlgError:
            return None
        block_variance = float(np.asarray(result.cov_re).item())
        residuals = np.asarray(result.resid, dtype=float)
    if not result.converged or not np.isfinite(residuals).all():
        return None
    return block_variance, residuals


def _equal_variance_p(residuals: Floats, of_cell: NDArray[np.intp]) -> float:
    """Return the p of Brown and Forsythe over cells with three trials; NaN without two of them."""
    groups = [group.to_numpy() for _, group in pd.Series(residuals).groupby(of_cell)]
    groups = [group for group in groups if len(group) >= 3]
    if len(groups) < 2:
        return math.nan
    return float(scipy.stats.levene(*groups, center="median").pvalue)
