"""Cemp of sun14: power over time of the pairs that lead, here and in print (figures 6, 10, 14)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen.analysis.cells import steady
from fsgreen.analysis.tables import NOT_RUN, interval_text
from fsgreen.design import metrics
from fsgreen.figures import empty, look_of, middle_trial, new, note, power_steps, say, styled
from fsgreen.papers.sun14.reference import (
    LEADERS,
    SCHEDULER_NAME,
    SCHEDULERS,
    WORKLOADS,
    Pair,
    Printed,
    pair,
)
from fsgreen.reduce import at
from fsgreen.words import digits

NUMBERS = dict(zip(WORKLOADS, (6, 10, 14), strict=True))

CRITERIA = {
    "throughput": "highest performance",
    "power": "lowest power",
    "efficiency": "largest AI",
}
"""By what a pair leads in the panels a to c, by metric."""

UNITS = {"throughput": "ops/s", "power": "W", "efficiency": "ops/J"}

ROOM_X = 1.6
"""How much higher than the power the axes are, for words above it."""

BAND = "#E0E0E0"


class Leader(NamedTuple):
    """A pair that leads by a metric, here or in print; and the ranges of its power in print."""

    metric: str
    here: bool
    pair: Pair
    printed_w: tuple[tuple[float, float], ...] = ()

    @property
    def name(self) -> str:
        """Return the pair as people write it."""
        file_system, scheduler = self.pair
        return f"{look_of(file_system).name} under {SCHEDULER_NAME[scheduler]}"


def leaders(cells: pd.DataFrame, workload: str, printed: Printed) -> list[Leader]:
    """Return by each criterion the pair that leads here, if one can, and the one in print.

    Of the paper's pairs that ran and have a steady state (rule 24) the first leads; others may not
    be told from it.
    """
    of_paper = (cells["workload"] == f"{workload}-sun14") & cells["scheduler"].isin(SCHEDULERS)
    points = printed.points(str(NUMBERS[workload]))
    found: list[Leader] = []
    for metric, panel in zip(CRITERIA, "abc", strict=True):
        column = metrics.get(metric).column
        ran = cells[of_paper & steady(cells, metric)].dropna(subset=[column])
        ranked = ran.sort_values(column, ascending=metric == "power", kind="stable")
        first = ranked[["file_system", "scheduler"]].head(1).itertuples(index=False, name=None)
        found += [Leader(metric, True, one) for one in first]
        of_panel = [point for point in points if panel in point["panel"]]
        ranges_w = tuple((point["y_low"], point["y_high"]) for point in of_panel)
        found.append(Leader(metric, False, LEADERS[workload][metric], ranges_w))
    return found


@styled
def over_time(cells: pd.DataFrame, bins: pd.DataFrame, workload: str, printed: Printed) -> Figure:
    """Return the power over time of the pairs that lead here, above that of those in print.

    `bins` is the table of `disk.of_disk`.
    """
    figure = new(3.6)
    of_workload = bins[bins["workload"] == f"{workload}-sun14"]
    if of_workload.empty:
        return empty(figure, f"This campaign has no power over time of {workload}.")
    panels = figure.subplots(2, len(CRITERIA), sharex=True, sharey=True)
    for leader in leaders(cells, workload, printed):
        axes = panels[0 if leader.here else 1][[*CRITERIA].index(leader.metric)]
        _draw(axes, leader, *_of_pair(leader, workload, cells, bins))
    for axes, title in zip(panels[0], CRITERIA.values(), strict=True):
        axes.set_title(title)
        if not axes.texts:
            say(axes, "no pair has a steady state", "left", different=False)
    tops_w = (axes.dataLim.y1 for axes in panels.flat)
    panels[0][0].set_ylim(0, ROOM_X * max(filter(math.isfinite, tops_w), default=1.0))
    panels[0][0].set_ylabel("leads here (W)")
    panels[1][0].set_ylabel("leads in print (W)")
    panels[1][1].set_xlabel("seconds since the start of the measurement")
    bin_s, run_s = of_workload["time_s"].min(), printed.method["workloads"]["run_time_s"]
    boundaries = ", ".join(sorted({*of_workload["boundary"]}))
    note(
        figure,
        f"means of {digits(bin_s)} s; the trial in the middle by its mean power, others pale; "
        f"grey: the range printed of the real SSD-I over {run_s} s; boundary here: {boundaries}",
    )
    return figure


def table(cells: pd.DataFrame, bins: pd.DataFrame, printed: Printed) -> pd.DataFrame:
    """Return what leads here and in print by each criterion, as texts.

    Power moves between the least and the greatest bin of the trial in the middle by its mean power.
    """
    rows = []
    for workload in WORKLOADS:
        for leader in leaders(cells, workload, printed):
            of_cells, of_bins = _of_pair(leader, workload, cells, bins)
            cell = of_cells.iloc[0].to_dict() if len(of_cells) else None
            ranges = [f"{low_w:g} to {high_w:g}" for low_w, high_w in leader.printed_w]
            rows.append(
                {
                    "workload": workload,
                    "criterion": CRITERIA[leader.metric],
                    "leads": "here" if leader.here else "in print",
                    "pair": leader.name,
                    **{unit: _number(cell, metric) for metric, unit in UNITS.items()},
                    "moves (W)": _moves(of_bins),
                    "printed (W)": "; ".join(ranges),
                }
            )
    return pd.DataFrame(rows)


def caption(cells: pd.DataFrame, workload: str, printed: Printed) -> str:
    """Return the caption of a figure, which says what leads here and in print."""
    names: dict[str, list[str]] = {title: [] for title in CRITERIA.values()}
    for leader in leaders(cells, workload, printed):
        where = "here" if leader.here else "in print"
        names[CRITERIA[leader.metric]].append(f"{leader.name} {where}")
    pairs = "; ".join(f"{title}: {', '.join(several)}" for title, several in names.items())
    return (
        f"Figure {NUMBERS[workload]} (Cemp): power of a simulated SSD-I over time on {workload}, "
        f"and mean performance, of the pairs that lead. {pairs[0].upper()}{pairs[1:]}."
    )


def _of_pair(
    leader: Leader, workload: str, cells: pd.DataFrame, bins: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of a pair in both tables; there are none if it did not run."""
    levels = pair(workload, *leader.pair)
    return cells[at(cells, levels)], bins[at(bins, levels)]


def _draw(axes: Axes, leader: Leader, cells: pd.DataFrame, bins: pd.DataFrame) -> None:
    for low_w, high_w in leader.printed_w:
        axes.axhspan(low_w, high_w, color=BAND, linewidth=0)
    if cells.empty or bins.empty:
        say(axes, f"{leader.name}\n{NOT_RUN}", "left", different=False)
        return
    power_steps(axes, bins, look_of(leader.pair[0]))
    cell = cells.iloc[0].to_dict()
    shown = dict.fromkeys(("throughput", leader.metric))
    numbers = (
        ["no steady state"]
        if cell["state"] == "inconsistent"
        else [f"{_number(cell, metric)} {UNITS[metric]}" for metric in shown]
    )
    say(axes, "\n".join([leader.name, *numbers]), "left", different=False)


def _number(cell: Mapping[str, Any] | None, metric: str) -> str:
    return NOT_RUN if cell is None else interval_text(cell, metric, metrics.get(metric).unit)


def _moves(bins: pd.DataFrame) -> str:
    if bins.empty:
        return NOT_RUN
    power_w = middle_trial(bins)["power_w"]
    return f"{digits(power_w.min())} to {digits(power_w.max())}"
