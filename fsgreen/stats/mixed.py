"""Mixed models: `log(metric) ~ factors + (1 | block)`, and whether their assumptions hold."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats as distributions

from fsgreen.stats.sample import LEVEL
from fsgreen.stats.shape import normality_p
from fsgreen.stats.summary import Estimate

BOUNDARY = 0.01
"""Variance between blocks, as a share of that of residuals, below which it counts as none."""


@dataclass(frozen=True)
class MixedModel:
    """Fixed effects of factors with blocks as random effect, on a log scale.

    `trouble` says why the model must not be used, and is empty where it may; `normality_p` (Shapiro
    and Wilk, of the residuals) and `equal_variance_p` (Brown & Forsythe 1974, between combinations
    of levels) are the diagnostics. At the `boundary` no variance between blocks was found, which
    leaves the fixed effects valid. `degrees` are those of contrasts inside blocks.
    """

    rows: dict[tuple[Hashable, ...], NDArray[np.float64]]
    effects: NDArray[np.float64]
    covariance: NDArray[np.float64]
    degrees: int
    n: int
    block_percent: float = math.nan
    trial_percent: float = math.nan
    converged: bool = False
    boundary: bool = False
    normality_p: float = math.nan
    equal_variance_p: float = math.nan
    trouble: str = ""

    def ratio(
        self, candidate: Sequence[Hashable], baseline: Sequence[Hashable], level: float = 0.95
    ) -> tuple[Estimate, float]:
        """Return candidate over baseline, each a combination of levels, and p of "no difference".

        Student's t with the degrees of freedom of the stratum inside blocks (Pinheiro & Bates 2000,
        section 2.4.2). NaN where the model must not be used. `n` counts trials of the whole model.
        """
        if self.trouble:
            return Estimate(math.nan, math.nan, math.nan, self.n), math.nan
        contrast = self.rows[tuple(candidate)] - self.rows[tuple(baseline)]
        value = float(contrast @ self.effects)
        error = math.sqrt(float(contrast @ self.covariance @ contrast))
        half = float(distributions.t.ppf(0.5 + level / 2, self.degrees)) * error
        p = 2 * float(distributions.t.sf(abs(value) / error, self.degrees)) if error else math.nan
        return Estimate(math.exp(value), math.exp(value - half), math.exp(value + half), self.n), p


def mixed_model(trials: pd.DataFrame, factors: Sequence[str], metric: str) -> MixedModel:
    """Fit `log(metric) ~ factors + (1 | block)` by REML (Laird & Ware 1982), and diagnose it.

    Several factors add up on the log scale, without interactions. Logarithms are divided by the
    scatter of the residuals before the fit, so that no bound of the optimiser depends on it. Where
    `trouble` is not empty, `stats.effect` (bootstrap over blocks, then trials) is to be used.

    Parameters
    ----------
    trials : DataFrame
        A row per trial with `block`, the factors and the metric.
    factors : sequence of str
        Columns with levels.
    metric : str
        Column with positive values.

    Raises
    ------
    ValueError
        If a value of the metric is NaN or infinite.
    """
    values = trials[metric].to_numpy(dtype=float)
    if not np.isfinite(values).all():
        raise ValueError("a mixed model needs finite values")
    levels = list(trials[list(factors)].itertuples(index=False, name=None))
    design = _design(trials, factors)
    rows = dict(zip(levels, design, strict=True))
    blocks, of_block = np.unique(trials["block"], return_inverse=True)
    n, width = design.shape
    unknown = np.full(width, math.nan), np.full((width, width), math.nan)
    degrees = n - width - len(blocks) + 1
    if (values <= 0).any():
        return MixedModel(rows, *unknown, degrees, n, trouble="a value is zero or negative")
    logs = np.log(values)
    whole = np.hstack([design, np.eye(len(blocks))[of_block]])
    fit, _, rank, _ = np.linalg.lstsq(whole, logs, rcond=None)
    if len(blocks) < 2 or degrees < 1 or rank < width + len(blocks) - 1:
        return MixedModel(rows, *unknown, degrees, n, trouble="too few blocks or trials")
    left = logs - whole @ fit
    scatter = math.sqrt(float(left @ left) / degrees)
    if scatter < 1e-9:
        return MixedModel(rows, *unknown, degrees, n, trouble="no scatter between trials")
    found = _fit(logs / scatter, design, of_block)
    if found is None:
        return MixedModel(rows, *unknown, degrees, n, trouble="the fit did not converge")
    effects, covariance, block_variance, residual_variance, residuals = found
    normal = normality_p(residuals)
    equal = _equal_variance_p(residuals, levels)
    trouble = [
        text
        for p, text in ((normal, "residuals are not normal"), (equal, "variances of cells differ"))
        if p < LEVEL
    ]
    return MixedModel(
        rows,
        scatter * effects,
        scatter**2 * covariance,
        degrees,
        n,
        block_percent=100 * scatter * math.sqrt(block_variance),
        trial_percent=100 * scatter * math.sqrt(residual_variance),
        converged=True,
        boundary=block_variance < BOUNDARY * residual_variance,
        normality_p=normal,
        equal_variance_p=equal,
        trouble=" and ".join(trouble),
    )


def _design(trials: pd.DataFrame, factors: Sequence[str]) -> NDArray[np.float64]:
    """Return dummies: a mean for each level of the first factor, what further ones add to it."""
    parts = [
        pd.get_dummies(trials[factor].astype(str), drop_first=index > 0).to_numpy(dtype=float)
        for index, factor in enumerate(factors)
    ]
    return np.hstack(parts)


def _fit(
    logs: NDArray[np.float64], design: NDArray[np.float64], of_block: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float, NDArray[np.float64]] | None:
    """Return effects, covariance, variances of blocks and residuals, residuals; None without."""
    from statsmodels.regression.mixed_linear_model import MixedLM

    with warnings.catch_warnings():
        # Convergence and boundary are asked of the result.
        warnings.simplefilter("ignore")
        try:
            # Powell's method needs no gradient: that of the others vanishes at the boundary.
            result = MixedLM(logs, design, groups=of_block).fit(reml=True, method="powell")
        except np.linalg.LinAlgError:
            return None
        width = design.shape[1]
        covariance = np.asarray(result.cov_params())[:width, :width]
        block_variance = float(np.asarray(result.cov_re).item())
        residuals = np.asarray(result.resid, dtype=float)
    if (
        not result.converged
        or not np.isfinite(covariance).all()
        or (covariance.diagonal() < 0).any()
    ):
        return None
    return (
        np.asarray(result.fe_params, dtype=float),
        covariance,
        block_variance,
        float(result.scale),
        residuals,
    )


def _equal_variance_p(
    residuals: NDArray[np.float64], levels: Sequence[tuple[Hashable, ...]]
) -> float:
    """Return the p of Brown and Forsythe; NaN where not every combination has three trials."""
    groups = [
        group.to_numpy()
        for _, group in pd.Series(residuals).groupby([str(level) for level in levels])
    ]
    if len(groups) < 2 or min(len(group) for group in groups) < 3:
        return math.nan
    return float(distributions.levene(*groups, center="median").pvalue)
