"""What a campaign left out of its study or made smaller without an exclusion that covers it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from fsgreen.design import Cell, Exclusion, Plan, Study
from fsgreen.design.planning import all_but


def without_reason(plan: Plan, study: Study | None) -> list[str]:
    """Return what is smaller, shorter or missing without an exclusion of the plan, in words.

    A plan holds its exclusions as words. Only the present file of the study tells what they cover,
    and what the study has beyond the plan. Without that file, nothing is known: the list is empty.
    """
    if study is None:
        return []
    told = _told(plan, study)
    reduced = []
    smaller = any(factor < 1 for factor in plan.profile.scale.values())
    if smaller and not _covered(told, "scale"):
        reduced.append("the scale below 1")
    longest_s = max(profile.measure_s for profile in study.profiles.values())
    # Readers end by themselves: for them the length of the phase is only a limit.
    timed = any("readers" not in cell for cell in plan.cells)
    if timed and plan.profile.measure_s < longest_s and not _covered(told, "measure_s"):
        reduced.append(f"{plan.profile.measure_s:g} s measured instead of {longest_s:g} s")
    if counts := _left_out(plan, study, told):
        parts = ", ".join(f"{count} of {matrix}" for matrix, count in counts.items())
        reduced.append(f"cells that the study has now ({parts})")
    return reduced


def _told(plan: Plan, study: Study) -> list[Exclusion]:
    """Return the exclusions of the study that the plan names and that apply to its profile."""
    words = {entry["what"] for entry in plan.exclusions}
    of_testbed = all_but(plan.baseline.get("file_system", ""))
    return [
        entry
        for entry in (*study.exclusions, *of_testbed)
        if entry.what in words and (not entry.profiles or plan.profile.name in entry.profiles)
    ]


def _covered(told: Collection[Exclusion], factor: str, level: Any = None) -> bool:
    """Return whether an exclusion covers a factor (at a level), or `scale` or `measure_s`."""
    return any(
        entry.factor == factor and (not entry.levels or level in entry.levels) for entry in told
    )


def _left_out(plan: Plan, study: Study, told: Collection[Exclusion]) -> Counter[str]:
    """Return how many cells the plan lacks without an exclusion, by the first matrix of each."""
    planned = [plan.levels(cell) for cell in plan.cells]
    matrix_of: dict[Cell, str] = {}
    for matrix, cells in study.matrices.items():
        for cell in cells:
            matrix_of.setdefault(cell, matrix)
    left = {cell: plan.levels(cell) for cell in matrix_of if plan.levels(cell) not in planned}
    return Counter(
        matrix_of[cell]
        for cell, levels in left.items()
        if not any(_covered(told, name, levels[name]) for name in _set_apart(levels, planned))
    )


def _set_apart(levels: Mapping[str, Any], planned: Collection[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the factors whose level no planned cell has.

    If there are none, yield the factors in which the nearest planned cells differ.
    """
    if new := [factor for factor in levels if levels[factor] not in {p[factor] for p in planned}]:
        yield from new
        return
    apart = [{f for f in levels if levels[f] != other[f]} for other in planned]
    fewest = min(map(len, apart))
    yield from set().union(*(factors for factors in apart if len(factors) == fewest))
