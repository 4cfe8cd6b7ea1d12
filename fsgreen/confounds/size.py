"""How large a confound is: its fastest level against its slowest, with an interval."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import scipy

from fsgreen import stats
from fsgreen.confounds.known import KNOWN, Confound


@dataclass(frozen=True)
class Size:
    """What a confound alone can change, in per cent of the slower side."""

    percent: float
    """The median of the fastest level over that of the slowest, less 1; NaN if not measured."""
    low_percent: float
    high_percent: float
    """95 % interval, Student's over the logarithms of the ratios pass by pass; NaN with one
    pass."""
    scatter_percent: float
    """How far the values of a level typically range."""
    difference_p: float
    """Kruskal and Wallis: no difference by level. NaN with so few passes that no difference could
    be more than chance."""
    between: str = ""
    """Slowest and fastest level, in words."""

    @property
    def measured(self) -> bool:
        """Return whether there is a size at all."""
        return math.isfinite(self.percent)

    @property
    def by_chance(self) -> bool:
        """Return whether every difference by level could be chance."""
        return self.difference_p >= stats.LEVEL

    @property
    def least_percent(self) -> float:
        """Return what it is at least: the start of its interval, or itself without one."""
        return self.low_percent if math.isfinite(self.low_percent) else self.percent

    @property
    def most_percent(self) -> float:
        """Return what it may be at most: the end of its interval, or itself without one."""
        return self.high_percent if math.isfinite(self.high_percent) else self.percent


UNMEASURED = Size(math.nan, math.nan, math.nan, math.nan, math.nan)


def measured_sizes(probes: Mapping[str, pd.DataFrame]) -> dict[str, Size]:
    """Return the size of each confound of `KNOWN` by its name.

    `probes` are the tables of `read_probes`.
    """
    return {name: size_of(confound, probes[confound.part]) for name, confound in KNOWN.items()}


def size_of(confound: Confound, part: pd.DataFrame) -> Size:
    """Return the size of a confound from its part of the probes.

    Where it has several, the largest of those that chance does not explain (their p-values under
    Holm); of none, the largest.

    `part` is a table of `read_probes`, and may be empty.
    """
    if part.empty:
        return UNMEASURED
    curve = confound.prepare(part)
    if confound.within is None:
        return spread(curve, confound.by, confound.value)
    groups = curve.groupby(confound.within)
    sizes = [
        _named(spread(group, confound.by, confound.value, groups.ngroups), str(name))
        for name, group in groups
    ]
    if confound.of_each_reader:  # the first is before the last by definition: nothing to test
        sizes = [replace(size, difference_p=math.nan) for size in sizes]
    adjusted = stats.holm([size.difference_p for size in sizes])
    sizes = [replace(size, difference_p=p) for size, p in zip(sizes, adjusted, strict=True)]
    return max(sizes, key=lambda size: (size.measured, not size.by_chance, _or(size.percent)))


def spread(curve: pd.DataFrame, by: str, value: str, family: int = 1) -> Size:
    """Return the fastest level over the slowest.

    Fastest and slowest are chosen by the same medians whose ratio is taken, so that the size of
    what is no confound is a little too large: `difference_p` says whether there is one.

    `curve` has the columns `by`, `pass` and `value`, which is positive. `family` is how many are
    tested along with it.
    """
    groups = {level: values for level, values in curve.groupby(by)[value]}
    if len(groups) < 2:
        return UNMEASURED
    medians = pd.Series({level: values.median() for level, values in groups.items()})
    slow, fast = medians.idxmin(), medians.idxmax()
    scatter = pd.Series([values.max() / values.min() - 1 for values in groups.values()]).median()
    low, high = _interval(curve, by, value, slow, fast)
    return Size(
        100 * float(medians[fast] / medians[slow] - 1),
        100 * (low - 1),
        100 * (high - 1),
        100 * float(scatter),
        _difference_p(list(groups.values()), family),
        f"{slow} and {fast}",
    )


def _interval(
    curve: pd.DataFrame, by: str, value: str, slow: Any, fast: Any
) -> tuple[float, float]:
    """Return the interval of the ratio of two levels, pass by pass."""
    levels = curve[curve[by].isin([slow, fast])]
    medians = levels.groupby(["pass", by])[value].median().unstack(by).dropna()
    if len(medians) < 2 or slow == fast:
        return math.nan, math.nan
    logs = (medians[fast] / medians[slow]).map(math.log)
    return stats.LogRatio.of_blocks(logs).interval()


def _difference_p(groups: list[pd.Series], family: int) -> float:
    if pd.concat(groups).nunique() == 1:
        return 1.0
    repeated = min(len(values) for values in groups) > 1
    if not repeated or family * _least_p([len(values) for values in groups]) >= stats.LEVEL:
        return math.nan
    return float(scipy.stats.kruskal(*groups).pvalue)


def _least_p(counts: list[int]) -> float:
    """Return the least p-value that so many values can have: of levels that lie wholly apart."""
    ends = [0, *itertools.accumulate(counts)]
    apart = [range(begin, end) for begin, end in itertools.pairwise(ends)]
    return float(scipy.stats.kruskal(*apart).pvalue)


def _named(size: Size, within: str) -> Size:
    return replace(size, between=f"{within}: {size.between}")


def _or(percent: float) -> float:
    return percent if math.isfinite(percent) else -math.inf
