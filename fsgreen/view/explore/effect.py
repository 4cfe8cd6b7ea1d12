"""How far two cells are apart: as the study compares them, or as they were picked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from fsgreen.analysis.contrast import OUTCOMES
from fsgreen.analysis.scatter import TREATMENTS
from fsgreen.design import metrics
from fsgreen.errors import FsgreenError
from fsgreen.figures.style import intervals_of
from fsgreen.results import Results
from fsgreen.view.explore.chart import Row, Rows, interval, ratio_of
from fsgreen.view.explore.lines import Lines, Runner, Shown, spelled
from fsgreen.view.explore.pair import MARK, Pair, contrast_lines, opened

NOT_DECLARED = (
    "The study does not compare these two: they were picked after a look at the data, and no "
    "p-value here is corrected for that. Take it as a hint, and measure it again."
)

OTHER_TIMES = (
    "The two are of different campaigns, measured at other times: what changed in between is part "
    "of the difference."
)


def shown(runner: Runner, pair: Pair) -> Shown:
    """Return how far apart the cells are: as the study compares them, if it does.

    Raises FsgreenError if they are of different workloads, whose operations are different things.
    """
    if "workload" in pair.differ:
        raise FsgreenError(
            "operations of different workloads are different things",
            next_step="choose two cells of one workload",
        )
    for one in (pair, Pair(pair.other, pair.one)):
        if (lines := _declared(runner, one)) and len(table := runner.run(lines)):
            return _shown(one, lines, table, "")
    if pair.in_blocks and not any(spot.levels.get("load_ops_s") for spot in (pair.one, pair.other)):
        lines = _not_declared(pair)
        return _shown(pair, lines, runner.run(lines), NOT_DECLARED)
    lines = contrast_lines(pair)
    making = f"{lines.making}view = view[view['quantity'].isin({list(OUTCOMES)})]\n"
    lines = Lines(lines.campaigns, lines.opening, making)
    return _shown(pair, lines, runner.run(lines), NOT_DECLARED if pair.in_blocks else OTHER_TIMES)


def of_speed(effects: pd.DataFrame) -> dict[str, Any] | None:
    """Return the row of a table of `shown` on throughput; None if that was not compared."""
    name = "metric" if "metric" in effects else "quantity"
    rows = effects[effects[name].str.startswith("throughput")].to_dict("records")
    return {str(column): value for column, value in rows[0].items()} if rows else None


def outcome(row: Mapping[str, Any]) -> str:
    """Return the outcome of a comparison in words that people know.

    A metric of energy takes cells whose work and whose power are steady (rule 24).
    """
    if "outcome" not in row:
        return "different" if row["told_apart"] else "inconclusive"
    if row["outcome"] != "inconsistent":
        return str(row["outcome"])
    name = row["metric"]
    of_power = name in metrics.names() and metrics.get(name).of_power
    return "not steady" if of_power else "no steady state"


def results_of(runner: Runner, pair: Pair) -> list[Results]:
    """Return the results of the campaigns of both cells."""
    results: list[Results] = runner.opened(opened(pair, ""))["opened"]
    return results


def _declared(runner: Runner, pair: Pair) -> Lines | None:
    """Return lines that look both cells up among the comparisons of the study, if it has such."""
    if not pair.in_blocks or pair.one.levels.get("load_ops_s") is not None:
        return None
    columns = results_of(runner, pair)[0].effects.columns
    compared = [name for name in pair.one.levels if f"baseline_{name}" in columns]
    same = {n: level for n, level in pair.one.levels.items() if n in columns and n not in compared}
    if set(pair.differ) - set(compared):
        return None
    one, other = ({name: spot.levels[name] for name in compared} for spot in (pair.one, pair.other))
    opening = f"""
import fsgreen
from fsgreen import reduce

effects = fsgreen.open({pair.one.campaign!r}).effects
"""
    making = f"""
same, one, other = {spelled(same)}, {spelled(one)}, {spelled(other)}
view = effects[reduce.at(effects, {{**same, **one}})]
view = view[reduce.at(view, {{f"baseline_{{name}}": level for name, level in other.items()}})]
"""
    return Lines(pair.campaigns, opening, making)


GROUPS = """
from fsgreen.analysis.effects import compared
from fsgreen.analysis.scatter import groups_of
from fsgreen.design import Cell

treatments = {treatments}
trials = opened[0].trials
groups = groups_of(trials[trials["workload"] == {workload!r}], treatments)
"""
"""How all trials of a workload scatter: the same for each pair of its cells."""

NOT_DECLARED_LINES = """
pair = ("chosen here", {workload!r}, *(Cell(**cell).only(treatments) for cell in cells))
view = compared(groups, [pair], opened[0].plan.bounds, treatments)
"""


def _not_declared(pair: Pair) -> Lines:
    """Return lines that compare both cells as the analysis compares those of the study."""
    treatments = [*dict.fromkeys([*TREATMENTS, *pair.differ])]
    workload = pair.one.levels["workload"]
    lines = opened(pair, NOT_DECLARED_LINES.format(workload=workload))
    more = GROUPS.format(treatments=treatments, workload=workload)
    return Lines(lines.campaigns, lines.opening + more, lines.making)


def _shown(pair: Pair, lines: Lines, table: pd.DataFrame, note: str) -> Shown:
    bound = float(table["bound_percent"].iloc[0]) / 100 if "bound_percent" in table else math.nan
    band = (1 - bound, 1 / (1 - bound)) if bound == bound else None
    rows = [_row(row, band) for row in table.to_dict("records")]
    modelled = "modelled" in set(table.get("boundary", ()))
    known = intervals_of(table["ratio_low_x"], table["n"])
    axis = f"{pair.one.name} over {pair.other.name}, ratio, {known}"
    if band:
        axis += f"; grey: less than {100 * bound:g} % apart"
    chart = Rows(axis, rows, "x", False, "modelled power" * modelled)
    says = " ".join(filter(None, (_says(pair, table), note)))
    return Shown(f"effect-{pair.name}", lines, table, says, chart)


def _row(row: Mapping[str, Any], band: tuple[float, float] | None) -> Row:
    ends = ratio_of(row)
    name, word = str(row.get("metric", row.get("meaning"))), outcome(row)
    says = f"{interval(*ends, 'x')} {word}"
    return Row(name, says, *ends, MARK, f"{name}: {says}", word == "different", band)


def _says(pair: Pair, table: pd.DataFrame) -> str:
    if (row := of_speed(table)) is None:
        return f"{pair.one.name} and {pair.other.name} were not compared in their throughput."
    word = outcome(row)
    text = {
        "different": "the two differ",
        "equivalent": "the two are equivalent within the bound of the plan",
        "no steady state": "a cell has no steady state, so there is no verdict (rule 24)",
    }.get(word, "undecided")
    ratio = interval(*ratio_of(row))
    return (
        f"{pair.one.name} does {ratio} times as many operations per second as {pair.other.name}: "
        f"{text}."
    )
