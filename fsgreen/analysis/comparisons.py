"""Which cells are compared: those that the study declares, or the usual ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from fsgreen.analysis.effects import Pair
from fsgreen.analysis.scatter import TREATMENTS
from fsgreen.design import DEFAULT, Cell, Comparison, Plan, Study, factors
from fsgreen.reduce import at, level_label

USUAL = (
    Comparison("option", against=DEFAULT),
    Comparison("file_system", within=Cell(option=DEFAULT)),
)
"""Each option with the default of its file system, and the defaults of all file systems with each
other."""


def comparisons_of(study: Study, plan: Plan) -> tuple[Comparison, ...]:
    """Return what a study compares: what it declares, else all factors that its plan varies.

    A declared factor is left out if the plan does not have it. Without a declaration, these are
    `USUAL` and one comparison for each further factor. It compares each level with the level of the
    baseline, or all levels with each other if the baseline has none.
    """
    if study.comparisons:
        known = _known(plan)
        return tuple(entry for entry in study.comparisons if entry.factor in known)
    cells = [plan.levels(cell) for cell in plan.cells]
    varied = [name for name in cells[0] if len({cell[name] for cell in cells}) > 1]
    of_usual = {comparison.factor for comparison in USUAL}
    aside = {*of_usual, "workload", "load_ops_s"}
    further = [
        Comparison(name, against=plan.levels(plan.baseline)[name])
        for name in varied
        if name not in aside and name not in factors.of_owner("state")
    ]
    return (*USUAL, *further)


def treatments_of(study: Study, comparisons: Iterable[Comparison], plan: Plan) -> tuple[str, ...]:
    """Return the names of the factors of a plan in which the two cells of a pair may differ."""
    compared = {comparison.factor for comparison in comparisons}
    named = study.treatments or tuple(factors.names({*TREATMENTS, *compared}))
    known = _known(plan)
    return tuple(name for name in named if name in known)


def _known(plan: Plan) -> set[str]:
    """Return the names of a plan's factors. Its tables have a column for each."""
    return {factor.name for factor in (*factors.BUILT_IN, *plan.factors)}


def pairs_of(
    trials: pd.DataFrame, comparisons: Sequence[Comparison], treatments: Sequence[str]
) -> Iterator[Pair]:
    """Yield the pairs of cells of `trials.csv` that differ only in the factor of a comparison.

    Per workload, pairs with the level named by `against` come first. Pairs of comparisons that
    compare all levels with each other follow. `comparisons` and `treatments` are what
    `comparisons_of` and `treatments_of` return.
    """
    unlimited = trials[trials["load_ops_s"].isna()]
    for workload, of_workload in unlimited.groupby("workload"):
        cells = {
            comparison: _cells(of_workload[at(of_workload, comparison.within)], treatments)
            for comparison in comparisons
        }
        against = [comparison for comparison in comparisons if comparison.against is not None]
        for cell in _cells(of_workload, treatments):
            for comparison in against:
                baseline = cell.but(**{comparison.factor: comparison.against})
                if cell != baseline and {cell, baseline} <= {*cells[comparison]}:
                    yield comparison.family, str(workload), cell, baseline
        for comparison in comparisons:
            if comparison.against is None:
                for cell, other in itertools.combinations(cells[comparison], 2):
                    if cell.but(**{comparison.factor: other.get(comparison.factor)}) == other:
                        yield comparison.family, str(workload), cell, other


def _cells(trials: pd.DataFrame, treatments: Sequence[str]) -> list[Cell]:
    """Return the distinct cells of trials by their treatments, sorted by their names."""
    cells = {Cell(**row) for row in trials[[*treatments]].to_dict("records")}
    return sorted(
        cells,
        key=lambda cell: " ".join(
            level_label(name, cell[name]) for name in treatments if name in cell
        ),
    )
