"""Faults of a study beyond the form of its file: unknown names, and numbers that contradict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fsgreen import units
from fsgreen.design import columns, factors, metrics
from fsgreen.design.cell import Cell, cells_of
from fsgreen.design.factors import Level
from fsgreen.design.metrics import Metric
from fsgreen.design.studyfile import (
    BOUNDS,
    LEAST_TRIALS,
    OF_PROFILES,
    BoundsEntry,
    ExclusionEntry,
    FactorEntry,
    ProfileEntry,
    StudyFile,
    WorkloadEntry,
)
from fsgreen.errors import FsgreenError, unknown
from fsgreen.schema import Fault, Place


def matrices_of(declared: StudyFile) -> tuple[dict[str, tuple[Cell, ...]], list[Fault]]:
    """Return the cells of each matrix whose levels are valid, and the faults of the others."""
    matrices: dict[str, tuple[Cell, ...]] = {}
    faults: list[Fault] = []
    for name, levels in declared.matrices.items():
        faults += _wrong_levels(("matrices", name), levels)
        if "workload" not in levels:
            faults.append(
                Fault(("matrices", name, "workload"), f"the matrix {name} has no workload")
            )
        sound = {factor: kept for factor, of in levels.items() if (kept := _sound(factor, of))}
        try:
            matrices[name] = tuple(cells_of(sound))
        except FsgreenError as error:
            faults.append(Fault(("matrices", name), error.what))
            matrices[name] = ()
    return matrices, faults


def _sound(factor: str, levels: Any) -> Any:
    """Return the valid levels of a factor; none if the factor is unknown."""
    if factor == "factorial":
        return levels
    if isinstance(levels, Mapping) or factor not in factors.names():
        return []
    return [level for level in levels if factors.get(factor).check(level) is None]


def semantic_faults(declared: StudyFile, matrices: Mapping[str, tuple[Cell, ...]]) -> list[Fault]:
    """Return the faults of a study beyond its form: unknown names, and numbers that contradict."""
    levels = {name: [level] for name, level in declared.baseline.items()}
    faults = list(_wrong_levels(("baseline",), levels))
    faults += _wrong_constants((), declared.constants)
    for nth, comparison in enumerate(declared.comparisons):
        of = {name: [level] for name, level in comparison.within.items()}
        of[comparison.factor] = [] if comparison.against is None else [comparison.against]
        faults += _wrong_levels(("comparisons", nth), of)
    for nth, name in enumerate(declared.treatments):
        if name not in factors.names():
            faults.append(Fault(("treatments", nth), unknown("factor", name, factors.names()).what))
    faults += _wrong_spellings(declared.factors)
    faults += _wrong_workloads(declared.workloads)
    for nth, exclusion in enumerate(declared.exclusions):
        faults += _wrong_exclusion(("exclusions", nth), exclusion, declared.profiles, matrices)
    faults += _wrong_metrics(declared)
    faults += _wrong_minimum(("bounds",), declared.bounds)
    for name, profile in declared.profiles.items():
        faults += _wrong_profile(("profiles", name), profile, declared.bounds, matrices)
        faults += _wrong_constants(("profiles", name), profile.constants or {})
    return faults


def _wrong_levels(
    place: Place, levels: Mapping[str, Any], free: tuple[str, ...] = ()
) -> Iterator[Fault]:
    for name, of_factor in levels.items():
        if name == "factorial" or name in free:
            continue
        try:
            known = factors.get(name)
        except FsgreenError as error:
            yield Fault((*place, name), error.what)
            continue
        if isinstance(of_factor, Mapping):
            yield Fault((*place, name), f"{name} takes a list of levels")
            continue
        for level in of_factor:
            if wrong := known.check(level):
                yield Fault((*place, name), wrong)


def _wrong_constants(place: Place, constants: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the faults of constants that are levels of factors. Other constants are free text."""
    levels = {name: [constants[name]] for name in factors.names(constants)}
    yield from _wrong_levels((*place, "constants"), levels, free=("scheduler",))


SAMPLES: Mapping[str, Level] = {"name": "a", "count": 1, "number": 0.5, "switch": True}
"""An example of a level for each kind of factor."""


def _wrong_spellings(entries: Mapping[str, FactorEntry]) -> Iterator[Fault]:
    """Yield a fault for each label or spelling of a factor that is no format for its levels."""
    for name, entry in entries.items():
        for key, text in (("label", entry.label), ("spelling", entry.spelling)):
            try:
                (text or "").format(SAMPLES[entry.kind])
            except (LookupError, ValueError) as error:
                told = f"{key} {text!r}: no level can be filled in: {error}"
                yield Fault(("factors", name, key), told)


OF_COMMANDS = ("reader", "prepare", "size_mib")
"""Keys that only a workload with a command may have."""


def _wrong_workloads(workloads: Mapping[str, WorkloadEntry]) -> Iterator[Fault]:
    """Yield a fault for each workload that is not of exactly one kind, or has keys of another."""
    for name, entry in workloads.items():
        given = entry.model_dump(exclude_none=True)
        kinds = [kind for kind in ("command", "driver", "together") if kind in given]
        if len(kinds) != 1:
            what = f"the workload {name} takes one of command, driver and together"
            yield Fault(("workloads", name), what)
            continue
        misplaced = {"driver": ("options",), "command": OF_COMMANDS, "together": ()}
        for key in given.keys() - {*kinds, *misplaced[kinds[0]]}:
            yield Fault(("workloads", name, key), f"{key} is not of a workload with {kinds[0]}")


