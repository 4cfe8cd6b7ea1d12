"""Pairs of cells: effect size, test of difference, test of equivalence, families under Holm."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.analysis import configuration
from fsgreen.design import Cell, factors, metrics
from fsgreen.design.metrics import USUAL, Metric
from fsgreen.errors import FsgreenError
from fsgreen.reduce import at, factors_of

Pair = tuple[str, str, Cell, Cell]
"""Kind of comparison, workload, candidate and baseline."""

TESTED = (
    "change_percent",
    "change_low_percent",
    "change_high_percent",
    "difference_p",
    "difference_holm_p",
    "equivalence_p",
    "equivalence_holm_p",
    "bound_percent",
    "outcome",
)
"""What is said of a change: its size, whether it is one, and whether it is none."""

COLUMNS = [
    "boundary",
    "ratio_x",
    "ratio_low_x",
    "ratio_high_x",
    *TESTED,
    "model",
    "model_note",
    "bootstrap_low_x",
    "bootstrap_high_x",
]


TREATMENTS = ("file_system", "option")
"""What is compared, unless a study names other factors."""


def conditions(names: Iterable[str], treatments: Iterable[str] = TREATMENTS) -> list[str]:
    """Return what is the same for both cells of a comparison: the workload first."""
    apart = {*treatments, "load_ops_s"}
    return [name for name in names if name not in apart]


def sample(trials: pd.DataFrame, workload: str, cell: Cell, metric: str) -> pd.DataFrame:
    """Return block, above and below of each unlimited trial of a cell, as `stats.compare` reads.

    Raises
    ------
    FsgreenError
        If the trials are of several cells: of a warm and a cold cache, say.
    """
    chosen = trials[
        (trials["workload"] == workload) & at(trials, cell) & trials["load_ops_s"].isna()
    ]
    for name in conditions(factors_of(trials), cell):
        if chosen[name].nunique(dropna=False) > 1:
            levels = ", ".join(sorted(map(str, chosen[name].unique())))
            raise FsgreenError(
                f"trials of {workload} {configuration.label(cell)} differ in {name}: {levels}",
                next_step=f"choose the trials of one {name}",
            )
    return _totals(chosen, metrics.get(metric))


def total(sample: pd.DataFrame) -> stats.Estimate:
    """Return the value of a sample, total over total; with an interval from enough trials on."""
    value = stats.ratio_of_totals(sample["above"], sample["below"])
    return value if value.n >= stats.MIN_BLOCKS else replace(value, low=math.nan, high=math.nan)


@dataclass(frozen=True, eq=False)
class Scatters:
    """How far trials scatter as fast as they go: the models of a workload, made when asked.

    With these, `stats.effect` says of two samples what `effects_table` does.
    """

    trials: pd.DataFrame
    treatments: Sequence[str] = TREATMENTS
    _groups: dict[str, list[Group]] = field(default_factory=dict)

    def of(self, workload: str, metric: str, *cells: Cell) -> stats.Scatter | None:
        """Return the scatter for comparing these levels of the treatments.

        None where the model or one of them forbids it (`MixedModel.refuses`), and where trials of
        the workload are in several states.
        """
        if workload not in self._groups:
            of_workload = self.trials[self.trials["workload"] == workload]
            self._groups[workload] = groups_of(of_workload, self.treatments)
        groups = self._groups[workload]
        return groups[0].models[metric].scatter(*cells) if len(groups) == 1 else None


def effects_table(
    trials: pd.DataFrame,
    pairs: Iterable[Pair],
    bounds: Mapping[str, float],
    treatments: Sequence[str] = TREATMENTS,
    compared_by: Sequence[Metric] = USUAL,
) -> pd.DataFrame:
    """Return a row per pair, metric and state of what the pair has in common.

    Comparisons of one kind, metric and workload (in one state) are one family (rule 38).

    `candidate_ops_s` ... are the values of both cells in the blocks that both have (rule 30).
    Intervals and p-values rest on the scatter of all cells of a workload, by a mixed model, or,
    where that must not be used, on the bootstrap of the two cells (rule 36): `model` says which,
    `model_note` why; `bootstrap_low_x` and `bootstrap_high_x` are always of the bootstrap. What is
    compared with a cell without a steady state is `inconsistent` (rule 24).

    Parameters
    ----------
    trials : DataFrame
        The table `trials.csv`.
    pairs : iterable of (kind, workload, candidate, baseline)
        What is compared, as the levels of the treatments; `kind` names the family.
    bounds : mapping
        The plan's `equivalence_percent` and `minimum_trials`.
    treatments : sequence of str
        The factors in which the cells of a pair may differ.
    compared_by : sequence of Metric
        What the cells are compared in.
    """
    return compared(groups_of(trials, treatments, compared_by), pairs, bounds, treatments)


def groups_of(
    trials: pd.DataFrame,
    treatments: Sequence[str] = TREATMENTS,
    compared_by: Sequence[Metric] = USUAL,
) -> list[Group]:
    """Return the cells that may be compared, with their models: for several calls of `compared`."""
    unlimited = trials[trials["load_ops_s"].isna()]
    shared = conditions(factors_of(trials), treatments)
    return [
        Group.of(dict(zip(shared, key, strict=True)), these, treatments, compared_by)
        for key, these in unlimited.groupby(shared, dropna=False)
    ]


def compared(
    groups: Sequence[Group],
    pairs: Iterable[Pair],
    bounds: Mapping[str, float],
    treatments: Sequence[str] = TREATMENTS,
) -> pd.DataFrame:
    """Return what `effects_table` does of the trials that the groups were made from."""
    shared = groups[0].conditions if groups else conditions(factors.names(), treatments)
    family = ["kind", "metric", *shared]
    compared_by = groups[0].compared_by if groups else USUAL
    columns = [
        *family,
        *treatments,
        *(f"baseline_{name}" for name in treatments),
        "n",
        *(column for metric in compared_by for column in _values(metric)),
        *COLUMNS,
    ]
    rows = [
        row
        for kind, workload, candidate, baseline in pairs
        for group in groups
        if group.conditions["workload"] == workload
        for row in group.rows(kind, candidate, baseline, bounds)
    ]
    if not rows:
        return pd.DataFrame(columns=columns)
    table = pd.DataFrame(rows)
    for p_value in ("difference_p", "equivalence_p"):
        families = table.groupby(family, dropna=False)[p_value]
        adjusted = families.transform(lambda p: stats.holm(list(p)))
        table[p_value.replace("_p", "_holm_p")] = adjusted
    table["bound_percent"] = bounds.get("equivalence_percent", math.nan)
    table["outcome"] = [
        outcome(n, different, equal, bounds) if steady else "inconsistent"
        for n, different, equal, steady in zip(
            table["n"],
            table["difference_holm_p"],
            table["equivalence_holm_p"],
            table["steady"],
            strict=True,
        )
    ]
    return table.reindex(columns=columns)


def outcome(n: int, difference_p: float, equivalence_p: float, bounds: Mapping[str, float]) -> str:
    """Return `different`, `equivalent` or `inconclusive` (rules 26 and 37)."""
    if n >= bounds["minimum_trials"]:
        if difference_p < stats.LEVEL:
            return "different"
        if equivalence_p < stats.LEVEL:
            return "equivalent"
    return "inconclusive"


@dataclass(frozen=True)
class Group:
    """The cells that may be compared: of one workload, in one state."""

    conditions: Mapping[str, Any]
    cells: Mapping[Cell, pd.DataFrame]
    models: Mapping[str, stats.MixedModel]
    """By name of the metric; none where no blocks are known."""
    treatments: Sequence[str]
    compared_by: Sequence[Metric] = USUAL

    @classmethod
    def of(
        cls,
        conditions: Mapping[str, Any],
        trials: pd.DataFrame,
        treatments: Sequence[str],
        compared_by: Sequence[Metric],
    ) -> Group:
        """Return the cells of these trials, which share the conditions."""
        of_trials = [Cell(**row) for row in trials[[*treatments]].to_dict("records")]
        return cls(
            conditions,
            {cell: trials[[c == cell for c in of_trials]] for cell in set(of_trials)},
            {}
            if trials["block"].isna().any()
            else {metric.name: _model(trials, of_trials, metric) for metric in compared_by},
            treatments,
            compared_by,
        )

    def rows(
        self, kind: str, candidate: Cell, baseline: Cell, bounds: Mapping[str, float]
    ) -> Iterator[dict[str, Any]]:
        """Yield a row per metric, if both cells were measured.

        `steady` says whether both have a steady state: without one there is no mean (rule 24).
        """
        if not {candidate, baseline} <= self.cells.keys():
            return
        subject, reference = self.cells[candidate], self.cells[baseline]
        results = {
            metric: self._compared(metric, candidate, baseline, bounds)
            for metric in self.compared_by
            if all(len(_totals(cell, metric)) for cell in (subject, reference))
        }
        for metric, result in results.items():
            yield {
                "kind": kind,
                "metric": metric.name,
                "steady": _steady(subject, metric) and _steady(reference, metric),
                "boundary": subject["boundary"].iloc[0],
                **self.conditions,
                **{name: candidate.get(name) for name in self.treatments},
                **{f"baseline_{name}": baseline.get(name) for name in self.treatments},
                **{
                    column: value
                    for of, one in results.items()
                    for column, value in zip(
                        _values(of), (one.candidate, one.baseline), strict=True
                    )
                },
                **_effect(result),
                **_basis(result, self.models.get(metric.name), candidate, baseline),
            }

    def _compared(
        self, metric: Metric, candidate: Cell, baseline: Cell, bounds: Mapping[str, float]
    ) -> stats.Comparison:
        subject = _totals(self.cells[candidate], metric)
        reference = _totals(self.cells[baseline], metric)
        bound = bounds.get("equivalence_percent", math.nan) / 100
        if metric.name not in self.models:
            return stats.compare_unpaired(subject, reference, bound)
        scatter = self.models[metric.name].scatter(candidate, baseline)
        return stats.compare(subject, reference, bound, scatter)


def _values(metric: Metric) -> tuple[str, str]:
    """Return the columns of a metric's values of both cells: by the unit where that is enough."""
    column = metric.unit if metric in USUAL else metric.column
    return f"candidate_{column}", f"baseline_{column}"


