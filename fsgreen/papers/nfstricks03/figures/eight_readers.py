"""Figure 3: eight readers, by rank, by file system, and under every scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import FillStyleType

from fsgreen.figures import empty, intervals_of, new, note, styled
from fsgreen.papers.nfstricks03.experiments import EIGHT
from fsgreen.papers.nfstricks03.figures.panels import (
    COLOUR,
    TITLE,
    by_clock,
    draw_series,
    intervals,
    legend,
    mark_flagged,
    mark_simulated,
    published_point,
    side_by_side,
    sizes,
)
from fsgreen.papers.nfstricks03.readers import REAL, VIRTUAL, Runs
from fsgreen.papers.nfstricks03.reference import FIGURE_3, FILE_SYSTEMS, setup
from fsgreen.papers.nfstricks03.spreads import published

NAME = {"elevator": "elevator", "n-cscan": "N-CSCAN"}
LINE = {"elevator": "-", "n-cscan": "--"}
RANKS = range(1, EIGHT + 1)
NOTHING = "This campaign has no eight readers."

CLOCK_FILL: Mapping[str, FillStyleType] = {REAL: "full", VIRTUAL: "none"}
PLACES = {"FFS,\npublished": 0} | {name: place for place, name in enumerate(FILE_SYSTEMS, start=1)}
APART = {REAL: -0.12, VIRTUAL: 0.12}
"""The clocks stand side by side."""

SCHEDULERS = {
    "elevator": "^",
    "n-cscan": "s",
    "sstf": "P",
    "none": "o",
    "mq-deadline": "D",
    "kyber": "X",
    "bfq": "v",
}
"""The mark of each."""

SERIES_FILL: Mapping[str, FillStyleType] = {
    "ide1": "full",
    "scsi1 no tags": "none",
    "scsi1 tags": "left",
}
"""Series that are told apart without colour."""


@styled
def by_rank(runs: Sequence[Runs], published: Sequence[Mapping[str, Any]]) -> Figure:
    """Return seconds until so many of eight readers were done, a panel per clock.

    `runs` has one for each clock; `published` are the points of the published figure.
    """
    figure = new(3.4)
    if all(of_clock.cell(setup(name)).empty for of_clock in runs for name in FIGURE_3):
        return empty(figure, NOTHING)
    first, others = side_by_side(figure, runs)
    for axes, one in zip(others, runs, strict=True):
        for scheduler in LINE:
            for name in FIGURE_3:
                _line_by_rank(axes, one, name, scheduler)
    _published_ranks(first, published)
    for axes in (first, *others):
        axes.set(xlabel="readers that are done", xticks=RANKS, xlim=(0.5, EIGHT + 1.2))
    first.set(ylabel="mean time (s)", ylim=(0, None))
    mark_simulated(others)
    legend(figure, others, 3)
    cells = [setup(name, scheduler=scheduler) for name in FIGURE_3 for scheduler in LINE]
    known = intervals(runs, f"finish {EIGHT}", cells)
    note(figure, f"{known}; 8 files of {sizes(runs, 32)}")
    return figure


def _line_by_rank(axes: Axes, runs: Runs, name: str, scheduler: str) -> None:
    cell = setup(name, scheduler=scheduler)
    if runs.cell(cell).empty:
        return
    times = {rank: runs.value(cell, f"finish {rank}") for rank in RANKS}
    label, style = f"{name}, {NAME[scheduler]}", LINE[scheduler]
    tops = draw_series(axes, name, times, markersize=3.5, linestyle=style, label=label)
    mark_flagged(axes, runs, {cell: (EIGHT, tops[-1])})


def _published_ranks(axes: Axes, points: Sequence[Mapping[str, Any]]) -> None:
    for point in points:
        name, _, scheduler = point["series"].rpartition(" ")
        y = point.get("y", point.get("y_high"))
        published_point(axes, point, point["x"], y, name)
        below = "< " if "y_high" in point else ""
        axes.annotate(
            f"{below}{y:g}",
            (point["x"], y),
            xytext=(6, -5) if name == "ide1" else (0, 6),
            textcoords="offset points",
            ha="left" if name == "ide1" else "center",
            fontsize=6,
        )
    for scheduler, style in LINE.items():
        for name in FIGURE_3:
            of_line = [p for p in points if p["series"] == f"{name} {NAME[scheduler]}"]
            axes.plot(
                [point["x"] for point in of_line],
                [point.get("y", point.get("y_high")) for point in of_line],
                color=COLOUR[name],
                linewidth=0.8,
                linestyle=style,
                alpha=0.5,
            )


@styled
def by_file_system(real: Runs, spread: pd.DataFrame, points: Sequence[Mapping[str, Any]]) -> Figure:
    """Return the last reader's time over the first's by file system, a panel per series.

    `real` are those in real time. `spread` is as `spreads.spreads` gives it; shown are files of the
    size that real time has. `points` are those of the published figure 3.
    """
    figure = new(3.0)
    measured = spread[spread["clock"] == REAL]
    if measured.empty:
        return empty(figure, NOTHING)
    total_mib = measured["total_mib"].iloc[0]
    panels = figure.subplots(1, len(FIGURE_3), sharex=True, sharey=True)
    for axes, name in zip(panels, FIGURE_3, strict=True):
        of_series = spread[spread["series"] == name]
        _by_clock(axes, of_series[of_series["total_mib"] == total_mib], name)
        _flags(axes, real, of_series[of_series["clock"] == REAL], name)
        if name in (known := published(points)):
            axes.plot(
                0, known[name], color="black", marker=SCHEDULERS["elevator"], linestyle="none"
            )
        axes.set_title(name)
        axes.set_yscale("log")
        axes.set_xticks(list(PLACES.values()), list(PLACES))
        axes.set_xlim(-0.5, len(PLACES) - 0.5)
    ticks = (1, 2, 4, 8)
    panels[0].set_yticks(ticks, [str(tick) for tick in ticks])
    panels[0].set_yticks([], minor=True)
    panels[0].set(ylabel="last reader's time over the first's", ylim=(0.9, 12))
    mark_simulated(panels)
    shown = spread[spread["total_mib"] == total_mib]
    figure.legend(handles=_legend(shown), loc="outside upper center", ncols=4)
    of_clocks = shown.groupby("clock", sort=False)
    said = by_clock({str(clock): intervals_of(of["low_x"], of["n"]) for clock, of in of_clocks})
    note(figure, f"8 files of {total_mib / EIGHT:g} MB on simulated disks; {said}")
    return figure


def _by_clock(axes: Axes, spread: pd.DataFrame, name: str) -> None:
    for row in spread.itertuples():
        axes.errorbar(
            PLACES[row.file_system] + APART[row.clock],
            row.value_x,
            yerr=[[row.value_x - row.low_x], [row.high_x - row.value_x]],
            color=COLOUR[name],
            marker=SCHEDULERS[row.scheduler],
            fillstyle=CLOCK_FILL[row.clock],
            linestyle="none",
        )


def _flags(axes: Axes, real: Runs, spread: pd.DataFrame, name: str) -> None:
    points = {
        setup(name, scheduler=row.scheduler, file_system=row.file_system): (
            PLACES[row.file_system] + APART[REAL],
            row.value_x,
        )
        for row in spread.itertuples()
    }
    mark_flagged(axes, real, points)


def _legend(spread: pd.DataFrame) -> list[Line2D]:
    """Return what marks mean; clocks have a fill where both are there."""
    clocks = CLOCK_FILL if set(spread["clock"]) == CLOCK_FILL.keys() else {}
    return [
        *(
            Line2D([], [], color="black", marker=SCHEDULERS[key], linestyle="none", label=name)
            for key, name in NAME.items()
        ),
        *(
            Line2D([], [], color="black", marker="o", fillstyle=fill, linestyle="none", label=clock)
            for clock, fill in clocks.items()
        ),
    ]


@styled
def schedulers(runs: Sequence[Runs]) -> Figure:
    """Return throughput of eight readers against the last one's time over the first one's.

    `runs` has one for each clock.
    """
    figure = new(3.2)
    if all(of_clock.cell(setup(name)).empty for of_clock in runs for name in FIGURE_3):
        return empty(figure, NOTHING)
    panels = figure.subplots(1, len(runs), sharex=True, sharey=True, squeeze=False)[0]
    for axes, one in zip(panels, runs, strict=True):
        for name in FIGURE_3:
            _by_scheduler(axes, one, name)
        axes.set_xscale("log")
        axes.axvline(1.2, color="black", linewidth=0.6, linestyle=":")
        axes.set(xlabel="last reader's time over the first's")
        axes.set_title(TITLE.get(one.clock, one.clock))
    ticks = (1, 1.2, 2, 5, 10)
    panels[0].set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panels[0].set_xticks([], minor=True)
    panels[0].set(ylabel="throughput (MiB/s)", ylim=(0, None))
    mark_simulated(panels)
    shown = [
        *(
            Line2D([], [], color=COLOUR[name], marker="o", fillstyle=SERIES_FILL[name], label=name)
            for name in FIGURE_3
        ),
        *(
            Line2D([], [], color="black", marker=marker, linestyle="none", label=name)
            for name, marker in SCHEDULERS.items()
            if any(name in set(of_clock.trials["scheduler"]) for of_clock in runs)
        ),
    ]
    figure.legend(handles=shown, loc="outside right center")
    note(figure, "8 readers; left of the dotted line is what nfstricks03 has for N-CSCAN")
    return figure


def _by_scheduler(axes: Axes, runs: Runs, name: str) -> None:
    points = {}
    for scheduler, marker in SCHEDULERS.items():
        cell = setup(name, scheduler=scheduler)
        if len(runs.cell(cell)):
            points[cell] = runs.value(cell, "spread").value, runs.value(cell, "rate").value
            axes.plot(
                *points[cell],
                color=COLOUR[name],
                marker=marker,
                markersize=6,
                fillstyle=SERIES_FILL[name],
                linestyle="none",
            )
    mark_flagged(axes, runs, points)
