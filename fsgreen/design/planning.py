"""How the plan of a study is made: the cells of a profile in seeded, complete blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fsgreen.design import factors
from fsgreen.design.blocks import complete_blocks
from fsgreen.design.cell import DEFAULT, Cell
from fsgreen.design.factors import AS_FOUND
from fsgreen.design.plan import Plan, constant_level
from fsgreen.design.study import Exclusion, Study
from fsgreen.errors import FsgreenError, nearest, unknown


def make_plan(study: Study, profile: str, *, only: str | None = None) -> Plan:
    """Return the plan of a study under a profile: seeded complete blocks.

    `only` is the only file system of a testbed. All cells, including the baseline, then have that
    file system and its default option, and the plan's exclusions say so. Raises FsgreenError if the
    study has no such profile, or if the profile leaves out the baseline.
    """
    if profile not in study.profiles:
        raise unknown(
            "profile",
            profile,
            study.profiles,
            where=study.name,
            next_step=f"fsgreen plan {study.name} --profile PROFILE",
        )
    chosen = study.profiles[profile]
    bounds = {**study.bounds, **(chosen.bounds or {})}
    constants = {**study.constants, **(chosen.constants or {})}
    declared = [
        _named_once(cell, constants) for name in chosen.matrices for cell in study.matrices[name]
    ]
    baseline = _named_once(study.baseline, constants)
    of_testbed: Iterable[Exclusion] = ()
    if only is not None:
        of_device = factors.of_owner("device")
        declared = [
            cell.but(file_system=only)
            for cell in declared
            if cell.get("option", DEFAULT) == DEFAULT and not cell.keys() & set(of_device)
        ]
        baseline = baseline.but(file_system=only)
        constants = {**constants, "scheduler": AS_FOUND, "zone": AS_FOUND}
        of_testbed = all_but(only)
    cells = list(dict.fromkeys(declared))
    left_out = [
        entry
        for entry in study.exclusions
        if not _has(cells, entry) and (profile in entry.profiles or not entry.only_there)
    ]
    exclusions = (*_in_words(left_out), *_in_words(of_testbed))
    if baseline not in cells:
        raise FsgreenError(
            f"profile {profile} leaves out the baseline {baseline.label}, which every block has "
            f"(rule 4){nearest(baseline.label, (cell.label for cell in cells))}",
            where=study.name,
            next_step="add a matrix with the baseline to the profile",
        )
    stated = {*constants, *(name for cell in cells for name in cell)}
    return Plan(
        study=study.name,
        profile=chosen,
        baseline=baseline,
        constants=constants,
        bounds=bounds,
        exclusions=exclusions,
        seed=study.seed,
        trials=tuple(complete_blocks(cells, chosen.last_block, study.seed)),
        factors=tuple(own for own in study.factors if own.name in stated),
        workloads=_used(study.workloads, {cell["workload"] for cell in cells}),
        efficiency=study.efficiency,
    )


def all_but(file_system: str) -> tuple[Exclusion, ...]:
    """Return the exclusions of a plan on a testbed that has only one file system."""
    why = f"the testbed only has {file_system}"
    return tuple(
        Exclusion("other file systems, options", why, factor)
        for factor in ("file_system", "option")
    )


def _in_words(exclusions: Iterable[Exclusion]) -> tuple[dict[str, str], ...]:
    """Return exclusions in words, as in plans. Those with the same words appear once."""
    unique = dict.fromkeys((entry.what, entry.why) for entry in exclusions)
    return tuple({"what": what, "why": why} for what, why in unique)


def _has(cells: Iterable[Cell], entry: Exclusion) -> bool:
    """Return whether a cell has a level of the exclusion, which then is about other profiles."""
    return any(cell.get(entry.factor) in entry.levels for cell in cells if entry.factor)


def _used(declared: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the declarations of these workloads and of the workloads that they run together."""
    used: dict[str, Any] = {}
    for name in names:
        if name in declared:
            used[name] = declared[name]
            used |= _used(declared, declared[name].get("together", ()))
    return dict(sorted(used.items()))


def _named_once(cell: Cell, constants: Mapping[str, Any]) -> Cell:
    """Return the cell without levels that equal the constants, so that no cell has two names."""
    alike = (
        name
        for name, level in cell.items()
        if level == constant_level(factors.get(name), constants)
    )
    return cell.but(**dict.fromkeys(alike))
