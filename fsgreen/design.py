"""A study as it is declared, and the plan of trials that is made of it before data exist.

Rules 1 to 4 of the statistics: factors, levels, constants, exclusions and the baseline are declared
first; a hash of the plan is in every record; trials are randomised in complete blocks, each of
which is one pass over all cells, the baseline included.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from fsgreen import paths
from fsgreen.errors import FsgreenError, unknown

FACTORS = ("workload", "file_system", "option", "load_ops_s")


@dataclass(frozen=True)
class Cell:
    """One combination of levels; `load_ops_s` None means as fast as it goes."""

    workload: str
    file_system: str
    option: str = "default"
    load_ops_s: float | None = None

    @property
    def label(self) -> str:
        """Return the cell as it stands in names of trials."""
        parts = [self.workload, self.file_system, self.option]
        if self.load_ops_s is not None:
            parts.append(f"{self.load_ops_s:g}ops")
        return "-".join(parts)


@dataclass(frozen=True)
class Profile:
    """How much of a study is run, and how long.

    Attributes
    ----------
    blocks : int
        Passes over all cells.
    idle_s, warmup_s, measure_s, settle_limit_s : float
        Lengths of the phases; `settle_limit_s` is the longest wait for idle power.
    scale : mapping of workload to float
        Factor on the published number of files, or file size for oltp.
    image_b : int
        Size of the file system under test.
    """

    name: str
    matrices: tuple[str, ...]
    blocks: int
    idle_s: float
    warmup_s: float
    measure_s: float
    settle_limit_s: float
    scale: Mapping[str, float]
    image_b: int


@dataclass(frozen=True)
class Study:
    """A declared experiment, as its file in `studies/` states it."""

    name: str
    title: str
    question: str
    seed: int
    baseline: Cell
    constants: Mapping[str, Any]
    bounds: Mapping[str, float]
    exclusions: tuple[Mapping[str, str], ...]
    matrices: Mapping[str, tuple[Cell, ...]]
    profiles: Mapping[str, Profile]


@dataclass(frozen=True)
class PlannedTrial:
    """One trial of a plan. Cells of one workload share their seed within a block."""

    trial: str
    block: int
    order: int
    seed: int
    cell: Cell


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
        text = json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Return the cells, each once, in a fixed order."""
        return tuple(sorted({trial.cell for trial in self.trials}, key=lambda cell: cell.label))

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON values, with its hash."""
        return {"schema": 1, "hash": self.hash, **json.loads(json.dumps(asdict(self)))}

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
        mine, theirs = (dict(_leaves(asdict(plan))) for plan in (self, other))
        return [
            f"{key}: {theirs.get(key, 'absent')} -> {mine.get(key, 'absent')}"
            for key in sorted(mine.keys() | theirs.keys())
            if mine.get(key) != theirs.get(key)
        ]


def load_study(name: str) -> Study:
    """Read `studies/NAME.yaml`.

    Raises
    ------
    FsgreenError
        If there is no such study, or its file is not a study.
    """
    return read_study(paths.study(name))


def read_study(file: Path) -> Study:
    """Read the declaration of a study from any file."""
    try:
        text = yaml.safe_load(file.read_text())
        matrices = {name: tuple(_cells(levels)) for name, levels in text["matrices"].items()}
        return Study(
            name=text["study"],
            title=text["title"],
            question=text["question"],
            seed=text["seed"],
            baseline=Cell(**text["baseline"]),
            constants=text["constants"],
            bounds=text["bounds"],
            exclusions=tuple(text["exclusions"]),
            matrices=matrices,
            profiles={
                name: _profile(name, matrices, **values)
                for name, values in text["profiles"].items()
            },
        )
    except (yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise FsgreenError(
            f"not a study: {error!r}", where=file, next_step="compare with studies/fast10.yaml"
        ) from error


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
        trials=tuple(_blocks(cells, chosen.blocks, study.seed)),
    )


def _blocks(cells: Sequence[Cell], blocks: int, seed: int) -> Iterator[PlannedTrial]:
    for block in range(1, blocks + 1):
        order = list(cells)
        random.Random(derive_seed(seed, "order", block)).shuffle(order)
        for number, cell in enumerate(order, start=1):
            yield PlannedTrial(
                trial=f"b{block:02d}-{number:03d}-{cell.label}",
                block=block,
                order=number,
                seed=derive_seed(seed, cell.workload, block),
                cell=cell,
            )


def derive_seed(seed: int, *parts: object) -> int:
    """Return a 32-bit seed that depends on `seed` and the parts alone."""
    text = "/".join(str(part) for part in (seed, *parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4])


def _cells(levels: Mapping[str, Sequence[Any]]) -> Iterator[Cell]:
    for factor in levels:
        if factor not in FACTORS:
            raise unknown("factor", factor, FACTORS)
    for combination in itertools.product(*levels.values()):
        yield Cell(**dict(zip(levels, combination, strict=True)))


def _profile(
    name: str,
    matrices: Mapping[str, tuple[Cell, ...]],
    /,
    *,
    phases: Mapping[str, Any],
    **values: Any,
) -> Profile:
    for matrix in values["matrices"]:
        if matrix not in matrices:
            raise unknown("matrix", matrix, matrices)
    image_b = values.pop("image_mib") * 2**20
    chosen = tuple(values.pop("matrices"))
    return Profile(name=name, matrices=chosen, image_b=image_b, **phases, **values)


def _leaves(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{prefix}[{index}]")
    else:
        yield prefix, value
