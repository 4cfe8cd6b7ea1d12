"""Figures 4 to 8: what readers of a server get, by their number or by the strides of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen.figures import empty, new, note, styled
from fsgreen.papers.nfstricks03.figures.panels import (
    draw_series,
    mark_flagged,
    mark_simulated,
    published_point,
    side_by_side,
    sizes,
)
from fsgreen.papers.nfstricks03.readers import REAL, VIRTUAL, Runs
from fsgreen.papers.nfstricks03.served import Lines

TITLE = {REAL: "real time: over loopback", VIRTUAL: "virtual time: a link of 49 MB/s"}


@styled
def of_server(
    runs: Sequence[Runs], lines: Lines, what: str, published: Sequence[Mapping[str, Any]] = ()
) -> Figure:
    """Return MiB/s of the lines, a panel per clock that has some, beside published values.

    Parameters
    ----------
    runs : sequence of Runs
        One for each clock.
    lines : mapping
        As `served.figure_lines` has them.
    what : str
        What is on the abscissa: `concurrent readers`.
    published : sequence of mappings
        The points of the published figure; where it states none, it has no panel.
    """
    figure = new(3.1)
    every = [cell for line in lines.values() for cell in line.values()]
    ran = [one for one in runs if any(len(one.cell(cell)) for cell in every)]
    if not ran:
        return empty(figure, "This campaign has none of the figure's readers.")
    stated = [point for point in published if point["series"] in lines]
    first, ours = side_by_side(figure, ran, published=bool(stated))
    for axes, one in zip(ours, ran, strict=True):
        axes.set_title(TITLE[one.clock])
        for name, line in lines.items():
            _line(axes, one, name, line)
    for point in stated:
        published_point(first, point, point["x"], point["y"], point["series"])
    ticks = sorted({x for line in lines.values() for x in line})
    for axes in dict.fromkeys((first, *ours)):
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.set(xlabel=what, xlim=(ticks[0] * 0.8, ticks[-1] * 1.25))
    first.set(ylabel="throughput (MiB/s)", ylim=(0, None))
    mark_simulated(ours)
    handles = {
        label: handle
        for axes in ours
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=3)
    note(figure, f"{sizes(ran, 256)} read in all, over the time of the last reader; 95 % intervals")
    return figure


def _line(axes: Axes, runs: Runs, name: str, line: Mapping[int, Any]) -> None:
    cells = {x: cell for x, cell in line.items() if len(runs.cell(cell))}
    if not cells:
        return
    rates = {x: runs.value(cell, "rate") for x, cell in cells.items()}
    style = "--" if "small" in name or name in ("ide4", "scsi4 tags", "scsi4 no tags") else "-"
    tops = draw_series(axes, name, rates, markersize=4, linestyle=style, label=name)
    mark_flagged(axes, runs, {cells[x]: (x, top) for x, top in zip(cells, tops, strict=True)})
