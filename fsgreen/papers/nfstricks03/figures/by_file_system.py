"""Figure 3 by file system: how far the last of eight readers is behind the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import FillStyleType

from fsgreen.figures import empty, new, note, styled
from fsgreen.papers.nfstricks03.figures.panels import COLOUR, mark_flagged, mark_simulated
from fsgreen.papers.nfstricks03.readers import REAL, VIRTUAL, Runs
from fsgreen.papers.nfstricks03.reference import EIGHT, FIGURE_3, FILE_SYSTEMS, setup
from fsgreen.papers.nfstricks03.spreads import published

FILL: Mapping[str, FillStyleType] = {REAL: "full", VIRTUAL: "none"}
MARKER = {"elevator": "^", "n-cscan": "s"}
NAME = {"elevator": "elevator", "n-cscan": "N-CSCAN"}
PLACES = {"FFS,\npublished": 0} | {name: place for place, name in enumerate(FILE_SYSTEMS, start=1)}
APART = {REAL: -0.12, VIRTUAL: 0.12}
"""The clocks stand side by side."""


@styled
def by_file_system(real: Runs, found: pd.DataFrame, points: Sequence[Mapping[str, Any]]) -> Figure:
    """Return the last reader's time over the first's by file system, a panel per series.

    Parameters
    ----------
    real : Runs
        Those in real time.
    found : DataFrame
        As `spreads.spreads` gives it; shown are files of the size that real time has.
    points : sequence of mappings
        The points of the published figure 3.
    """
    figure = new(3.0)
    measured = found[found["clock"] == REAL]
    if measured.empty:
        return empty(figure, "This campaign has no eight readers.")
    total_mib = measured["total_mib"].iloc[0]
    panels = figure.subplots(1, len(FIGURE_3), sharex=True, sharey=True)
    for axes, name in zip(panels, FIGURE_3, strict=True):
        _points(axes, found[(found["series"] == name) & (found["total_mib"] == total_mib)], name)
        _flags(axes, real, found[(found["series"] == name) & (found["clock"] == REAL)], name)
        if name in (known := published(points)):
            axes.plot(0, known[name], color="black", marker=MARKER["elevator"], linestyle="none")
        axes.set_title(name)
        axes.set_yscale("log")
        axes.set_xticks(list(PLACES.values()), list(PLACES))
        axes.set_xlim(-0.5, len(PLACES) - 0.5)
    ticks = (1, 2, 4, 8)
    panels[0].set_yticks(ticks, [str(tick) for tick in ticks])
    panels[0].set_yticks([], minor=True)
    panels[0].set(ylabel="last reader's time over the first's", ylim=(0.9, 12))
    mark_simulated(panels)
    figure.legend(handles=_legend(found), loc="outside upper center", ncols=4)
    note(figure, f"8 files of {total_mib / EIGHT:g} MB on simulated disks; 95 % intervals")
    return figure


def _points(axes: Axes, found: pd.DataFrame, name: str) -> None:
    for row in found.itertuples():
        axes.errorbar(
            PLACES[row.file_system] + APART[row.clock],
            row.value_x,
            yerr=[[row.value_x - row.low_x], [row.high_x - row.value_x]],
            color=COLOUR[name],
            marker=MARKER[row.scheduler],
            fillstyle=FILL[row.clock],
            linestyle="none",
        )


def _flags(axes: Axes, real: Runs, found: pd.DataFrame, name: str) -> None:
    points = {
        setup(name, scheduler=row.scheduler, file_system=row.file_system): (
            PLACES[row.file_system] + APART[REAL],
            row.value_x,
        )
        for row in found.itertuples()
    }
    mark_flagged(axes, real, points)


def _legend(found: pd.DataFrame) -> list[Line2D]:
    return [
        *(
            Line2D([], [], color="black", marker=mark, linestyle="none", label=NAME[scheduler])
            for scheduler, mark in MARKER.items()
        ),
        *(
            Line2D([], [], color="black", marker="o", fillstyle=fill, linestyle="none", label=clock)
            for clock, fill in FILL.items()
            if clock in set(found["clock"])
        ),
    ]
