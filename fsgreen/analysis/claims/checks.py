"""Checks of trials that several papers' claims name."""

from __future__ import annotations

from collections.abc import Iterator

from fsgreen import stats
from fsgreen.analysis.claims.source import Numbers, Source
from fsgreen.claims import Band, Part, judge


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
