"""Checks of trials that several papers' claims name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.claims.source import Numbers, Source
from fsgreen.analysis.scatter import by_block
from fsgreen.claims import Band, Part, judge
from fsgreen.design import Cell


def metric_identity(source: Source, numbers: Numbers) -> Iterator[Part]:
    """Yield whether work per joule is work per second over watts, in all trials."""
    trials = source.trials
    ratio = trials["efficiency_ops_j"] / (trials["throughput_ops_s"] / trials["power_w"])
    ours = stats.Estimate.spanning(ratio.mean(), ratio.min(), ratio.max(), len(ratio))
    target = Band(1 - 1e-5, 1 + 1e-5, 0)
    what = "operations per joule over (operations per second over watts), all trials"
    yield source.about_power(
        Part(what, judge(ours, target), "measured", "1x", target, ours, boundary=source.boundary)
    )


def effect_over_effect(source: Source, metric: str, cells: Sequence[Cell]) -> stats.Estimate:
    """Return the ratio of the first two cells over that of the other two, block by block."""
    one, below_one, other, below_other = (by_block(source.sample(cell, metric)) for cell in cells)
    ratios = [
        pd.DataFrame({"above": above, "below": below})
        for above, below in ((one, below_one), (other, below_other))
    ]
    return stats.effect(*(ratio.dropna().reset_index() for ratio in ratios))


def share_above(cases: Sequence[Sequence[stats.Estimate]]) -> stats.Estimate:
    """Return the share of cases all of whose ratios are above 1: from what is sure to what may be.

    Each interval is made to hold for the ratios of all cases at once; a ratio without one may lie
    on either side.
    """
    count = sum(len(case) for case in cases)
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
