"""Trials far from the others of their cell, in any quantity: a reader can look at them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fsgreen.design import metrics
from fsgreen.reduce import factors_of
from fsgreen.rules import repeated
from fsgreen.rules.evidence import Evidence
from fsgreen.words import listed

FAR = 3.5
"""Trials with a larger modified z-score are flagged (Iglewicz & Hoaglin 1993)."""


def far_trials(trials: pd.DataFrame, values: pd.Series) -> list[str]:
    """Return the names of the trials whose value lies far from the median of their cell.

    `values` has one for each row of `trials.csv`. NaN is not far from anything.
    """
    of_cell = values.groupby([trials[name] for name in factors_of(trials)], dropna=False)
    return list(trials["trial"][of_cell.transform(_far).astype(bool)])


def far_by_metric(evidence: Evidence) -> str:
    """Return, as the end of a sentence, the far trials by each metric other than throughput.

    These are the metrics in which the study compares cells. One that only repeats work per second
    is left out (rule 50).
    """
    if evidence.effects.empty:
        return ""
    told = ""
    for name in repeated.once(evidence.effects)["metric"].unique():
        above, below = metrics.get(name).totals(evidence.trials)
        far = far_trials(evidence.trials, above / below) if name != "throughput" else []
        told += f"; far in {name}: {listed(far)}" if far else ""
    return told


def _far(values: pd.Series) -> pd.Series:
    """Return which values lie far from their median, by the modified z-score.

    The constant 0.6745 makes the median absolute deviation a standard deviation if values are
    normal.
    """
    distance = (values - values.median()).abs()
    typical = distance.median()
    return 0.6745 * distance > FAR * typical if typical else distance > np.inf
