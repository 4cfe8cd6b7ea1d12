"""The 52 claims of sun14: what they are judged on, and checks that no selector can say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from fsgreen import stats
from fsgreen.analysis import claims
from fsgreen.analysis.claims.cells import spelled
from fsgreen.analysis.claims.checks import identity, metric_identity, share_above, worst
from fsgreen.analysis.claims.ledger import Check, functions_of
from fsgreen.analysis.claims.source import Numbers, Source
from fsgreen.claims import ABOVE, Band, Part, by_construction
from fsgreen.design import Cell
from fsgreen.papers.sun14 import drives
from fsgreen.papers.sun14.disk import of_disk, with_range
from fsgreen.papers.sun14.published import RECOMPUTED
from fsgreen.papers.sun14.reference import (
    FILE_SYSTEMS,
    LEADERS,
    SCHEDULERS,
    WORKLOADS,
    Pair,
    Printed,
    pair,
    pairs,
)
from fsgreen.papers.virtualtime import of_model, of_trials
from fsgreen.reduce import simulated_disk

__all__ = ["CHECKS", "RECOMPUTED", "models_of", "printed", "sources_of"]

printed = Printed.load

AI, IOPS, POWER = "efficiency", "throughput", "power"

MOST = 0.5
"""A claim on most cases holds if it does in more than this share of them."""

BEST = {workload: of_metric[AI] for workload, of_metric in LEADERS.items()}
"""The pair with the largest AI of SSD-I, by workload."""


class OfSimulatedDrive(Source):
    """Trials on a simulated SSD, whose energy is of the same model as its speed.

    What is said of its power is as much simulated as what is said of its work, and says so. Rule 19
    is about power that is guessed from how busy a machine is.
    """

    def about_power(self, part: Part) -> Part:
        """Return the part as it is."""
        return part


def sources_of(campaign: str, of_paper: claims.Claims) -> dict[str, Any]:
    """Return what claims are judged on, by the kind of testbed that each is."""
    source = claims.source_of(campaign, of_paper.needs)
    source = replace(source, trials=with_range(source.trials, of_disk(campaign)))
    if simulated_disk(campaign) is not None:
        source = OfSimulatedDrive(**vars(source))
    return {claims.testbed_of(campaign): source, **models_of(of_paper)}


def models_of(of_paper: claims.Claims) -> dict[str, Any]:
    """Return what claims are judged on that no campaign has: models of the drives, if any."""
    return drives.models_of(of_paper.needs)


def _mean_power(source: Source, numbers: Numbers) -> Iterator[Part]:
    trials = source.trials
    ratio = trials["energy_j"] / (trials["power_w"] * trials["duration_s"])
    yield identity("energy over (mean power by time), all trials", ratio)


def _beats(source: Source, metric: str, winner: Cell, rivals: Sequence[Cell]) -> Iterator[Part]:
    """Yield the part of the rival that comes nearest to a winner, and what did not run.

    To be above all is to be above the nearest. Of power the winner has the least.
    """
    ran = [rival for rival in rivals if not source.missing(winner, rival)]
    sides = ("the nearest other", spelled(winner))
    high, low = sides if metric == POWER else reversed(sides)
    what = f"{metric} of {high} over that of {low}"
    parts = []
    for rival in ran:
        above, below = (rival, winner) if metric == POWER else (winner, rival)

        def effect(above: Cell = above, below: Cell = below) -> stats.Estimate:
            return source.effect(metric, above, below)

        part = source.part(what, ABOVE, "above all others", effect, above, below, metric=metric)
        nearest = f"{spelled(rival)} of {len(ran)}"
        gated = source.gated(part, above, below, metric)
        parts.append(replace(gated, detail=nearest, cells=(winner, *ran)))
    if parts:
        yield worst(parts)
    yield from _not_run(source, what, "above all others", [winner, *rivals])


def _not_run(source: Source, what: str, published: str, cells: Sequence[Cell]) -> Iterator[Part]:
    """Yield which of the cells of a part have no trials, where there are such."""
    missing = [cell for cell in cells if source.missing(cell)]
    if missing:
        yield source.part(f"{what}: cells that did not run", ABOVE, published, _never, *missing)


def _never() -> stats.Estimate:
    raise AssertionError("cells that lack trials are not compared")


def _winners(workload: str, of_metric: Mapping[str, Pair]) -> Check:
    """Return the check of the pairs that lead a workload: AI and throughput high, power low."""

    def check(source: Source, numbers: Numbers) -> Iterator[Part]:
        for metric, names in of_metric.items():
            winner = pair(workload, *names)
            rivals = [cell for cell in pairs(workload) if cell != winner]
            yield from _beats(source, metric, winner, rivals)

    return check


def _best_of_each(source: Source, numbers: Numbers) -> Iterator[Part]:
    for workload, names in BEST.items():
        yield from _winners(workload, {AI: names})(source, numbers)


def _metrics_choose(source: Source, numbers: Numbers) -> Iterator[Part]:
    """Yield, per workload, how many pairs AI, throughput and power choose as the best."""
    metrics = (AI, IOPS, POWER)
    for workload in WORKLOADS:
        ran = [cell for cell in pairs(workload) if not source.missing(cell)]
        what = f"{workload}: pairs that are best by AI, by throughput and by power"
        if len(ran) > 1:
            comparisons = len(metrics) * (len(ran) - 1)
            best = {metric: contenders(source, metric, ran, comparisons) for metric in metrics}
            counts = [len({*chosen}) for chosen in product(*best.values())]
            first = len({cells[0] for cells in best.values()})
            ours = stats.Estimate.spanning(first, min(counts), max(counts), len(ran))
            target = Band(2, len(metrics), 0)
            leaders = "; ".join(f"{metric}: {_leader(cells)}" for metric, cells in best.items())
            of = {"unit": "", "detail": leaders, "cells": tuple(ran)}
            yield source.steadily(Part.judged(what, ours, target, "2 or 3", "measured", **of), AI)
        yield from _not_run(source, what, "not one and the same", pairs(workload))


def contenders(source: Source, metric: str, ran: Sequence[Cell], comparisons: int) -> list[Cell]:
    """Return the cells of which each may be the best by a metric, the one that did best first.

    Of power the best has the least. The first was chosen from all because of what was found, so an
    other is out only if its interval says so that holds for all `comparisons` at once.
    """
    sign = -1 if metric == POWER else 1
    first = max(ran, key=lambda cell: sign * source.value(metric, cell).value)

    def is_out(cell: Cell) -> bool:
        above, below = (cell, first) if metric == POWER else (first, cell)
        return stats.simultaneous(source.effect(metric, above, below), comparisons).low > 1

    return [first, *(cell for cell in ran if cell != first and not is_out(cell))]


def _leader(cells: Sequence[Cell]) -> str:
    """Return the only cell that may be the best in words, or that there are several."""
    return spelled(cells[0]) if len(cells) == 1 else f"cannot be told, one of {len(cells)}"


def _depends_on_pair(source: Source, numbers: Numbers) -> Iterator[Part]:
    """Yield, per workload, the AI of the best pair over that of the worst."""
    bound = Band(1 / (1 - source.bound), math.inf, 1)
    for workload in WORKLOADS:
        ran = [cell for cell in pairs(workload) if not source.missing(cell)]
        what = f"{workload}: AI of the best pair over the worst"
        if len(ran) > 1:
            worst, *_, best = sorted(ran, key=lambda cell: source.value(AI, cell).value)
            ratio = partial(source.effect, AI, best, worst)
            part = source.part(what, bound, "depends strongly", ratio, best, worst, metric=AI)
            detail = f"{spelled(best)} over {spelled(worst)}"
            yield by_construction(replace(part, detail=detail, cells=tuple(ran)))
        yield from _not_run(source, what, "depends strongly", pairs(workload))


def _mail_extended(source: Source, numbers: Numbers) -> Iterator[Part]:
    """Yield, per metric, the share of cases in which ext2 and ext3 lead the others."""
    others = [name for name in FILE_SYSTEMS if name not in ("ext2", "ext3")]
    cases = [
        (pair("varmail", extended, scheduler), pair("varmail", other, scheduler))
        for extended, other, scheduler in product(("ext2", "ext3"), others, SCHEDULERS)
    ]
    ran = [case for case in cases if not source.missing(*case)]
    metrics = (AI, IOPS)
    for metric in metrics:
        what = f"share of cases in which ext2 or ext3 has more {metric}"
        if ran:
            shares = [[source.effect(metric, *case)] for case in ran]
            ours = share_above(shares, among=len(metrics))
            target = Band(math.nextafter(MOST, 1), 1, 0)
            of = {"unit": "share", "detail": f"of {len(ran)} cases", "cells": _each_once(ran)}
            part = Part.judged(what, ours, target, "most cases", "measured", **of)
            yield source.steadily(part, metric)
        yield from _not_run(source, what, "most cases", _each_once(cases))


def _each_once(cases: Sequence[tuple[Cell, Cell]]) -> tuple[Cell, ...]:
    return tuple(dict.fromkeys(cell for case in cases for cell in case))


_OF_TRIALS: Mapping[str, Check] = {
    "metric_identity": metric_identity,
    **functions_of(vars(), "source"),
    "mail_best": _winners("varmail", LEADERS["varmail"]),
    "files_best": _winners("fileserver", LEADERS["fileserver"]),
    "web_best": _winners("webserver", LEADERS["webserver"]),
}

CHECKS: Mapping[str, Check] = {
    **{name: of_trials(check) for name, check in _OF_TRIALS.items()},
    **{name: of_model(check) for name, check in drives.CHECKS.items()},
}
"""The functions above, and those of the models, by their name in `claims.yaml`."""
