"""Statistics of trials: pure functions, each with the source of its formula."""

from fsgreen.stats.compare import (
    MIN_BLOCKS,
    Comparison,
    compare,
    effect,
    equivalence_p,
    holm,
)
from fsgreen.stats.latency_profiles import (
    Peak,
    compare_profiles,
    emd,
    peaks,
    shift,
    total_profile,
)
from fsgreen.stats.repetition import Components, trend, trials_needed, variance_components
from fsgreen.stats.series import changepoints, classify_cell, classify_series
from fsgreen.stats.summary import (
    Estimate,
    Variation,
    mean_ci,
    median_ci,
    normality_p,
    ratio_of_totals,
    variation,
)

__all__ = [
    "MIN_BLOCKS",
    "Comparison",
    "Components",
    "Estimate",
    "Peak",
    "Variation",
    "changepoints",
    "classify_cell",
    "classify_series",
    "compare",
    "compare_profiles",
    "effect",
    "emd",
    "equivalence_p",
    "holm",
    "mean_ci",
    "median_ci",
    "normality_p",
    "peaks",
    "ratio_of_totals",
    "shift",
    "total_profile",
    "trend",
    "trials_needed",
    "variance_components",
    "variation",
]
