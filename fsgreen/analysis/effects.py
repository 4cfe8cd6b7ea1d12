"""Pairs of cells: effect size, test of difference, test of equivalence, families under Holm."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.cells import is_steady
from fsgreen.analysis.scatter import TREATMENTS, Group, conditions, groups_of
from fsgreen.design import Cell, factors
from fsgreen.design.columns import EFFECTS
from fsgreen.design.metrics import USUAL, Metric

Pair = tuple[str, str, Cell, Cell]
"""Kind of comparison, workload, candidate and baseline."""


def effects_table(
    trials: pd.DataFrame,
    pairs: Iterable[Pair],
    bounds: Mapping[str, float],
    treatments: Sequence[str] = TREATMENTS,
    compared_by: Sequence[Metric] = USUAL,
) -> pd.DataFrame:
    """Return a row per pair of cells, metric, and combination of levels that both cells share.

    Comparisons of one kind, metric and workload (in one state) are one family (rule 38). The cells
    of a pair may differ only in `treatments`.

    The columns:

    - `candidate_ops_s` and the like are the values of both cells in the blocks that both have
      (rule 30).
    - Intervals and p-values come from a mixed model of all cells of a workload. Where the model
      must not be used, they come from the bootstrap of the two cells (rule 36). `model` says which,
      and `model_note` why. `bootstrap_low_x` and `bootstrap_high_x` are always the bootstrap's.
    - `lag1_x` is the share of a trial's deviation that returns in the next block. `lag1_p` is the
      p-value of its being zero. All intervals are `widened_x` times as wide because of it.
    - `coverage_percent` is how often such intervals cover the truth, simulated with the scatter of
      this workload, or of a cell some of whose trials lie further off (rule 52).
    - `outcome` is `inconsistent` if one of the cells has no steady state (rule 24).
    """
    return compared(groups_of(trials, treatments, compared_by), pairs, bounds, treatments)


def compared(
    groups: Sequence[Group],
    pairs: Iterable[Pair],
    bounds: Mapping[str, float],
    treatments: Sequence[str] = TREATMENTS,
) -> pd.DataFrame:
    """Return what `effects_table` returns for the trials that the groups were made from."""
    shared = groups[0].conditions if groups else conditions(factors.names(), treatments)
    family = ["kind", "metric", *shared]
    compared_by = groups[0].compared_by if groups else USUAL
    columns = [
        *family,
        *treatments,
        *(f"baseline_{name}" for name in treatments),
        "n",
        *(column for metric in compared_by for column in _values(metric)),
        *EFFECTS,
    ]
    rows = [
        row
        for kind, workload, candidate, baseline in pairs
        for group in groups
        if group.conditions["workload"] == workload
        for row in _rows(group, kind, candidate, baseline, bounds)
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


def _rows(
    group: Group, kind: str, candidate: Cell, baseline: Cell, bounds: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    """Yield a row per metric, if both cells were measured.

    `steady` says whether both have a steady state. Without one, a cell has no mean (rule 24).
    """
    if not group.has(candidate, baseline):
        return
    subject, reference = group.cell(candidate), group.cell(baseline)
    results = {
        metric: _compared(group, metric, candidate, baseline, bounds)
        for metric in group.compared_by
        if all(len(group.totals(cell, metric)) for cell in (candidate, baseline))
    }
    for metric, result in results.items():
        yield {
            "kind": kind,
            "metric": metric.name,
            "steady": all(is_steady(of, metric) for of in (subject, reference)),
            "boundary": subject["boundary"].iloc[0],
            **group.conditions,
            **{name: candidate.get(name) for name in group.treatments},
            **{f"baseline_{name}": baseline.get(name) for name in group.treatments},
            **{
                column: value
                for of, one in results.items()
                for column, value in zip(_values(of), (one.candidate, one.baseline), strict=True)
            },
            **_effect(result),
            **_basis(result, group.model(metric), candidate, baseline),
            **_dependence(group, metric, result.pooled, candidate, baseline),
        }


def _compared(
    group: Group, metric: Metric, candidate: Cell, baseline: Cell, bounds: Mapping[str, float]
) -> stats.Comparison:
    """Return the comparison of two cells in a metric, by common blocks if blocks are known."""
    subject, reference = (group.totals(cell, metric) for cell in (candidate, baseline))
    bound = bounds.get("equivalence_percent", math.nan) / 100
    model = group.model(metric)
    if model is None:
        return stats.compare_unpaired(subject, reference, bound)
    return stats.compare(subject, reference, bound, model.scatter(candidate, baseline))


def _values(metric: Metric) -> tuple[str, str]:
    """Return the names of the columns with both cells' values; a usual metric's have its unit."""
    column = metric.unit if metric in USUAL else metric.column
    return f"candidate_{column}", f"baseline_{column}"


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


def _dependence(group: Group, metric: Metric, pooled: bool, *cells: Cell) -> dict[str, float]:
    """Return how far trials depend on the previous block, and how often intervals then cover."""
    model = group.model(metric)
    if model is None:
        return {}
    return {
        "lag1_x": model.depends.coefficient,
        "lag1_p": model.depends.p,
        "widened_x": model.depends.widening,
        "coverage_percent": group.coverage(metric).of_ratio(*cells, pooled=pooled),
    }


def _basis(
    result: stats.Comparison, model: stats.MixedModel | None, candidate: Cell, baseline: Cell
) -> dict[str, Any]:
    """Return which model gives the interval and the p-values, and the interval of the bootstrap."""
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
