"""The trials of one cell, in the order in which they were measured."""

from __future__ import annotations

from typing import Any

from fsgreen.figures.style import look_of
from fsgreen.view.explore.cells import Spot
from fsgreen.view.explore.chart import Line, Panel, Panels, number
from fsgreen.view.explore.here import Measure
from fsgreen.view.explore.lines import Lines, Runner, Shown, spelled


def opening(campaign: str) -> str:
    """Return lines that open a campaign."""
    return f"""
import fsgreen
import pandas as pd
from fsgreen import reduce

results = fsgreen.open({campaign!r})
"""


def shown(runner: Runner, spot: Spot, measure: Measure) -> Shown:
    """Return a dot for each trial of a cell; the order of the table is that of the dots."""
    columns = ["trial", "block", "order", measure.column, "steady", "boundary"]
    making = f"""
cell = {spelled(dict(spot.levels))}
view = results.trials.loc[reduce.at(results.trials, cell), {columns}]
view = view.sort_values(["block", "order"], ignore_index=True)
"""
    lines = Lines([spot.campaign], opening(spot.campaign), making)
    table = runner.run(lines)
    values = table[measure.column].astype(float)
    about = [
        f"trial {row['trial']}, block {row['block']}: "
        f"{number(row[measure.column], measure.unit)}, {row['steady']}"
        for row in table.to_dict("records")
    ]
    colour = look_of(str(spot.levels.get("file_system"))).colour
    dots = Line("", [float(n + 1) for n in range(len(table))], [*values], colour, (), "dots", about)
    middle = float(values.median())
    ends = Line("median", [0.5, len(table) + 0.5], [middle, middle], dash=(6, 3))
    modelled = measure.of_power and "modelled" in set(table["boundary"])
    panel = Panel(measure.title, [ends, dots], measure.unit, mark="modelled power" * modelled)
    chart = Panels("trials in the order of their blocks", [panel], picks=True, whole=True)
    name = "-".join(["trials", spot.campaign, *map(_word, spot.levels.values()), measure.name])
    return Shown(name, lines, table, _says(table, spot, measure), chart)


def _word(level: Any) -> str:
    return "none" if level is None else str(level)


def _says(table: Any, spot: Spot, measure: Measure) -> str:
    values = table[measure.column].astype(float).dropna()
    if values.empty:
        return f"No trial of {spot.name} has a value of {measure.title}."
    least, middle, most = (
        number(value, measure.unit) for value in (values.min(), values.median(), values.max())
    )
    unsteady = int((table["steady"] == "no steady state").sum())
    text = f"{len(values)} trials of {spot.name}: from {least} to {most}, median {middle}."
    return text + (f" {unsteady} of them reached no steady state." if unsteady else "")
