"""The trials of one cell in the order in which they were measured, and the traces of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fsgreen import reduce
from fsgreen.errors import FsgreenError
from fsgreen.figures.power import thinned
from fsgreen.figures.style import look_of
from fsgreen.view.explore.cells import Spot
from fsgreen.view.explore.chart import Line, Panel, Panels, number
from fsgreen.view.explore.here import Measure
from fsgreen.view.explore.lines import Lines, Runner, Shown, spelled
from fsgreen.view.look import COLOURS, DASHES, boundary_note

TRACES = """
trial = results.trial({trial!r})
work = trial.table("ops").set_index("time_s")
work = (work["work_ops"] / work["duration_s"]).rename("work_ops_s").to_frame()
power = trial.table("power").pivot_table(index="time_s", columns="meter", values="power_w")
host = trial.table("host").drop_duplicates("time_s").set_index("time_s").diff()
processors = host.filter(regex="^cpu_.*_s$")
processors = 100 * processors.div(processors.sum(axis="columns"), axis="index")
disk = host[["disk_read_b", "disk_write_b"]].div(host.index.to_series().diff(), axis="index")
view = pd.concat(
    [
        power.add_prefix("power_").add_suffix("_w"),
        work,
        processors.rename(columns=lambda name: name.removesuffix("_s") + "_percent"),
        disk.add_suffix("_s"),
    ],
    axis="columns",
).sort_index()
view.index = view.index - trial.measured[0].start_s
view = view.rename_axis("since_s").reset_index()
"""

PROCESSORS = "processors"
OF_HOST = "processors of the machine below the guest"

PANELS = (
    ("power_", "_w", "power", "W"),
    ("work_", "ops_s", "work", "ops/s"),
    ("cpu_", "_percent", PROCESSORS, "%"),
    ("disk_", "_b_s", "device", "B/s"),
)
"""Prefix and suffix of the columns of a panel, what it is called, its unit."""


def _opening(campaign: str) -> str:
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
    lines = Lines([spot.campaign], _opening(spot.campaign), making)
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


def _says(table: pd.DataFrame, spot: Spot, measure: Measure) -> str:
    values = table[measure.column].astype(float).dropna()
    if values.empty:
        return f"No trial of {spot.name} has a value of {measure.title}."
    least, middle, most = (
        number(value, measure.unit) for value in (values.min(), values.median(), values.max())
    )
    unsteady = int((table["steady"] == "no steady state").sum())
    text = f"{len(values)} trials of {spot.name}: from {least} to {most}, median {middle}."
    return text + (f" {unsteady} of them reached no steady state." if unsteady else "")


def one(runner: Runner, campaign: str, trial: str) -> Shown:
    """Return the traces of a trial, with what happened in it.

    Raises FsgreenError if its traces are not here.
    """
    lines = Lines([campaign], _opening(campaign), TRACES.format(trial=trial))
    names = runner.names(lines)
    table, record = names["view"], names["trial"].record
    zero_s = record.measured[0].start_s
    phases = [
        (phase.name, phase.start_s - zero_s, phase.end_s - zero_s)
        for phase in record.phases
        if phase.end_s > phase.start_s
    ]
    note = boundary_note(record.meters)
    guest = reduce.in_guest(reduce.read_identity(campaign))
    panels = [
        Panel(
            f"{OF_HOST if guest and name == PROCESSORS else name} ({unit})",
            _series(table, prefix, suffix),
            unit if unit == "B/s" else "",
            mark="modelled power" if name == "power" and note == "modelled" else "",
            from_zero=name != "power",
        )
        for prefix, suffix, name, unit in PANELS
        if table.filter(regex=f"^{prefix}.*{suffix}$").notna().any(axis=None)
    ]
    if not panels:
        raise FsgreenError(
            f"the trial {trial} has no traces",
            where=campaign,
            next_step="choose another trial; its raw folder has what was recorded of this one",
        )
    axis = "time since the measured interval began (s)"
    says = (
        f"Trial {trial} of {campaign}: {number(record.measured_s, 's')} measured, "
        f"{number(record.work.throughput_ops_s, 'ops/s')}, power boundary {record.boundary}."
    )
    if failed := [check for check in record.checks if not check.ok]:
        says += f" Checks that failed: {', '.join(f'rule {check.rule}' for check in failed)}."
    return Shown(f"trial-{campaign}-{trial}", lines, table, says, Panels(axis, panels, "", phases))


def _series(table: pd.DataFrame, prefix: str, suffix: str) -> list[Line]:
    chosen = table.filter(regex=f"^{prefix}.*{suffix}$").columns
    busy = [name for name in chosen if name != "cpu_idle_percent" and table[name].notna().any()]
    lines = []
    for nth, name in enumerate(busy):
        known = table[["since_s", name]].dropna()
        x, y = thinned(*(known[column].to_numpy(float) for column in ("since_s", name)))
        words = str(name).removeprefix(prefix).removesuffix(suffix) if len(busy) > 1 else ""
        colour, dash = COLOURS[nth % len(COLOURS)], DASHES[nth % len(DASHES)]
        lines.append(Line(words, [*map(float, x)], [*map(float, np.asarray(y))], colour, dash))
    return lines
