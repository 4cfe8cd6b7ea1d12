"""The plan of trials that is made of a study before data exist, and its hash."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from fsgreen.design.blocks import PlannedTrial, complete_blocks
from fsgreen.design.cell import FACTORS, Cell
from fsgreen.design.study import Profile, Study
from fsgreen.errors import FsgreenError, unknown

CONSTANTS: Mapping[str, str] = {"cache": "cold", "device": "initial", "scheduler": "none"}
"""Factors that a study may hold constant, and the level where it names none (rules 7, 8, 40)."""

LEVELS: Mapping[str, tuple[Any, ...]] = {
    "cache": ("cold", "warm"),
    "device": ("initial", "steady", "aged"),
    "partition": (1, 2, 3, 4),
}
"""Levels that the harness can make and verify; which schedulers and disks there are, the kernel
and the simulator say."""

COUNTS = ("readers", "queue_depth")
"""Factors whose levels are whole numbers from 1 on."""

OF_A_DEVICE = ("device", "scheduler", "disk", "partition", "queue_depth")
"""Factors that a folder of a mounted file system does not have."""

LEFT_OUT = (*CONSTANTS, *COUNTS, "disk", "partition", "most_blocks", "bounds")
"""What stands in a plan and in records only where it has a value."""


@dataclass(frozen=True)
class Plan:
    """All trials of a study under a profile, in the order in which they are to be measured."""

    study: str
    profile: Profile
    baseline: Cell
    constants: Mapping[str, Any]
    bounds: Mapping[str, float]
    exclusions: tuple[Mapping[str, str], ...]
    seed: int
    trials: tuple[PlannedTrial, ...]

    @property
    def hash(self) -> str:
        """Return the SHA-256 of the plan's canonical text."""
        text = json.dumps(values_of(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Return the cells, each once, in a fixed order."""
        return tuple(sorted({trial.cell for trial in self.trials}, key=lambda cell: cell.label))

    def levels(self, cell: Cell) -> dict[str, Any]:
        """Return the level of every factor in a cell, constants included."""
        constants = {**CONSTANTS, **self.constants}
        levels = {factor: getattr(cell, factor) for factor in FACTORS}
        return {
            factor: constants[factor] if level is None and factor in CONSTANTS else level
            for factor, level in levels.items()
        }

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON values, with its hash."""
        return {"schema": 1, "hash": self.hash, **json.loads(json.dumps(values_of(self)))}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], where: object) -> Plan:
        """Return the plan that `to_json` wrote; `where` is named if it is damaged."""
        try:
            trials = (
                PlannedTrial(**{**trial, "cell": Cell(**trial["cell"])})
                for trial in value["trials"]
            )
            profile = value["profile"]
            plan = cls(
                study=value["study"],
                profile=Profile(**{**profile, "matrices": tuple(profile["matrices"])}),
                baseline=Cell(**value["baseline"]),
                constants=value["constants"],
                bounds=value["bounds"],
                exclusions=tuple(value["exclusions"]),
                seed=value["seed"],
                trials=tuple(trials),
            )
        except (KeyError, TypeError) as error:
            raise FsgreenError(f"not a plan: {error!r}", where=where) from error
        if plan.hash != value.get("hash"):
            raise FsgreenError("the plan was edited: its hash does not fit", where=where)
        return plan

    def difference(self, other: Plan) -> list[str]:
        """Return what changed from the other plan to this one, for a person to read."""
        theirs, mine = (dict(_declared(plan)) for plan in (other, self))
        before, now = (dict.fromkeys(cell.label for cell in plan.cells) for plan in (other, self))
        lines = [
            *(
                f"{key}: {theirs.get(key, 'absent')} -> {mine.get(key, 'absent')}"
                for key in sorted(mine.keys() | theirs.keys())
                if mine.get(key) != theirs.get(key)
            ),
            *(f"cell {label}: gone" for label in before if label not in now),
            *(f"cell {label}: new" for label in now if label not in before),
        ]
        if not lines and self.trials != other.trials:
            lines.append("trials: other ones, or in another order")
        return lines


