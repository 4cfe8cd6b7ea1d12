"""Checks of sun14 that are more than a ratio or an order of cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

from fsgreen import stats
from fsgreen.analysis.claims.checks import metric_identity
from fsgreen.analysis.claims.ledger import Check
from fsgreen.analysis.claims.selectors import badness
from fsgreen.analysis.claims.source import Numbers, Source, spelled
from fsgreen.claims import ABOVE, Band, Part, by_construction, judge
from fsgreen.design import Cell
from fsgreen.papers.sun14.reference import FILE_SYSTEMS, SCHEDULERS, WORKLOADS, pair, pairs

AI, IOPS, POWER = "efficiency", "throughput", "power"

MOST = 0.5
"""A claim on most cases holds if it does in more than this share of them."""

BEST = {
    "varmail": ("ext2", "cfq"),
    "fileserver": ("ext2", "deadline"),
    "webserver": ("ext3", "cfq"),
}
"""The pair with the largest AI of SSD-I, by workload."""


def _mean_power(source: Source, numbers: Numbers) -> Iterator[Part]:
    trials = source.trials
    ratio = trials["energy_j"] / (trials["power_w"] * trials["duration_s"])
    ours = stats.Estimate(ratio.mean(), ratio.min(), ratio.max(), len(ratio))
    target = Band(1 - 1e-5, 1 + 1e-5, 0)
    what = "energy over (mean power by time), all trials"
    yield Part(what, judge(ours, target), "measured", "1x", target, ours)


def _beats(source: Source, metric: str, winner: Cell, rivals: Sequence[Cell]) -> Iterator[Part]:
    """Yield the part of the rival that comes nearest to a winner, and what did not run.

    To be above all is to be above the nearest: it needs no correction for the number of rivals.
    Of power the winner has the least.
    """
    ran = [rival for rival in rivals if not source.missing(winner, rival)]
    parts = []
    for rival in ran:
        above, below = (rival, winner) if metric == POWER else (winner, rival)
        what = f"{spelled(above)} {metric} over {spelled(below)}, the nearest of {len(ran)}"

        def effect(above: Cell = above, below: Cell = below) -> stats.Estimate:
            return source.effect(metric, above, below)

        part = source.part(what, ABOVE, "above all others", effect, above, below)
        parts.append(source.gated(part, above, below, metric))
    if parts:
        yield min(parts, key=badness)
    missing = [rival for rival in rivals if rival not in ran]
    if missing:
        what = f"{metric} of {spelled(winner)} beside the others"
        yield source.part(what, ABOVE, "above all others", _never, winner, *missing)


def _never() -> stats.Estimate:
    raise AssertionError("cells that lack trials are not compared")


def _winners(workload: str, of_metric: dict[str, tuple[str, str]]) -> Check:
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
    """Yield, per workload, whether AI, throughput and power choose different pairs."""
    for workload in WORKLOADS:
        ran = [cell for cell in pairs(workload) if not source.missing(cell)]
        what = f"{workload}: pairs that are best by AI, by throughput and by power"
        if len(ran) < 2:
            yield source.part(what, ABOVE, "not one and the same", _never, *pairs(workload))
            continue
        best = {metric: _leader(source, metric, ran) for metric in (AI, IOPS, POWER)}
        fewest, most = _choices(source, best, ran)
        count = len({spelled(cell) for cell in best.values()})
        names = ", ".join(f"{metric} {spelled(cell)}" for metric, cell in best.items())
        ours = stats.Estimate(count, fewest, most, len(ran))
        target = Band(2, len(best), 0)
        yield Part(
            f"{what}: {names}",
            judge(ours, target),
            "measured",
            "2 or 3",
            target,
            ours,
            "",
            source=source.clock,
        )


def _leader(source: Source, metric: str, ran: Sequence[Cell]) -> Cell:
    """Return the cell with the most of a metric, of power with the least."""
    sign = -1 if metric == POWER else 1
    return max(ran, key=lambda cell: sign * source.value(metric, cell).value)


def _choices(source: Source, best: dict[str, Cell], ran: Sequence[Cell]) -> tuple[int, int]:
    """Return the fewest and the most pairs that are chosen, as far as intervals tell.

    A metric may choose each pair whose interval reaches its best one's.
    """
    candidates = []
    for metric, winner in best.items():
        leads = {cell: source.effect(metric, winner, cell) for cell in ran if cell != winner}
        surely = (lambda lead: lead.high < 1) if metric == POWER else (lambda lead: lead.low > 1)
        candidates.append([winner, *(cell for cell, lead in leads.items() if not surely(lead))])
    counts = [len({spelled(cell) for cell in chosen}) for chosen in product(*candidates)]
    return min(counts), max(counts)


def _depends_on_pair(source: Source, numbers: Numbers) -> Iterator[Part]:
    """Yield, per workload, the AI of the best pair over that of the worst."""
    for workload in WORKLOADS:
        ran = [cell for cell in pairs(workload) if not source.missing(cell)]
        what = f"{workload}: AI of the best pair over the worst"
        if len(ran) < 2:
            yield source.part(what, ABOVE, "more than 1", _never, *pairs(workload))
            continue
        ranked = sorted(ran, key=lambda cell: source.value(AI, cell).value)

        def ratio(worst: Cell = ranked[0], best: Cell = ranked[-1]) -> stats.Estimate:
            return source.effect(AI, best, worst)

        bound = Band(1 / (1 - source.bound), math.inf, 1)
        names = f"{what}: {spelled(ranked[-1])} over {spelled(ranked[0])}"
        yield by_construction(source.part(names, bound, "depends strongly", ratio, *ranked))


def _mail_extended(source: Source, numbers: Numbers) -> Iterator[Part]:
    """Yield, per metric, the share of cases in which ext2 and ext3 lead the others."""
    others = [name for name in FILE_SYSTEMS if name not in ("ext2", "ext3")]
    for metric in (AI, IOPS):
        cases = [
            (pair("varmail", extended, scheduler), pair("varmail", other, scheduler))
            for extended, other, scheduler in product(("ext2", "ext3"), others, SCHEDULERS)
        ]
        ran = [case for case in cases if not source.missing(*case)]
        lacking = [cell for case in cases if case not in ran for cell in case]
        if ran:
            effects = [source.effect(metric, *case) for case in ran]
            value, low, high = (
                sum(getattr(effect, end) > 1 for effect in effects) / len(effects)
                for end in ("value", "low", "high")
            )
            ours = stats.Estimate(value, low, high, len(ran))
            target = Band(math.nextafter(MOST, 1), 1, 0)
            what = f"share of {len(ran)} cases in which ext2 or ext3 has more {metric}"
            verdict = judge(ours, target)
            yield Part(
                what, verdict, "measured", "most cases", target, ours, "share", source=source.clock
            )
        if lacking:
            yield source.part(f"{metric}, the others", ABOVE, "most cases", _never, *lacking)


CHECKS: dict[str, Check] = {
    "mean_power": _mean_power,
    "metric_identity": metric_identity,
    "metrics_choose": _metrics_choose,
    "depends_on_pair": _depends_on_pair,
    "mail_extended": _mail_extended,
    "mail_best": _winners(
        "varmail", {AI: BEST["varmail"], POWER: ("ext2", "cfq"), IOPS: ("ext3", "none")}
    ),
    "files_best": _winners(
        "fileserver",
        {AI: BEST["fileserver"], IOPS: ("ext2", "deadline"), POWER: ("nilfs2", "cfq")},
    ),
    "web_best": _winners(
        "webserver", {AI: BEST["webserver"], IOPS: ("ext2", "none"), POWER: ("nilfs2", "cfq")}
    ),
    "best_of_each": _best_of_each,
}
"""The functions above by their name in `claims.yaml`."""
