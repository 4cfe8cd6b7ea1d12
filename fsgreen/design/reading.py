"""Reads a study from its file, and collects all faults of the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsgreen import paths
from fsgreen.design import factors, metrics, studyfaults, studyfile
from fsgreen.design.cell import Cell
from fsgreen.design.factors import Factor, Level
from fsgreen.design.metrics import Metric
from fsgreen.design.soundpart import SoundPart, sound_part
from fsgreen.design.study import Comparison, Exclusion, PlannedEvent, Profile, Study, Windows
from fsgreen.errors import FsgreenError
from fsgreen.schema import Document, Fault, Place


def load_study(name: str) -> Study:
    """Return the study of `studies/NAME.yaml`.

    Raises FsgreenError if there is no such study, or its file has faults.
    """
    return read_study(paths.study(name))


def read_study(file: Path) -> Study:
    """Return the study that a file declares.

    Raises FsgreenError with all faults of the file, by line; or if it cannot be read, or is not
    YAML.
    """
    examined = examine(file)
    if examined.faults or examined.study is None:
        raise examined.document.refusal(examined.faults)
    return examined.study


@dataclass(frozen=True)
class Examined:
    """A study's file with all its faults.

    `sound` is the part of the file whose form is valid. `study` is the study without its faulty
    parts; None if too much is wrong.
    """

    document: Document
    sound: SoundPart
    study: Study | None
    faults: list[Fault]


def examine(file: Path) -> Examined:
    """Return the study of a file together with all faults of the file.

    Raises FsgreenError if the file cannot be read, or is not YAML.
    """
    document = studyfile.read(file)
    sound = sound_part(document)
    if sound.declared is None:
        return Examined(document, sound, None, sound.faults)
    declared = sound.declared
    own = tuple(
        Factor(name, **entry.model_dump(exclude_none=True))
        for name, entry in declared.factors.items()
    )
    for factor in own:
        sound.replace(_declared(factors.declare_new, factor, ("factors", factor.name)))
    wrong: list[Fault] = []
    for nth, entry in enumerate(declared.metrics):
        if entry.above:
            wrong += _declared(metrics.declare, Metric(**entry.model_dump()), ("metrics", nth))
    matrices, of_levels = studyfaults.matrices_of(declared)
    wrong += [*of_levels, *studyfaults.semantic_faults(declared, matrices)]
    study = _study(declared, own, matrices)
    return Examined(document, sound, study, [*sound.faults, *sound.own(wrong)])


def _declared(declare: Callable[[list[Any]], None], entry: Any, place: Place) -> list[Fault]:
    """Declare a factor or a metric; return a fault if its name is taken."""
    try:
        declare([entry])
    except FsgreenError as error:
        return [Fault(place, error.what)]
    return []


def _study(
    declared: studyfile.StudyFile, own: tuple[Factor, ...], matrices: Mapping[str, tuple[Cell, ...]]
) -> Study:
    """Return the study of a file. Levels of unknown factors are left out."""
    return Study(
        name=declared.study,
        title=declared.title,
        question=declared.question,
        seed=declared.seed,
        baseline=_known(declared.baseline),
        constants=declared.constants,
        bounds={**studyfile.BOUNDS, **declared.bounds.set()},
        exclusions=tuple(
            Exclusion(**{**entry.model_dump(), "what": entry.in_words})
            for entry in declared.exclusions
        ),
        matrices=matrices,
        profiles={
            name: _profile(name, entry, matrices) for name, entry in declared.profiles.items()
        },
        factors=own,
        workloads={
            name: entry.model_dump(exclude_none=True) for name, entry in declared.workloads.items()
        },
        metrics=tuple(entry.name for entry in declared.metrics),
        comparisons=tuple(
            Comparison(entry.factor, entry.against, _known(entry.within))
            for entry in declared.comparisons
        ),
        treatments=declared.treatments,
        efficiency=None
        if declared.efficiency is None
        else declared.efficiency.model_dump(exclude_none=True),
    )


def _known(levels: Mapping[str, Level]) -> Cell:
    return Cell(**{name: levels[name] for name in factors.names(levels)})


def _profile(
    name: str, entry: studyfile.ProfileEntry, matrices: Mapping[str, tuple[Cell, ...]]
) -> Profile:
    scale = entry.scale
    if not isinstance(scale, Mapping):
        cells = [cell for matrix in entry.matrices for cell in matrices.get(matrix, ())]
        scale = dict.fromkeys(sorted({cell.get("workload", "") for cell in cells}), scale)
    windows = None if entry.windows is None else Windows(**entry.windows.model_dump())
    phases = entry.phases.model_dump()
    if windows is not None:
        phases["measure_s"] = windows.count * windows.length_s
    return Profile(
        name=name,
        matrices=entry.matrices,
        blocks=entry.blocks,
        most_blocks=entry.most_blocks,
        **phases,
        scale=scale,
        image_b=entry.image_mib * 2**20,
        bounds=None if entry.bounds is None else entry.bounds.set(),
        constants=entry.constants,
        events=tuple(PlannedEvent(**event.model_dump()) for event in entry.events),
        windows=windows,
    )