def make_plan(study: Study, profile: str, *, only: str | None = None) -> Plan:
    """Return the plan of a study under a profile: seeded complete blocks.

    Parameters
    ----------
    study : Study
        The declared study.
    profile : str
        One of its profiles.
    only : str, optional
        The one file system that a testbed has. The cells are then those of default options on it,
        the baseline included, and the plan's exclusions say so.

    Raises
    ------
    FsgreenError
        If the study has no such profile; if the profile leaves out the baseline, or ends a cell
        after fewer trials than conclude something; or if a level is unknown.
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
    _check_minimum(study.name, chosen, bounds["minimum_trials"])
    constants = study.constants
    declared = [
        _named_once(cell, constants, study.name)
        for name in chosen.matrices
        for cell in study.matrices[name]
    ]
    baseline, exclusions = _named_once(study.baseline, constants, study.name), study.exclusions
    if only is not None:
        declared = [
            replace(cell, file_system=only)
            for cell in declared
            if cell.option == "default" and not any(getattr(cell, name) for name in OF_A_DEVICE)
        ]
        baseline = replace(baseline, file_system=only)
        constants = {**constants, "scheduler": "as found", "zone": "as found"}
        missing = {"what": "other file systems, options", "why": f"the testbed only has {only}"}
        exclusions = (*exclusions, missing)
    cells = list(dict.fromkeys(declared))
    if baseline not in cells:
        raise FsgreenError(
            f"profile {profile} leaves out the baseline {baseline.label} (rule 4)",
            where=study.name,
            next_step="add a matrix with the baseline to the profile",
        )
    return Plan(
        study=study.name,
        profile=chosen,
        baseline=baseline,
        constants=constants,
        bounds=bounds,
        exclusions=exclusions,
        seed=study.seed,
        trials=tuple(complete_blocks(cells, chosen.last_block, study.seed)),
    )


def values_of(declared: Cell | Plan) -> dict[str, Any]:
    """Return a declaration as plain values, without those of `LEFT_OUT` that are not set.

    A study that does not set them has the hash that it had before they could be set.
    """
    values: dict[str, Any] = asdict(
        declared,
        dict_factory=lambda pairs: {
            name: value for name, value in pairs if value is not None or name not in LEFT_OUT
        },
    )
    return values


def _named_once(cell: Cell, constants: Mapping[str, Any], study: str) -> Cell:
    """Return the cell without levels that are constants anyhow, so that no cell has two names."""
    held = {**CONSTANTS, **constants}
    for factor, known in LEVELS.items():
        for level in (held.get(factor), getattr(cell, factor)):
            if level is not None and level not in known:
                raise unknown(f"level of {factor}", level, map(str, known), where=study)
    if cell.disk is not None and not re.fullmatch(r"[\w-]+", cell.disk):
        raise FsgreenError(
            f"a study names its disks, and {cell.disk!r} is no name",
            where=study,
            next_step="fsgreen-simdisk disks lists names; for a file: fsgreen measure --disk FILE",
        )
    for factor in COUNTS:
        level = getattr(cell, factor)
        if level is not None and (type(level) is not int or level < 1):
            raise FsgreenError(
                f"a level of {factor} is a whole number from 1 on, not {level!r}",
                where=f"{study}, cell {cell.label}",
                next_step=f"{factor}: [1, 2, 4, 8]",
            )
    unset: dict[str, Any] = {
        factor: None for factor in CONSTANTS if getattr(cell, factor) == held[factor]
    }
    return replace(cell, **unset)


def _check_minimum(study: str, profile: Profile, least: float) -> None:
    """Refuse to stop by the width of an interval that rests on too few trials (rules 26, 27)."""
    if profile.sequential and profile.blocks < least:
        raise FsgreenError(
            f"profile {profile.name} may end a cell after {profile.blocks} blocks, and fewer than "
            f"{least:g} trials conclude nothing (rule 26)",
            where=study,
            next_step=f"blocks: {least:g} in the profile, or leave most_blocks out",
        )


def _declared(plan: Plan) -> Iterator[tuple[str, Any]]:
    """Yield everything of a plan but its trials as pairs of a name and a value."""
    values = values_of(plan)
    del values["trials"]
    yield from _leaves(values)


def _leaves(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{prefix}[{index}]")
    else:
        yield prefix, value