def _model(trials: pd.DataFrame, cells: list[Cell], metric: Metric) -> stats.MixedModel:
    above, below = metric.totals(trials)
    rates = {"block": trials["block"], "cell": cells, "rate": above / below}
    return stats.mixed_model(pd.DataFrame(rates).dropna(subset="rate"), "cell", "rate")


def _totals(cell: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    above, below = metric.totals(cell)
    table = pd.DataFrame({"block": cell["block"], "above": above, "below": below})
    return table.dropna(subset=["above", "below"])


def _steady(cell: pd.DataFrame, metric: Metric) -> bool:
    """Return whether a cell has a steady state, for a metric of energy in its power, too."""
    series = ["steady", "steady_power"] if metric.of_power else ["steady"]
    classes = [stats.classify_cell(list(cell[name])) for name in series if name in cell]
    return "inconsistent" not in classes


def _effect(result: stats.Comparison) -> dict[str, Any]:
    return {
        "n": result.ratio.n,
        "ratio_x": result.ratio.value,
        "ratio_low_x": result.ratio.low,
        "ratio_high_x": result.ratio.high,
        "change_percent": 100 * (result.ratio.value - 1),
        "change_low_percent": 100 * (result.ratio.low - 1),
        "change_high_percent": 100 * (result.ratio.high - 1),
        "difference_p": result.difference_p,
        "equivalence_p": result.equivalence_p,
    }


def _basis(
    result: stats.Comparison, model: stats.MixedModel | None, candidate: Cell, baseline: Cell
) -> dict[str, Any]:
    """Return what interval and p-values rest on, and the interval of the bootstrap."""
    bootstrap = {
        "bootstrap_low_x": result.bootstrap.low,
        "bootstrap_high_x": result.bootstrap.high,
    }
    if model is None:
        return {"model": "Welch", "model_note": "no blocks are known", **bootstrap}
    note = model.refuses(candidate, baseline)
    if not note and not result.pooled:
        note = "too few common blocks" if result.ratio.n < 2 else "several trials in a block"
    return {
        "model": "mixed model" if result.pooled else "bootstrap",
        "model_note": note,
        **bootstrap,
    }
