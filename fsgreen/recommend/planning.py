"""The number of further blocks that would decide a comparison."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from fsgreen.stats import Scatter, distributions

MOST = 100
"""Most further blocks that are tried."""


def more_blocks(
    candidate: pd.DataFrame,
    baseline: pd.DataFrame,
    *,
    scatter: Scatter | None = None,
    bound: float,
    minimum: int,
    level: float,
) -> int | None:
    """Return how many further blocks would decide a comparison, with the mean and scatter so far.

    A comparison is decided if a t test shows a difference, or if two one-sided tests show
    equivalence (Schuirmann 1987), each at `level`. A further block has one trial of each cell. None
    if there are fewer than two blocks so far, or if `MOST` further blocks are not enough.

    `candidate` and `baseline` have the columns `block`, `above` and `below`, as `stats.compare`
    reads them. Without the `scatter` of all cells, the t test uses the pairs in each block. `bound`
    is the largest relative difference that counts as none (0.05 for 5 %), and `minimum` the fewest
    blocks that may decide anything. `level` is that of each test; divide it by the size of the
    family for Holm's first step.
    """
    totals = [cell.groupby("block")[["above", "below"]].sum() for cell in (candidate, baseline)]
    rates = [total["above"] / total["below"] for total in totals]
    logs = np.log(rates[0] / rates[1]).dropna().to_numpy(dtype=float)
    n = len(logs)
    if n < 2 or not np.isfinite(logs).all():
        return None
    deviation = float(logs.std(ddof=1))
    mean, limit = abs(float(logs.mean())), -math.log1p(-bound)
    for more in range(max(1, minimum - n), MOST + 1):
        if scatter is None or math.isnan(scatter.sd):
            wider = 1.0 if scatter is None else scatter.widening
            error, degrees = wider * deviation / math.sqrt(n + more), n + more - 1
        else:
            error = scatter.error(n + more)
            degrees = scatter.degrees + more * scatter.block_degrees
        differs = mean > error * -distributions.t_quantile(level / 2, degrees)
        equal = limit - mean > error * -distributions.t_quantile(level, degrees)
        if differs or equal:
            return more
    return None
