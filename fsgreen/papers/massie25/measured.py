"""Checks of massie25 that are more than a ratio or an order of cells."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import product

from fsgreen import stats
from fsgreen.analysis.claims.checks import effect_over_effect, metric_identity, share_above
from fsgreen.analysis.claims.ledger import Check
from fsgreen.analysis.claims.source import Numbers, Source
from fsgreen.claims import Band, Part, by_construction, judge, written
from fsgreen.papers.massie25.reference import (
    FILE_SYSTEMS,
    PATTERNS,
    PROCESSES,
    REQUESTS_KIB,
    WRITING,
    requests,
)
from fsgreen.reduce import factors_of

WINNER = "xfs"


def _ten_runs(source: Source, numbers: Numbers) -> Iterator[Part]:
    least = int(source.trials.groupby(factors_of(source.trials), dropna=False).size().min())
    runs = stats.Estimate(least, least, least, least)
    target = Band(numbers[0]["value"], math.inf, 0)
    what = "fewest trials of a cell"
    part = Part(what, judge(runs, target), "measured", written(numbers[0]), target, runs, "")
    yield by_construction(source.requiring(part, "ten-runs", least >= target.low))


def _falls_behind(source: Source, numbers: Numbers) -> Iterator[Part]:
    """Yield, for each pattern that writes, what f2fs keeps of its standing at more processes."""
    fewest = PROCESSES[0]
    for pattern, other, processes in product(WRITING, FILE_SYSTEMS[:2], PROCESSES[1:]):
        cells = [
            requests(name, pattern, 4, count)
            for count in (processes, fewest)
            for name in ("f2fs", other)
        ]
        standing = partial(effect_over_effect, source, "throughput", cells)
        what = f"{pattern}: f2fs over {other} at {processes} processes, over that at {fewest}"
        yield source.part(what, Band(0, 1, 0), "falls", standing, *cells)


def _experiments_won(source: Source, numbers: Numbers) -> Iterator[Part]:
    """Yield the share of experiments in which xfs does most work per joule."""
    experiments = list(product(PATTERNS, REQUESTS_KIB, PROCESSES))
    cells = {
        experiment: {name: requests(name, *experiment) for name in FILE_SYSTEMS}
        for experiment in experiments
    }

    def won() -> stats.Estimate:
        return share_above(
            [
                [
                    source.effect("efficiency", of[WINNER], of[name])
                    for name in FILE_SYSTEMS
                    if name != WINNER
                ]
                for of in cells.values()
            ]
        )

    what = f"share of {len(experiments)} experiments that {WINNER} wins on work per joule"
    every = [cell for of in cells.values() for cell in of.values()]
    target = Band(numbers[0]["value"] / 100, 1, 0)
    yield source.about_power(
        source.part(what, target, written(numbers[0]), won, *every, unit="share")
    )


CHECKS: dict[str, Check] = {
    "metric_identity": metric_identity,
    "ten_runs": _ten_runs,
    "falls_behind": _falls_behind,
    "experiments_won": _experiments_won,
}
"""The functions above by their name in `claims.yaml`."""
