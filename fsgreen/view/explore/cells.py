"""The cells of some campaigns side by side, the best first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from fsgreen import paths
from fsgreen.design import DEFAULT, Cell, factors
from fsgreen.figures.style import intervals_of, look_of
from fsgreen.reduce import factors_of, level_label
from fsgreen.view.explore.chart import Row, Rows, interval, number
from fsgreen.view.explore.here import Measure
from fsgreen.view.explore.lines import Lines, Runner, Shown, quiet, spelled

ALWAYS = ("workload", "file_system", "option")

UNSTEADY = "no steady state, so no mean (rule 24)"


@dataclass(frozen=True)
class Spot:
    """A cell of a campaign; `levels` are of the factors that vary there, None where one is empty.

    `name` is what people call it beside the others.
    """

    campaign: str
    levels: Mapping[str, Any]
    name: str = field(default="", compare=False)

    @property
    def cell(self) -> Cell:
        """Return its levels as a cell."""
        return Cell(**self.levels)

    def __hash__(self) -> int:
        return hash((self.campaign, self.cell))


def table_lines(campaigns: Sequence[str]) -> Lines:
    """Return lines that read the cells of campaigns; from their trials where these are all."""
    with quiet():
        ready = all((paths.results(name) / "cells.csv").is_file() for name in campaigns)
    cells = "fsgreen.open(name).cells"
    more = ""
    if not ready:
        more = "from fsgreen.analysis.cells import cells_table\n"
        cells = "cells_table(fsgreen.open(name).trials, fsgreen.open(name).plan.bounds)"
    opening = f"""
import fsgreen
import pandas as pd
{more}from fsgreen.analysis.tables import as_shown

names = {spelled(list(campaigns))}
cells = pd.concat([as_shown({cells}).assign(campaign=name) for name in names])
"""
    return Lines(campaigns, opening, "view = cells")


def varied(cells: pd.DataFrame) -> list[str]:
    """Return the factors that vary among cells, and those that every person asks for."""
    return [
        name
        for name in factors_of(cells)
        if (name in ALWAYS and cells[name].notna().any()) or cells[name].nunique(dropna=False) > 1
    ]


def shown(
    runner: Runner,
    campaigns: Sequence[str],
    wanted: Mapping[str, Sequence[Any]],
    measure: Measure,
    names: Sequence[str],
) -> tuple[Shown, list[Spot]]:
    """Return the cells that were asked for, and where each row of the table is from.

    `wanted` has levels by factor, of those of which not all are shown; `names` are the factors that
    vary.
    """
    lines = _of_trials if measure.of_trials else _of_cells
    made = lines(campaigns, wanted, measure, names)
    table = runner.run(made)
    spots = _spots(table, campaigns, names)
    rows = [_row(row, spot, measure) for row, spot in zip(_records(table), spots, strict=True)]
    modelled = measure.of_power and "modelled" in set(table["boundary"])
    chart = Rows(
        f"{measure.title}, {intervals_of(table[measure.low], table['n'], 'trial')}",
        rows,
        measure.unit,
        mark="modelled power" if modelled else "",
        picks=True,
    )
    workloads = "-".join(map(str, wanted.get("workload", ())))
    name = f"cells-{workloads}-{measure.name}"
    return Shown(name, made, table, _says(rows, measure, modelled), chart), spots


def _of_cells(
    campaigns: Sequence[str],
    wanted: Mapping[str, Sequence[Any]],
    measure: Measure,
    names: Sequence[str],
) -> Lines:
    columns = ["campaign", *names, "n", measure.column, measure.low, measure.high]
    columns += ["state", "boundary"]
    making = f"""
