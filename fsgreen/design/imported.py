"""The plan and the study of imported runs: they say what varied, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fsgreen.design import factors, metrics, studyfile
from fsgreen.design.blocks import PlannedTrial
from fsgreen.design.cell import DEFAULT, Cell
from fsgreen.design.plan import Plan
from fsgreen.design.study import Comparison, Profile, Study

NAME = "imported"
"""The name of the study and of the profile in plans of imported runs."""

NOT_RECORDED = "not recorded"
"""The level of a factor if an imported run does not have it; a measured trial always has one."""

NO_BLOCK = 0
"""The block of a run whose block is not known."""

UNDECLARED = "equivalence_percent"
"""The bound that no import has, as it must be declared before runs are seen."""


def plan_of_runs(runs: Iterable[Mapping[str, Any]]) -> Plan:
    """Return a plan that describes imported runs: their cells, in the blocks that they name.

    Its order is that of the files and has no meaning. It has no bound of equivalence.

    A run has `trial`, `workload`, the levels of other factors (NaN if it names none), and `block`
    if it is known.
    """
    trials = tuple(
        PlannedTrial(
            trial=str(run["trial"]),
            block=int(run.get("block", NO_BLOCK)),
            order=number,
            seed=0,
            cell=Cell(**{name: run[name] for name in factors.names(run) if run[name] == run[name]}),
        )
        for number, run in enumerate(runs, 1)
    )
    in_all = set.intersection(*(set(planned.cell) for planned in trials))
    return Plan(
        study=NAME,
        profile=Profile(
            name=NAME,
            matrices=(),
            blocks=max(planned.block for planned in trials),
            idle_s=0,
            warmup_s=0,
            measure_s=0,
            settle_limit_s=0,
            scale={},
            image_b=0,
        ),
        baseline=_baseline(trials),
        constants={
            known.name: NOT_RECORDED
            for known in factors.every()
            if known.default is not None and known.name not in in_all
        },
        bounds={name: bound for name, bound in studyfile.BOUNDS.items() if name != UNDECLARED},
        exclusions=(),
        seed=0,
        trials=trials,
    )


def decided(imported: Mapping[str, Any]) -> Iterator[str]:
    """Yield the decisions about imported files, each once, after the files that it is about.

    `imported` is the value of that key in `campaign.json`.
    """
    files = imported["files"]
    of: dict[str, list[str]] = {}
    for source in files:
        for said in source["decisions"]:
            of.setdefault(said, []).append(source["file"])
    for said, names in of.items():
        all_of = "all files" if len(names) == len(files) > 1 else f"{len(names)} files"
        yield f"{names[0] if len(names) == 1 else all_of}: {said}"


def study_of_runs(plan: Plan, title: str, question: str, measured_by: Iterable[str]) -> Study:
    """Return a study for imported runs. It compares all levels of each varied factor.

    Options are compared with `default` if there is one.

    `plan` is what `plan_of_runs` returns; title and question are those of the report. `measured_by`
    are the columns in which runs have values. The metrics of these columns are compared.
    """
    known = set(measured_by)
    cells = plan.cells
    varied = [name for name in factors.names() if len({cell.get(name) for cell in cells}) > 1]
    options = {cell.get("option") for cell in cells}
    compared = [name for name in varied if name not in ("workload", "load_ops_s")]
    return Study(
        name=plan.study,
        title=title,
        question=question,
        seed=plan.seed,
        baseline=plan.baseline,
        constants=plan.constants,
        bounds=plan.bounds,
        exclusions=(),
        matrices={},
        profiles={},
        metrics=tuple(metric.name for metric in metrics.BUILT_IN if _compared(metric.name, known)),
        comparisons=tuple(
            Comparison(name, DEFAULT if name == "option" and DEFAULT in options else None)
            for name in compared
        ),
        treatments=tuple(factors.names({"file_system", "option", *compared})),
    )


def _compared(metric: str, columns: set[str]) -> bool:
    """Return whether runs are compared in a metric; in `duration` only if no work is known."""
    known = metrics.get(metric)
    return known.column in columns and not (metric == "duration" and "work_ops" in columns)


def _baseline(trials: Sequence[PlannedTrial]) -> Cell:
    """Return the first cell with the default option, or the first cell if there is none."""
    cells = [planned.cell for planned in trials]
    return next((cell for cell in cells if cell.get("option") == DEFAULT), cells[0])
