"""A study as it is declared: factors, levels, constants, exclusions, bounds and the baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fsgreen import paths
from fsgreen.design.cell import Cell, cells_of
from fsgreen.errors import FsgreenError, unknown


@dataclass(frozen=True)
class Profile:
    """How much of a study is run, and how long.

    Attributes
    ----------
    blocks : int
        Passes over all cells.
    most_blocks : int, optional
        Passes after which the last cell ends: until then, cells whose interval is still too wide
        get more (`design.sequential`). Without it, all cells end after `blocks`.
    idle_s, warmup_s, measure_s, settle_limit_s : float
        Lengths of the phases; `settle_limit_s` is the longest wait for idle power.
    scale : mapping of workload to float
        Factor on the published number of files, or file size for oltp.
    image_b : int
        Size of the file system under test.
    bounds : mapping, optional
        Bounds beside those of the study, or instead of them.
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
    most_blocks: int | None = None
    bounds: Mapping[str, float] | None = None

    @property
    def sequential(self) -> bool:
        """Return whether a cell may end when its interval is narrow enough (rule 27)."""
        return self.most_blocks is not None

    @property
    def last_block(self) -> int:
        """Return the number of the last block that there may be."""
        return self.blocks if self.most_blocks is None else self.most_blocks

    @property
    def least_trial_s(self) -> float:
        """Return the length of a trial without making files and waiting for idle power."""
        return 2 * self.idle_s + self.warmup_s + self.measure_s


LEAST_TRIALS = 5
"""Trials of a cell below which nothing may be concluded (rule 26; fast10, section 3.2)."""


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
        matrices = {name: tuple(cells_of(levels)) for name, levels in text["matrices"].items()}
        study = Study(
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
    _check_minimum(study, file)
    return study


def _check_minimum(study: Study, file: Path) -> None:
    """Refuse bounds by which few trials conclude something."""
    for bounds in (study.bounds, *(profile.bounds or {} for profile in study.profiles.values())):
        least = bounds.get("minimum_trials", LEAST_TRIALS)
        if least < LEAST_TRIALS:
            raise FsgreenError(
                f"minimum_trials is {least}, and fewer than {LEAST_TRIALS} trials conclude nothing "
                "(rule 26)",
                where=file,
                next_step=f"minimum_trials: {LEAST_TRIALS}; a profile may have fewer blocks",
            )


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
    profile = Profile(name=name, matrices=chosen, image_b=image_b, **phases, **values)
    if not 1 <= profile.blocks <= profile.last_block:
        raise FsgreenError(
            f"profile {name} has {profile.blocks} blocks at least and {profile.last_block} at most",
            next_step="1 <= blocks <= most_blocks",
        )
    return profile
