"""The plan of trials that is made of a study before data exist, and its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from fsgreen.design.blocks import PlannedTrial, complete_blocks
from fsgreen.design.cell import Cell
from fsgreen.design.study import Profile, Study
from fsgreen.errors import FsgreenError, unknown

MAY_BE_CONSTANT = ("cache", "device", "scheduler")


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
        """Return the lines in which two plans differ, for a person to read."""
        mine, theirs = (dict(_leaves(values_of(plan))) for plan in (self, other))
        return [
            f"{key}: {theirs.get(key, 'absent')} -> {mine.get(key, 'absent')}"
            for key in sorted(mine.keys() | theirs.keys())
            if mine.get(key) != theirs.get(key)
        ]


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
        If the study has no such profile, or the profile leaves out the baseline.
    """
    if profile not in study.profiles:
        raise unknown("profile", profile, study.profiles, where=study.name)
    chosen = study.profiles[profile]
    declared = [cell for name in chosen.matrices for cell in study.matrices[name]]
    baseline, exclusions, constants = study.baseline, study.exclusions, study.constants
    if only is not None:
        declared = [
            replace(cell, file_system=only) for cell in declared if cell.option == "default"
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
        bounds=study.bounds,
        exclusions=exclusions,
        seed=study.seed,
        trials=tuple(complete_blocks(cells, chosen.blocks, study.seed)),
    )


def values_of(declared: Cell | Plan) -> dict[str, Any]:
    """Return a declaration as plain values, without factors that are constant.

    A study that does not vary them has the hash that it had before they could vary.
    """
    values: dict[str, Any] = asdict(
        declared,
        dict_factory=lambda pairs: {
            name: value for name, value in pairs if value is not None or name not in MAY_BE_CONSTANT
        },
    )
    return values


def _leaves(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{prefix}[{index}]")
    else:
        yield prefix, value
