"""What a campaign left out of its study or made smaller, and which exclusion speaks of it.

Exclusions are sentences of people. One speaks of a thing where its `what` has a word for it, and of
a profile unless it ends in others: "600 s runs in the profiles quick and lab", "micro-benchmarks in
all profiles but full". One sentence may hold several, set apart by ", and" or ";".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from fsgreen.design import Cell, Plan, Study

SIZE = r"\b(file (counts?|sizes?)|files|sizes?|scales?|smaller)\b|\d ?[KMGT]i?B\b"
"""Words for how many files there are, or how large."""

LENGTH = r"\b(lengths?|durations?|shorter|shortened)\b|\d ?(s|min|seconds|minutes)\b"
"""Words for how long a trial is."""

NOUNS: Mapping[str, str] = {
    "workload": "workload|benchmark",
    "load_ops_s": "load",
    "device": "device state",
    "readers": "reader",
    "queue_depth": "queue|queue depth",
}
"""What people call a factor, where it is not its name."""

_NAMES = r"([\w-]+(?:(?:, | and )[\w-]+)*)$"
_ONLY = re.compile(rf"\b(?:in|for) (the profiles? )?{_NAMES}")
_BUT = re.compile(rf"\b(?:in|for) all profiles but {_NAMES}")


def without_reason(plan: Plan, study: Study | None) -> list[str]:
    """Return what is smaller, shorter or missing without an exclusion of the plan, in words.

    What the study has beyond the plan is known by its file of today; None where there is none.
    """
    told = _told(plan, study)
    found = []
    smaller = any(factor < 1 for factor in plan.profile.scale.values())
    if smaller and not _speaks(told, SIZE):
        found.append("the scale below 1")
    if study is None:
        return found
    longest_s = max(profile.measure_s for profile in study.profiles.values())
    # Readers end by themselves: for them the phase is a limit.
    timed = any("readers" not in cell for cell in plan.cells)
    if timed and plan.profile.measure_s < longest_s and not _speaks(told, LENGTH):
        found.append(f"{plan.profile.measure_s:g} s measured instead of {longest_s:g} s")
    counts = _left_out(plan, study, told)
    if counts:
        parts = ", ".join(f"{count} of {matrix}" for matrix, count in counts.items())
        found.append(f"cells that the study has now ({parts})")
    return found


def _told(plan: Plan, study: Study | None) -> list[str]:
    """Return the parts of the exclusions that are about the plan's profile."""
    known = {plan.profile.name, *(study.profiles if study else ())}
    # The comma before the last profile of a list parts no sentence.
    last = re.compile(rf", and (?=({'|'.join(map(re.escape, known))})(?:$|,|;))")
    return [
        part
        for entry in plan.exclusions
        for part in re.split(r", and |; ", last.sub(" and ", entry["what"]))
        if _about(part, plan.profile.name, known)
    ]


def _about(part: str, profile: str, known: Collection[str]) -> bool:
    if but := _BUT.search(part):
        return profile not in re.split(", | and ", but[1])
    if only := _ONLY.search(part):
        named = set(re.split(", | and ", only[2]))
        # "in flight" names no profile.
        return profile in named or not (only[1] or named <= set(known))
    return True


def _speaks(told: Iterable[str], words: str) -> bool:
    return any(re.search(words, part, re.IGNORECASE) for part in told)


def _left_out(plan: Plan, study: Study, told: Collection[str]) -> Counter[str]:
    """Return how many cells the plan has not and no exclusion speaks of, by their first matrix."""
    planned = [plan.levels(cell) for cell in plan.cells]
    matrix_of: dict[Cell, str] = {}
    for matrix, cells in study.matrices.items():
        for cell in cells:
            matrix_of.setdefault(cell, matrix)
    left = {cell: plan.levels(cell) for cell in matrix_of if plan.levels(cell) not in planned}
    return Counter(
        matrix_of[cell] for cell, levels in left.items() if not _excluded(levels, planned, told)
    )


def _excluded(
    levels: Mapping[str, Any], planned: Collection[Mapping[str, Any]], told: Iterable[str]
) -> bool:
    """Return whether what sets a cell apart from those of the plan is spoken of."""
    return any(
        _speaks(told, _words(factor, levels[factor])) for factor in _set_apart(levels, planned)
    )


def _set_apart(levels: Mapping[str, Any], planned: Collection[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the factors whose levels no planned cell has, else those of the nearest cells."""
    new = [factor for factor in levels if levels[factor] not in {p[factor] for p in planned}]
    if new:
        yield from new
        return
    apart = [{f for f in levels if levels[f] != other[f]} for other in planned]
    fewest = min(map(len, apart))
    yield from set().union(*(factors for factors in apart if len(factors) == fewest))


def _words(factor: str, level: Any) -> str:
    """Return an expression for a factor, or for its level where that is a word."""
    nouns = NOUNS.get(factor, factor.replace("_", " "))
    named = f"|{re.escape(level)}" if isinstance(level, str) else ""
    return rf"\b(({nouns})s?{named})\b"