wanted = {spelled(wanted)}
view = cells[cells[[*wanted]].isin(wanted).all(axis="columns")]
view = view[{columns}]
view = view.sort_values({measure.column!r}, ascending={not measure.higher_is_better})
"""
    return Lines(campaigns, table_lines(campaigns).opening, making)


def _of_trials(
    campaigns: Sequence[str],
    wanted: Mapping[str, Sequence[Any]],
    measure: Measure,
    names: Sequence[str],
) -> Lines:
    """Return lines that take the geometric mean over trials, with Student's t of the logarithms."""
    opening = f"""
import fsgreen
import numpy as np
import pandas as pd
from fsgreen import stats
from fsgreen.analysis.tables import as_shown

names = {spelled(list(campaigns))}
trials = pd.concat([fsgreen.open(name).trials.assign(campaign=name) for name in names])
"""
    making = f"""
wanted = {spelled(wanted)}
chosen = trials[trials[[*wanted]].isin(wanted).all(axis="columns")]
chosen = chosen[chosen[{measure.column!r}] > 0]
cells = chosen.groupby({["campaign", *names, "boundary"]}, dropna=False)[{measure.column!r}]
logs = [stats.mean_ci(np.log(latencies)) for _, latencies in cells]
ends = [[mean.value, mean.low, mean.high] for mean in logs]
view = cells.size().reset_index(name="n")
view[{[measure.column, measure.low, measure.high]}] = np.exp(np.reshape(ends, (-1, 3)))
view = as_shown(view).sort_values({measure.column!r})
"""
    return Lines(campaigns, opening, making)


def _records(table: pd.DataFrame) -> list[dict[Any, Any]]:
    return table.to_dict("records")


def _spots(table: pd.DataFrame, campaigns: Sequence[str], names: Sequence[str]) -> list[Spot]:
    """Return the cell of each row, called by what tells it from the other rows."""
    of_campaigns = table.groupby("campaign")[[*names]].nunique(dropna=False).max()
    apart = [
        name
        for name in names
        if name == "file_system"
        or of_campaigns[name] > 1
        or (name == "option" and not table[name].isin([DEFAULT]).all())
    ]
    spots = []
    for row in _records(table):
        levels = {name: None if pd.isna(row[name]) else row[name] for name in names}
        words = [word(name, levels[name]) for name in apart if name != "workload"]
        prefix = [f"{row['campaign']}:"] if len(campaigns) > 1 else []
        spots.append(Spot(row["campaign"], levels, " ".join([*prefix, *words])))
    return spots


def word(name: str, level: Any) -> str:
    """Return a level as people write it, or what it means that there is none."""
    return factors.get(name).unset if level is None else level_label(name, level)


def _row(row: Mapping[str, Any], spot: Spot, measure: Measure) -> Row:
    value, low, high = (float(row[name]) for name in (measure.column, measure.low, measure.high))
    look = look_of(str(row.get("file_system")))
    if row.get("state") == "inconsistent":
        return Row(spot.name, UNSTEADY, math.nan, math.nan, math.nan, look.colour, UNSTEADY)
    says = interval(value, low, high, measure.unit)
    about = f"{spot.name}: {number(value, measure.unit)}"
    if math.isfinite(low):
        about += f", 95 % interval from {number(low)} to {number(high)}"
    return Row(spot.name, says, value, low, high, look.colour, f"{about}, {row['n']} trials")


def _says(rows: Sequence[Row], measure: Measure, modelled: bool) -> str:
    """Return what the chart says, in a sentence or two."""
    known = [row for row in rows if math.isfinite(row.value)]
    if not known:
        return f"No cell that was asked for has a value of {measure.title}."
    best = known[0]
    word = "Most" if measure.higher_is_better else "Least"
    text = f"{word} {measure.title}: {best.name}, {best.says}."
    if len(known) > 1:
        factor = known[1].value / best.value
        text += f" Next is {known[1].name} with {number(100 * factor, '%')} of that"
        if len(known) > 2:
            least = number(100 * known[-1].value / best.value, "%")
            text += f", last of {len(known)} is {known[-1].name} with {least}"
        text += "."
    if modelled:
        text += " These watts are modelled, not measured: they decide no claim about power."
    return text
