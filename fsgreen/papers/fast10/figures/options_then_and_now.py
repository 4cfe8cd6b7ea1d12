"""What options did in 2010 against what they do here, a point for each number of table 2."""

from __future__ import annotations

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from fsgreen.figures import empty, intervals_of, look_of, new, note, styled
from fsgreen.figures.style import UNCORRECTED
from fsgreen.papers.fast10.reference import WORKLOADS
from fsgreen.papers.fast10.tables.then_and_now import OUTSIDE

TICKS_X = (0.125, 0.25, 0.5, 1, 2, 4, 8)
ROOM = 1.15
PALE = 0.35
ELSEWHERE = "pale: in another state than fast10's claims ask for, so not as the print (rule 45)"


@styled
def options_then_and_now(pairs: pd.DataFrame) -> Figure:
    """Return a panel per workload: ratio to the default as published, and here with its interval.

    On the diagonal nothing has changed. A filled point is one whose published number lies outside
    the interval; one without a bar has none; a pale one is in another state than claims ask for.

    `pairs` is as `tables.then_and_now.paired` returns it.
    """
    figure = new(5.6)
    if pairs.empty:
        return empty(figure, "This campaign has no option of fast10's table 2.")
    reach = pairs[["published_x", "ratio_x", "ratio_low_x", "ratio_high_x"]].stack()
    limits = min(reach.min(), 1) / ROOM, max(reach.max(), 1) * ROOM
    panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    for axes, workload in zip(panels, WORKLOADS, strict=True):
        axes.set(title=workload, xscale="log", yscale="log", xlim=limits, ylim=limits)
        axes.plot(limits, limits, color="black", linewidth=0.8, zorder=1)
        axes.axhline(1, color="0.6", linewidth=0.6, linestyle=":", zorder=1)
        axes.axvline(1, color="0.6", linewidth=0.6, linestyle=":", zorder=1)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks([x for x in TICKS_X if limits[0] <= x <= limits[1]])
            axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
            axis.set_minor_locator(NullLocator())
        for name, rows in pairs[pairs["workload"] == workload].groupby("file_system"):
            _points(axes, rows, str(name))
    for axes in panels[2:]:
        axes.set_xlabel("published: option over default")
    for axes in panels[::2]:
        axes.set_ylabel("here: option over default")
    entries: dict[str, Artist] = {}
    for axes in panels:
        entries |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(entries.values(), entries, loc="outside upper left", ncols=len(entries))
    small_print = intervals_of(pairs["ratio_low_x"], pairs["n"])
    if pairs["ratio_low_x"].notna().any():
        small_print += (
            f", {UNCORRECTED}; filled: the published number lies outside; no bar: too few blocks"
        )
    if pairs["elsewhere"].any():
        small_print += f"; {ELSEWHERE}"
    note(figure, small_print)
    return figure


def _points(axes: Axes, rows: pd.DataFrame, file_system: str) -> None:
    name, colour, marker, _ = look_of(file_system)
    if rows["elsewhere"].all():  # a pale mark would stand in the legend
        axes.errorbar([], [], fmt=marker, color=colour, markersize=5, linewidth=0.9, label=name)
    for row in rows.to_dict("records"):
        error = None
        if pd.notna(row["ratio_low_x"]):
            error = [[row["ratio_x"] - row["ratio_low_x"]], [row["ratio_high_x"] - row["ratio_x"]]]
        axes.errorbar(
            row["published_x"],
            row["ratio_x"],
            yerr=error,
            fmt=marker,
            color=colour,
            markerfacecolor=colour if row["published_is"] == OUTSIDE else "white",
            markersize=5,
            linewidth=0.9,
            alpha=PALE if row["elsewhere"] else 1,
            label=None if row["elsewhere"] else name,
        )
