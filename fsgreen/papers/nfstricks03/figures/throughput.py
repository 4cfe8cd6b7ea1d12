"""Figures 1, 2 and 4 to 8: throughput by the number of readers, or by the strides of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen.design import Cell
from fsgreen.figures import empty, new, note, styled
from fsgreen.papers.nfstricks03.figures.panels import (
    COLOUR,
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
from fsgreen.papers.nfstricks03.reference import READERS, setup
from fsgreen.papers.nfstricks03.served import Lines

PRINTED = {
    "scsi1": "scsi1 tags",
    "scsi1, tagged queues on": "scsi1 tags",
    "scsi1, no tags": "scsi1 no tags",
}
"""Series of the published figures that are called otherwise here."""

OVER_NETWORK = {REAL: "real time: over loopback", VIRTUAL: "virtual time: a link of 49 MB/s"}
"""Titles of the panels of readers of a server."""

NOTHING = "This campaign has none of the figure's readers."


@styled
def by_readers(
    runs: Sequence[Runs], names: Sequence[str], published: Sequence[Mapping[str, Any]]
) -> Figure:
    """Return MiB/s of 1 to 32 readers, a panel per clock, beside the published values.

    `runs` has one for each clock; `names` are the series, as `reference.setup` takes them, and
    `published` the points of the published figure.
    """
    lines = {name: {n: setup(name, n) for n in READERS} for name in names}
    figure = new(2.9)
    if not any(_ran(of_clock, line) for of_clock in runs for line in lines.values()):
        return empty(figure, NOTHING)
    first, others = side_by_side(figure, runs)
    for axes, one in zip(others, runs, strict=True):
        for name, line in lines.items():
            _line(axes, one, name, line)
    _published(first, published)
    _finish(first, others, lines, "concurrent readers")
    legend(figure, others, len(names))
    _small_print(figure, runs, lines)
    return figure


@styled
def of_server(
    runs: Sequence[Runs], lines: Lines, what: str, published: Sequence[Mapping[str, Any]] = ()
) -> Figure:
    """Return MiB/s of the lines, a panel per clock that has some, beside published values.

    `runs` has one for each clock, and `lines` is as `served.figure_lines` has them. `what` is on
    the abscissa: `concurrent readers`. `published` are the points of the published figure; where it
    states none, it has no panel.
    """
    figure = new(3.1)
    ran = [of_clock for of_clock in runs if any(_ran(of_clock, line) for line in lines.values())]
    if not ran:
        return empty(figure, NOTHING)
    stated = [point for point in published if point["series"] in lines]
    first, others = side_by_side(figure, ran, published=bool(stated))
    for axes, one in zip(others, ran, strict=True):
        axes.set_title(OVER_NETWORK[one.clock])
        for name, line in lines.items():
            if _ran(one, line):
                _line(axes, one, name, line)
    for point in stated:
        published_point(first, point, point["x"], point["y"], point["series"])
    _finish(first, others, lines, what)
    legend(figure, others, 3)
    _small_print(figure, ran, lines)
    return figure


def _ran(runs: Runs, line: Mapping[int, Cell]) -> bool:
    """Return whether the runs have some of a line."""
    return any(len(runs.cell(cell)) for cell in line.values())


def _line(axes: Axes, runs: Runs, name: str, line: Mapping[int, Cell]) -> None:
    cells = {x: cell for x, cell in line.items() if len(runs.cell(cell))}
    rates = {x: runs.value(cell, "rate") for x, cell in cells.items()}
    style = "--" if "small" in name or name in ("ide4", "scsi4 tags", "scsi4 no tags") else "-"
    tops = draw_series(axes, name, rates, markersize=4, linestyle=style, label=name)
    mark_flagged(axes, runs, {cells[x]: (x, top) for x, top in zip(cells, tops, strict=True)})


def _finish(first: Axes, others: Sequence[Axes], lines: Lines, what: str) -> None:
    """Set the scales and labels that all panels share, and mark those that are simulated."""
    ticks = sorted({x for line in lines.values() for x in line})
    for axes in dict.fromkeys((first, *others)):
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.set(xlabel=what, xlim=(ticks[0] * 0.8, ticks[-1] * 1.25))
    first.set(ylabel="throughput (MiB/s)", ylim=(0, None))
    mark_simulated(others)


def _small_print(figure: Figure, runs: Sequence[Runs], lines: Lines) -> None:
    cells = [cell for line in lines.values() for cell in line.values()]
    read, known = sizes(runs, 256), intervals(runs, "rate", cells)
    note(figure, f"{read} read in all, over the time of the last reader; {known}")


def _published(axes: Axes, points: Sequence[Mapping[str, Any]]) -> None:
    for point in points:
        series = PRINTED.get(point["series"], point["series"])
        if isinstance(point["x"], int):
            published_point(axes, point, point["x"], point["y"], series)
            continue
        value = point.get("y", point.get("y_low"))
        where = (8, 32) if point["x"] == "many readers" else (1, 32)
        axes.plot(where, [value, value], color=COLOUR[series], linewidth=1.6)
        at_least = " or more" if "y_low" in point else ""
        axes.annotate(
            f"{series}, {point['x']}: {value:g}{at_least}",
            (where[1], value),
            xytext=(0, -3),
            textcoords="offset points",
            ha="right",
            va="top",
            fontsize=6.5,
        )
