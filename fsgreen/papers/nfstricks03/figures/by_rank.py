"""Figure 3: when the first to the last of eight readers were done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen.figures import empty, new, note, styled
from fsgreen.papers.nfstricks03.figures.panels import (
    COLOUR,
    draw_series,
    mark_flagged,
    mark_simulated,
    published_point,
    side_by_side,
    sizes,
)
from fsgreen.papers.nfstricks03.readers import Runs
from fsgreen.papers.nfstricks03.reference import EIGHT, FIGURE_3, setup

LINE = {"elevator": "-", "n-cscan": "--"}
NAME = {"elevator": "elevator", "n-cscan": "N-CSCAN"}
RANKS = range(1, EIGHT + 1)


@styled
def by_rank(runs: Sequence[Runs], published: Sequence[Mapping[str, Any]]) -> Figure:
    """Return seconds until so many of eight readers were done, a panel per clock.

    Parameters
    ----------
    runs : sequence of Runs
        One for each clock.
    published : sequence of mappings
        The points of the published figure.
    """
    figure = new(3.4)
    if all(one.cell(setup(name)).empty for one in runs for name in FIGURE_3):
        return empty(figure, "This campaign has no eight readers.")
    first, others = side_by_side(figure, runs)
    for axes, one in zip(others, runs, strict=True):
        for scheduler in LINE:
            for name in FIGURE_3:
                _line(axes, one, name, scheduler)
    _published(first, published)
    for axes in (first, *others):
        axes.set(xlabel="readers that are done", xticks=RANKS, xlim=(0.5, EIGHT + 1.2))
    first.set(ylabel="mean time (s)", ylim=(0, None))
    mark_simulated(others)
    handles, labels = others[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    note(figure, f"95 % intervals; 8 files of {sizes(runs, 32)}")
    return figure


def _line(axes: Axes, runs: Runs, name: str, scheduler: str) -> None:
    one = setup(name, scheduler=scheduler)
    if runs.cell(one).empty:
        return
    times = {rank: runs.value(one, f"finish {rank}") for rank in RANKS}
    label, style = f"{name}, {NAME[scheduler]}", LINE[scheduler]
    tops = draw_series(axes, name, times, markersize=3.5, linestyle=style, label=label)
    mark_flagged(axes, runs, {one: (EIGHT, tops[-1])})


def _published(axes: Axes, points: Sequence[Mapping[str, Any]]) -> None:
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
