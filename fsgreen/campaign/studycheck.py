"""Whether a study can be measured, as far as its file tells: asked by `fsgreen plan`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path

from fsgreen import design, paths, workloads
from fsgreen.design import Study
from fsgreen.errors import FsgreenError, unknown
from fsgreen.meters.core.registry import WITHOUT_METER
from fsgreen.meters.modelled import load_profile
from fsgreen.meters.modelled.profiles import SHARES
from fsgreen.schema import Fault
from fsgreen.stacks.filesystems import FILE_SYSTEMS, recipe
from fsgreen.trace import budget


def check(file: Path) -> Study:
    """Return the study of a file whose workloads, file systems and options are all known.

    Raises
    ------
    FsgreenError
        With everything that is wrong in the file, by line.
    """
    document, study = design.examine(file)
    faults = [*_unknown_workloads(study), *_unknown_options(study)]
    if faults:
        raise document.refusal(faults)
    return study


def too_short(study: Study, profile: str) -> str | None:
    """Return that the trials of a profile are too short for modelled meters, None if they are not.

    Rule 16: constant and edge terms stay below their share of a trial's energy. Power is taken to
    swing by all that the models have.
    """
    chosen = study.profiles[profile]
    bounds = {**study.bounds, **(chosen.bounds or {})}
    needed_s = _needed_s(bounds)
    if chosen.measure_s >= needed_s:
        return None
    return (
        f"measure_s is {chosen.measure_s:g}; with the meters that are modelled where none is "
        f"plugged in, {math.ceil(needed_s)} would do (rule 16), and shorter trials may not count"
    )


def _needed_s(bounds: Mapping[str, float]) -> float:
    """Return the least length of the phase `measure` with the emulated meters, in seconds."""
    models = [load_profile(str(meter["profile"])) for meter in WITHOUT_METER]
    idle_w = sum(model.idle_w for model in models)
    busy = dict.fromkeys(SHARES.values(), 1.0)
    peak_w = sum(model.power_w(busy) for model in models)
    return budget.minimum_duration_s(
        peak_w,
        constant_error_w=0.3 * len(models),
        edges_j=(budget.LAG + budget.STRADDLE) * (peak_w - idle_w),
        share=bounds["budget_percent"] / 100,
    )


def _unknown_workloads(study: Study) -> Iterator[Fault]:
    offered = [entry.name for entry in entry_points(group=workloads.GROUP)]
    known = [*workloads.names(), *study.workloads, *offered]
    for matrix, cells in study.matrices.items():
        for name in dict.fromkeys(cell["workload"] for cell in cells if "workload" in cell):
            if name not in known and not name.endswith(".f"):
                yield Fault(("matrices", matrix, "workload"), unknown("workload", name, known).what)


def _unknown_options(study: Study) -> Iterator[Fault]:
    for matrix, cells in study.matrices.items():
        made = dict.fromkeys(
            (cell["file_system"], cell["option"]) for cell in cells if "file_system" in cell
        )
        for file_system, option in made:
            try:
                recipe(file_system, option)
            except FsgreenError as error:
                known = file_system in FILE_SYSTEMS
                name = "option" if known else "file_system"
                yield Fault(("matrices", matrix, name), error.what)


def file_of(study: str) -> Path:
    """Return the file of a study: one of `studies/`, or the path of any."""
    return Path(study) if study.endswith(".yaml") else paths.study(study)
