"""Parts that the claims of several papers share, and the choice of the worst part of a claim."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.claims.refusals import by_one_of
from fsgreen.analysis.claims.source import Numbers, Source
from fsgreen.analysis.scatter import by_block
from fsgreen.claims import SIZE_EXCLUDED, SIZE_OPEN, UNDECIDED, Band, Part, Verdict, undecided
from fsgreen.design import Cell

WORST_FIRST: tuple[tuple[Verdict, ...], ...] = (
    ("reversed",),
    ("not reproduced",),
    UNDECIDED,
    (SIZE_EXCLUDED,),
    (SIZE_OPEN,),
    ("reproduced",),
    ("by construction",),
)
"""Verdicts by how bad they are for a claim; those that are together are equally bad."""


def metric_identity(source: Source, numbers: Numbers) -> Iterator[Part]:
    """Yield a part: whether work per joule equals work per second over watts in all trials."""
    trials = source.trials
    ratio = trials["efficiency_ops_j"] / (trials["throughput_ops_s"] / trials["power_w"])
    what = "operations per joule over (operations per second over watts), all trials"
    yield source.about_power(replace(identity(what, ratio), boundary=source.boundary))


def identity(what: str, ratio: pd.Series) -> Part:
    """Return a part: whether a ratio is 1 in all trials, up to a rounding of 1e-5."""
    target = Band(1 - 1e-5, 1 + 1e-5, 0)
    return Part.judged(what, stats.Estimate.over_all(ratio), target, "1x", "measured")


def fewest_trials(counts: pd.Series, number: Mapping[str, Any], published: str) -> Part:
    """Return a part: whether each cell has at least as many trials as a published number says."""
    least = int(counts.min())
    ours, target = stats.Estimate.exactly(least, least), Band(number["value"], math.inf, 0)
    return Part.judged("fewest trials of a cell", ours, target, published, "measured", unit="")


def effect_over_effect(source: Source, metric: str, cells: Sequence[Cell]) -> stats.Estimate:
    """Return the ratio of the first two cells over that of the last two, block by block.

    `cells` are four: numerator and denominator of each ratio.
    """
    one, below_one, other, below_other = (by_block(source.sample(cell, metric)) for cell in cells)
    ratios = [
        pd.DataFrame({"above": above, "below": below})
        for above, below in ((one, below_one), (other, below_other))
    ]
    return stats.effect(*(ratio.dropna().reset_index() for ratio in ratios))


def share_above(cases: Sequence[Sequence[stats.Estimate]], among: int = 1) -> stats.Estimate:
    """Return the share of cases whose ratios are all above 1, with its least and greatest value.

    Intervals are widened to hold for the ratios of all cases at once, and for `among` shares of the
    same claim. A ratio without an interval may lie on either side.
    """
    count = among * sum(len(case) for case in cases)
    known = [[stats.simultaneous(ratio, count) for ratio in case] for case in cases]
    above, surely, maybe = (
        sum(shares) / len(cases)
        for shares in (
            [all(ratio.value > 1 for ratio in case) for case in cases],
            [all(ratio.low > 1 for ratio in case) for case in known],
            [not any(ratio.high <= 1 for ratio in case) for case in known],
        )
    )
    return stats.Estimate.spanning(above, surely, maybe, len(cases))


def worst(parts: Sequence[Part]) -> Part:
    """Return the part that decides a claim about all parts: the worst one.

    It has the worst verdict (`WORST_FIRST`). Of several such parts, it is nearest to an end of its
    band, or farthest beyond it. If the worst part holds, the claim holds, without a correction for
    the number of parts (an intersection-union test). One part refuses the claim. As that part was
    chosen for its result, its interval must refuse after a correction for all parts (Bonferroni).
    All parts are reproduced together no more often than the one with the least power, so that is
    the power of the claim.
    """
    weakest = min((by_one_of(part, len(parts)) for part in parts), key=_badness)
    powers = [part.power for part in parts if not math.isnan(part.power)]
    power = min(powers, default=math.nan)
    verdict = undecided(power) if weakest.verdict in UNDECIDED else weakest.verdict
    return replace(weakest, verdict=verdict, power=power, among=weakest.among * len(parts))


def _badness(part: Part) -> tuple[int, float, float]:
    """Return a sort key: the part that is worst for a claim comes first."""
    rank = next(rank for rank, alike in enumerate(WORST_FIRST) if part.verdict in alike)
    return rank, _room(part), part.power


def _room(part: Part) -> float:
    """Return the distance of a ratio from the end of its band, in logarithms; negative beyond."""
    if part.ours is None or part.band is None or math.isnan(part.ours.value):
        return -math.inf
    value, low, high = part.ours.value, part.band.low, part.band.high
    if value <= 0:
        return -math.inf if low > 0 else math.inf
    above = math.log(value / low) if low > 0 else math.inf
    return min(above, math.log(high / value))
