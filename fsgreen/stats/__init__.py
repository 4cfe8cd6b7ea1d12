"""Statistics of trials: pure functions, each with the source of its formula."""

from fsgreen.stats.bootstrap import MIN_BLOCKS, studentised_ratio
from fsgreen.stats.compare import Comparison, compare, compare_unpaired, effect, holm, simultaneous
from fsgreen.stats.dependence import FEWEST_BLOCKS, dependence, logs_of_whole
from fsgreen.stats.drift import Drift, order_drift, trend, trend_percent
from fsgreen.stats.farcells import far_p
from fsgreen.stats.latency_profiles import compare_profiles, emd, peaks, shift, total_profile
from fsgreen.stats.logratio import LogRatio, Scatter
from fsgreen.stats.mixed import WILD, MixedModel, mixed_model
from fsgreen.stats.owncoverage import LEAST_PERCENT, OwnCoverage, own_coverage
from fsgreen.stats.power import smallest_difference
from fsgreen.stats.repetition import Components, trials_needed, variance_components
from fsgreen.stats.sample import LEVEL
from fsgreen.stats.series import (
    SAME_POWER,
    SHORTEST_SERIES,
    SHORTEST_SETTLED,
    WHOLE,
    changepoints,
    classify_cell,
    classify_series,
)
from fsgreen.stats.shape import (
    FEW,
    NOT_NORMAL,
    TOO_FEW,
    WIDE_PERCENT,
    dip,
    dip_p,
    normality_p,
    shape,
    skewness_p,
)
from fsgreen.stats.summary import (
    Estimate,
    Variation,
    harmonic_mean,
    mean_ci,
    median_ci,
    ratio_of_totals,
    variation,
)
from fsgreen.stats.together import Together, random_effects
from fsgreen.stats.turns import (
    FEWEST_WINDOWS,
    TurnComponents,
    explained_share,
    left_by_turns,
    turn_components,
)

__all__ = [
    "FEW",
    "FEWEST_BLOCKS",
    "FEWEST_WINDOWS",
    "LEAST_PERCENT",
    "LEVEL",
    "MIN_BLOCKS",
    "NOT_NORMAL",
    "SAME_POWER",
    "SHORTEST_SERIES",
    "SHORTEST_SETTLED",
    "TOO_FEW",
    "WHOLE",
    "WIDE_PERCENT",
    "WILD",
    "Comparison",
    "Components",
    "Drift",
    "Estimate",
    "LogRatio",
    "MixedModel",
    "OwnCoverage",
    "Scatter",
    "Together",
    "TurnComponents",
    "Variation",
    "changepoints",
    "classify_cell",
    "classify_series",
    "compare",
    "compare_profiles",
    "compare_unpaired",
    "dependence",
    "dip",
    "dip_p",
    "effect",
    "emd",
    "explained_share",
    "far_p",
    "harmonic_mean",
    "holm",
    "left_by_turns",
    "logs_of_whole",
    "mean_ci",
    "median_ci",
    "mixed_model",
    "normality_p",
    "order_drift",
    "own_coverage",
    "peaks",
    "random_effects",
    "ratio_of_totals",
    "shape",
    "shift",
    "simultaneous",
    "skewness_p",
    "smallest_difference",
    "studentised_ratio",
    "total_profile",
    "trend",
    "trend_percent",
    "trials_needed",
    "turn_components",
    "variance_components",
    "variation",
]
