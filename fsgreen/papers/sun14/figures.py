"""The figures of sun14: performance, power and AI of SSD-I, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen import paths
from fsgreen.analysis.tables import as_shown
from fsgreen.figures import (
    empty,
    in_order,
    intervals_of,
    keep_common,
    keeper,
    look_of,
    marks_by_level,
    new,
    note,
    shift,
    styled,
)
from fsgreen.papers.sun14 import cemp
from fsgreen.papers.sun14.disk import of_disk
from fsgreen.papers.sun14.reference import PRINTED_ON, SCHEDULER_NAME, WORKLOADS, Printed
from fsgreen.papers.sun14.tables import write_tables
from fsgreen.reduce import read_table

NUMBERS = dict(zip(WORKLOADS, (3, 7, 11), strict=True))
PANELS = (
    ("throughput", "ops_s", "operations per second"),
    ("power", "w", "watts of the SSD"),
    ("efficiency", "ops_j", "AI: operations per joule"),
)


def write(campaign: str) -> Path:
    """Write the figures of SSD-I and all tables; return the folder of the figures."""
    cells, printed = as_shown(read_table(campaign, "cells")), Printed.load()
    bins = of_disk(campaign)
    keep = keeper(campaign)
    for workload, number in NUMBERS.items():
        rows = printed.table3 if workload == PRINTED_ON[0] else None
        keep(by_pair(cells, workload, rows), f"fig{number}")
    for workload, number in cemp.NUMBERS.items():
        keep(cemp.over_time(cells, bins, workload, printed), f"fig{number}")
    keep_common(campaign)
    write_tables(campaign, cells, cemp.table(cells, bins, printed))
    return paths.results(campaign) / "figures"


@styled
def by_pair(cells: pd.DataFrame, workload: str, printed: pd.DataFrame | None = None) -> Figure:
    """Return performance, power and AI of each file system, grouped by scheduler.

    `printed` is table 3, the published values of SSD-I under CFQ by file system. A drive that is
    ten times slower can have only its watts beside it, and they are drawn.
    """
    chosen = cells[cells["workload"] == f"{workload}-sun14"]
    figure = new(2.6)
    if chosen.empty:
        return empty(figure, f"This campaign has no trials of {workload}.")
    ran = set(chosen["scheduler"])
    names = {level: name for level, name in SCHEDULER_NAME.items() if level in ran}
    others = [] if printed is None else [str(system) for system in printed.index]
    marks: dict[str, Artist] = {}
    for axes, (metric, unit, title) in zip(figure.subplots(1, 3), PANELS, strict=True):
        marks_by_level(axes, chosen, "scheduler", names, (metric, unit), others=others)
        if printed is not None and metric == "power":
            systems = in_order([*chosen["file_system"], *others])
            _published(axes, printed["power_w"], systems, [*names])
        axes.set_title(title)
        for mark, system in zip(*axes.get_legend_handles_labels(), strict=True):
            marks.setdefault(system, mark)
    # Three columns would reach the note at the right that names the disk.
    figure.legend([*marks.values()], [*marks], loc="outside upper left", ncols=2)
    open_marks = "; open: watts as printed for a real SSD-I" if printed is not None else ""
    lows = pd.concat([chosen[f"{metric}_low_{unit}"] for metric, unit, _ in PANELS])
    simulated = "a simulated SSD-I under file systems of today"
    note(figure, f"{intervals_of(lows, chosen['n'], 'trial')}; {simulated}{open_marks}")
    return figure


def _published(
    axes: Axes, column: pd.Series, systems: Sequence[str], schedulers: Sequence[str]
) -> None:
    """Draw an open mark for each printed value, at the place of its file system."""
    if PRINTED_ON[1] not in schedulers:
        return
    place = schedulers.index(PRINTED_ON[1])
    for system, value in column.items():
        look = look_of(str(system))
        axes.plot(
            place + shift(systems.index(str(system)), len(systems)),
            value,
            look.marker,
            markerfacecolor="none",
            color=look.colour,
            markersize=5,
            label=look.name,
        )
