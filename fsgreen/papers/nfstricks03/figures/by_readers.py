"""Figures 1 and 2: throughput by the number of readers."""

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
from fsgreen.papers.nfstricks03.reference import READERS, setup

PRINTED = {
    "scsi1": "scsi1 tags",
    "scsi1, tagged queues on": "scsi1 tags",
    "scsi1, no tags": "scsi1 no tags",
}
"""Series of the published figures that are called otherwise here."""


@styled
def by_readers(
    runs: Sequence[Runs], names: Sequence[str], published: Sequence[Mapping[str, Any]]
) -> Figure:
    """Return MiB/s of 1 to 32 readers, a panel per clock, beside the published values.

    Parameters
    ----------
    runs : sequence of Runs
        One for each clock.
    names : sequence of str
        The series, as `reference.setup` takes them.
    published : sequence of mappings
        The points of the published figure.
    """
    figure = new(2.9)
    if all(one.cell(setup(name, n)).empty for one in runs for name in names for n in READERS):
        return empty(figure, "This campaign has none of the figure's readers.")
    first, others = side_by_side(figure, runs)
    for axes, one in zip(others, runs, strict=True):
        for name in names:
            _line(axes, one, name)
    _published(first, published)
    for axes in (first, *others):
        axes.set_xscale("log", base=2)
        axes.set_xticks(READERS, [str(n) for n in READERS])
        axes.set(xlabel="concurrent readers", xlim=(0.8, 40))
    first.set(ylabel="throughput (MiB/s)", ylim=(0, None))
    mark_simulated(others)
    handles, labels = others[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(names))
    read = sizes(runs, 256)
    note(figure, f"{read} read in all, over the time of the last reader; 95 % intervals")
    return figure


def _line(axes: Axes, runs: Runs, name: str) -> None:
    ran = [n for n in READERS if len(runs.cell(setup(name, n)))]
    rates = {n: runs.value(setup(name, n), "rate") for n in ran}
    style = "-" if "1" in name else "--"
    tops = draw_series(axes, name, rates, markersize=4, linestyle=style, label=name)
    mark_flagged(axes, runs, {setup(name, n): (n, top) for n, top in zip(ran, tops, strict=True)})


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