def _wrong_metrics(declared: StudyFile) -> Iterator[Fault]:
    for nth, metric in enumerate(declared.metrics):
        place: Place = ("metrics", nth)
        if not metric.above:
            if metric.name not in metrics.names():
                yield Fault(place, unknown("metric", metric.name, metrics.names()).what)
        elif units.unit_of(f"_{metric.unit}") is None:
            known = [suffix.removeprefix("_") for suffix in units.SUFFIXES]
            yield Fault((*place, "unit"), unknown("unit", metric.unit, known).what)
        else:
            yield from _wrong_columns((*place, "name"), metrics.get(metric.name))


def _wrong_columns(place: Place, metric: Metric) -> Iterator[Fault]:
    """Yield a fault for each column of a metric that is another column already.

    The mean of a column of `trials.csv` may have the name of that column.
    """
    is_mean = metric.needs == (metric.column,)
    for name in () if metric in metrics.BUILT_IN else metric.columns:
        table = columns.table_with(name) if not (is_mean and name == metric.column) else ""
        if name in factors.names():
            table = "the factors"
        if table:
            told = f"the metric {metric.name} has a column {name}, which is one of {table} already"
            yield Fault(place, f"{told}: give it another name")


def _wrong_exclusion(
    place: Place,
    entry: ExclusionEntry,
    profiles: Mapping[str, ProfileEntry],
    matrices: Mapping[str, tuple[Cell, ...]],
) -> Iterator[Fault]:
    for nth, name in enumerate(entry.profiles):
        if name not in profiles:
            yield Fault((*place, "profiles", nth), unknown("profile", name, profiles).what)
    if entry.only_there and not entry.profiles:
        yield Fault((*place, "only_there"), "only_there takes profiles: it would be in no plan")
    about = [profiles[name] for name in entry.profiles or profiles if name in profiles]
    measured = {matrix: matrices.get(matrix, ()) for of in about for matrix in of.matrices}
    if entry.factor is None:
        if not entry.what:
            yield Fault(place, "an exclusion takes `what`, a factor, or both")
        for matrix, cells in measured.items():
            if any(_is_said(entry.what or "", cell) for cell in cells):
                what = f"'{entry.what}' is left out, and the matrix {matrix} has it"
                yield Fault((*place, "what"), what)
        if entry.levels:
            yield Fault((*place, "levels"), "levels are those of a factor, and none is named")
    elif entry.factor in OF_PROFILES:
        if entry.levels:
            yield Fault((*place, "levels"), f"{entry.factor} has no levels that are left out")
    else:
        yield from _wrong_levels(place, {entry.factor: entry.levels})
        for matrix, cells in measured.items():
            both = sorted(
                {str(cell.get(entry.factor)) for cell in cells} & {*map(str, entry.levels)}
            )
            if both:
                what = (
                    f"{entry.factor} {', '.join(both)} is left out, and the matrix {matrix} has it"
                )
                yield Fault((*place, "levels"), what)


def _is_said(what: str, cell: Cell) -> bool:
    """Return whether a text names a level of a cell, alone or after its factor."""
    said = what.lower().replace("_", " ")
    return any(
        said in (str(level).lower(), f"{name.replace('_', ' ')} {str(level).lower()}")
        for name, level in cell.items()
    )


def _wrong_minimum(place: Place, bounds: BoundsEntry | None) -> Iterator[Fault]:
    """Yield a fault if the minimum of trials is too small to conclude anything (rule 26)."""
    least = (
        LEAST_TRIALS if bounds is None or bounds.minimum_trials is None else (bounds.minimum_trials)
    )
    if least < LEAST_TRIALS:
        yield Fault(
            (*place, "minimum_trials"),
            f"minimum_trials is {least}, and fewer than {LEAST_TRIALS} trials conclude nothing "
            f"(rule 26): minimum_trials: {LEAST_TRIALS}; a profile may have fewer blocks",
        )


def _wrong_profile(
    place: Place,
    profile: ProfileEntry,
    bounds: BoundsEntry,
    matrices: Mapping[str, tuple[Cell, ...]],
) -> Iterator[Fault]:
    yield from _wrong_minimum((*place, "bounds"), profile.bounds)
    least = {**BOUNDS, **bounds.set(), **(profile.bounds or bounds).set()}["minimum_trials"]
    if profile.most_blocks is not None and profile.blocks < least:
        yield Fault(
            (*place, "blocks"),
            f"with most_blocks a cell may end after {profile.blocks} blocks, and fewer than "
            f"{least:g} trials conclude nothing (rule 26): blocks: {least:g}, or no most_blocks",
        )
    most = profile.blocks if profile.most_blocks is None else profile.most_blocks
    if profile.blocks > most:
        yield Fault(
            (*place, "blocks"),
            f"{profile.blocks} blocks at least and {most} at most: 1 <= blocks <= most_blocks",
        )
    workloads: set[str] = set()
    for nth, name in enumerate(profile.matrices):
        if name in matrices:
            workloads |= {cell["workload"] for cell in matrices[name] if "workload" in cell}
        else:
            yield Fault((*place, "matrices", nth), unknown("matrix", name, matrices).what)
    if isinstance(profile.scale, Mapping):
        for name in sorted(workloads - profile.scale.keys()):
            yield Fault((*place, "scale"), f"the workload {name} has no scale")
