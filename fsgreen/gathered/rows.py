"""What goes along of the tables of a campaign: cells and comparisons, and the rules that fired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

import pandas as pd

from fsgreen import absence, paths, stats
from fsgreen.analysis.comparisons import comparisons_of, treatments_of
from fsgreen.analysis.scatter import Group, groups_of, totals
from fsgreen.confounds.gate import State as GateState
from fsgreen.design import Cell as Levels
from fsgreen.design import Plan, metrics
from fsgreen.errors import FsgreenError
from fsgreen.gathered import broad
from fsgreen.gathered.document import Between, Cell, Effect
from fsgreen.gathered.records import BOUNDARIES
from fsgreen.reduce import factors_of, read_study, read_table
from fsgreen.stats.series import State

STATES = (*get_args(State), "inconsistent", "mixed")
OUTCOMES = ("different", "equivalent", "inconclusive", "inconsistent")
GATES = get_args(GateState)


def rules_in(trust: pd.DataFrame, state: str) -> Iterator[int]:
    """Yield the numbers of the rules in a state."""
    yield from (int(number) for number in trust.loc[trust["state"] == state, "rule"])


def words_of(plan: Plan) -> set[str]:
    """Return the words that a study chose for the levels of its cells."""
    return {
        level
        for cell in plan.cells
        for level in plan.levels(cell).values()
        if isinstance(level, str)
    }


def cells(campaign: str, plan: Plan, table: pd.DataFrame) -> Iterator[Cell]:
    """Yield the cells of `cells.csv`."""
    declared = (metrics.get(name) for name in read_study(campaign).metrics)
    known = dict.fromkeys([*metrics.USUAL, *declared])
    words = words_of(plan)
    for row in table.to_dict("records"):
        values = {
            metric.name: _between(row, metric.column, metric.end("low"), metric.end("high"))
            for metric in known
        }
        yield Cell(
            levels=_levels(campaign, row, factors_of(table), words),
            boundary=broad.one_of(row["boundary"], BOUNDARIES),
            n=int(row["n"]),
            state=broad.one_of(row["state"], STATES),
            starred=bool(row["starred"]),
            cv_percent=broad.number(row["cv_percent"]),
            values={name: value for name, value in values.items() if value is not None},
        )


def effects(campaign: str, plan: Plan, table: pd.DataFrame) -> Iterator[Effect]:
    """Yield the comparisons of `effects.csv` that have a ratio, with their degrees of freedom."""
    study, words = read_study(campaign), words_of(plan)
    comparisons = comparisons_of(study, plan)
    treatments = treatments_of(study, comparisons, plan)
    kinds = {comparison.family for comparison in comparisons}
    chosen = [metrics.get(name) for name in study.metrics]
    groups = groups_of(read_table(campaign, "trials"), treatments, chosen)
    shared = [name for name in factors_of(table) if name not in treatments]
    for row in table.to_dict("records"):
        ratio = _between(row, "ratio_x", "ratio_low_x", "ratio_high_x")
        if row["kind"] not in kinds or row["metric"] not in study.metrics or ratio is None:
            continue
        baseline = {name: row[f"baseline_{name}"] for name in treatments}
        yield Effect(
            kind=row["kind"],
            metric=row["metric"],
            of_power=metrics.get(row["metric"]).of_power,
            shared=_levels(campaign, row, shared, words),
            of=_levels(campaign, row, treatments, words),
            over=_levels(campaign, baseline, treatments, words),
            boundary=broad.one_of(row["boundary"], BOUNDARIES),
            n=int(row["n"]),
            ratio=ratio,
            degrees_count=_degrees(row, baseline, groups),
            difference_holm_p=broad.number(row["difference_holm_p"]),
            equivalence_holm_p=broad.number(row["equivalence_holm_p"]),
            bound_percent=broad.number(row["bound_percent"]),
            outcome=broad.one_of(row["outcome"], OUTCOMES),
            gate=broad.one_of(row["gate"], GATES),
        )


def _degrees(
    row: Mapping[str, Any], baseline: Mapping[str, Any], groups: Iterable[Group]
) -> float | None:
    """Return the degrees of freedom of a comparison, of which its table has the interval alone."""
    if pd.isna(row["ratio_low_x"]):
        return None
    if row["model"] == "bootstrap":
        return float(row["n"] - 1)
    metric = metrics.get(row["metric"])
    for group in groups:
        if all(_same(row[name], level) for name, level in group.conditions.items()):
            if (model := group.model(metric)) is not None:
                return float(model.degrees)
            pair = (Levels(**{name: side[name] for name in baseline}) for side in (row, baseline))
            one, other = (totals(group.cell(cell), metric) for cell in pair)
            return float(stats.compare_unpaired(one, other).ratio.degrees)
    return None


def _levels(
    campaign: str, row: Mapping[str, Any], names: Sequence[str], words: set[str]
) -> dict[str, Any]:
    """Return the levels of a row that are set; a text is one of the plan.

    A column with an empty field has all its whole numbers as floats.
    """
    levels = {name: _whole(row[name]) for name in names if not pd.isna(row[name])}
    texts = (level for level in levels.values() if isinstance(level, str))
    if other := next((text for text in texts if text not in words), None):
        raise FsgreenError(
            f"its tables have a level that its plan has not: {other}",
            where=paths.results(campaign),
            next_step=absence.made_anew(campaign),
        )
    return levels


def _whole(level: Any) -> Any:
    return int(level) if isinstance(level, float) and level.is_integer() else level


def _between(row: Mapping[str, Any], value: str, low: str, high: str) -> Between | None:
    x, below, above = (broad.number(row.get(name)) for name in (value, low, high))
    if x is None:
        return None
    return Between(x=x, low=below, high=above) if None not in (below, above) else Between(x=x)


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) or (pd.isna(one) and pd.isna(other))
