"""The overview of a plan, in lines: blocks, time, factors, constants, exclusions, cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fsgreen.design import combinations, factors
from fsgreen.design.plan import Plan
from fsgreen.design.study import Study, Windows
from fsgreen.design.windows import most_cells, most_ready
from fsgreen.words import plural


def left_out(plan: Plan, study: Study) -> Iterator[tuple[str, str]]:
    """Yield what a plan leaves out, and why, with what has become of the reason since then."""
    since = {(entry.what, entry.why): entry.since for entry in study.exclusions if entry.since}
    for entry in plan.exclusions:
        later = since.get((entry["what"], entry["why"]))
        now = f" (so it was when this was planned; since then: {later})" if later else ""
        yield entry["what"], f"{entry['why']}{now}"


def describe(plan: Plan, study: Study) -> Iterator[str]:
    """Yield the lines that `fsgreen plan` prints."""
    profile = plan.profile
    least = [planned for planned in plan.trials if planned.block <= profile.blocks]
    yield f"{plan.study}, profile {profile.name}, plan {plan.hash[:12]}, seed {plan.seed}"
    yield (
        f"{plural(len(plan.cells), 'cell')} x {plural(blocks_of(plan), 'block')} = "
        f"{plural(_span(len(least), len(plan.trials)), 'trial')}"
    )
    ends = (spell(profile.least_trial_s * len(trials)) for trials in (least, plan.trials))
    yield f"{bound_of(plan)} {_span(*ends)}, without making files and waiting for idle power"
    if profile.windows is not None:
        yield from _windows(plan, profile.windows)
    if profile.sequential:
        target = f"{plan.bounds['ci_half_width_percent']:g} %"
        yield (
            f"blocks beyond {profile.blocks} hold the cells with half-widths of {target} or more, "
            "what they are compared with, and the baseline"
        )
    varied, constant = _factors(plan)
    for title, values in (
        ("what varies", varied.items()),
        ("what does not", constant.items()),
        ("bounds", plan.bounds.items()),
        ("what is left out", left_out(plan, study)),
    ):
        yield f"{title}:"
        yield from (f"  {name}: {value}" for name, value in values)
    yield from combinations.describe(plan.cells)
    yield "cells:"
    for cell in plan.cells:
        yield f"  {cell.label}{'  (baseline)' if cell == plan.baseline else ''}"


def _windows(plan: Plan, windows: Windows) -> Iterator[str]:
    yield (
        f"each trial is {windows.count} windows of {windows.length_s:g} s, in turns with those "
        f"beside it: {most_ready(plan)} ready at once, images of "
        f"{most_ready(plan) * plan.profile.image_b / 2**20:.0f} MiB together"
    )
    if (cells := most_cells(plan)) > windows.ready:
        yield (
            f"not all cells of a workload take turns with each other: `ready: {cells}` would do; "
            "otherwise comparisons between groups are as wide as without windows"
        )


def blocks_of(plan: Plan) -> str:
    """Return the number of blocks: one, or the minimum and the maximum."""
    return _span(plan.profile.blocks, plan.profile.last_block)


def bound_of(plan: Plan) -> str:
    """Return "at least" or "at most": how trials relate to the declared length of their phases.

    Readers end once each has read its file, so for them the length is an upper bound.
    """
    return "at most" if plan.readers_only else "at least"


def spell(duration_s: float) -> str:
    """Return a duration in words, in a suitable unit: `40 s`, `12 min`, `2.5 h`, `4.0 days`."""
    for unit, length_s, digits in (("s", 1, 0), ("min", 60, 0), ("h", 3600, 1)):
        if duration_s < 100 * length_s:
            return f"{duration_s / length_s:.{digits}f} {unit}"
    return f"{duration_s / 86400:.1f} days"


def _ranked(levels: list[Any]) -> list[Any]:
    """Return levels sorted: unset first, then words in their given order, then numbers.

    Words sort as 0.
    """
    return sorted(
        levels,
        key=lambda level: (level is not None, level if isinstance(level, int | float) else 0),
    )


def _span(least: object, most: object) -> str:
    return f"{least}" if least == most else f"{least} to {most}"


def _factors(plan: Plan) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the levels of each factor that varies, and the constants of all cells, as texts."""
    cells = [plan.levels(cell) for cell in plan.cells]
    levels = {name: list(dict.fromkeys(cell[name] for cell in cells)) for name in cells[0]}
    varied = {
        name: ", ".join(_text(name, level) for level in _ranked(used))
        for name, used in levels.items()
        if len(used) > 1
    }
    constant = {
        name: _text(name, used[0])
        for name, used in levels.items()
        if len(used) == 1 and (used[0] is not None or name == "load_ops_s")
    }
    others = {name: value for name, value in plan.constants.items() if name not in levels}
    return varied, {**constant, **others}


def _text(name: str, level: Any) -> str:
    return factors.get(name).unset if level is None else f"{level}"
