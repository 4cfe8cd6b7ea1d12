"""Figure 3 for every scheduler: what fairness costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import FillStyleType

from fsgreen.figures import empty, new, note, styled
from fsgreen.papers.nfstricks03.figures.panels import (
    COLOUR,
    TITLE,
    mark_flagged,
    mark_simulated,
)
from fsgreen.papers.nfstricks03.readers import Runs
from fsgreen.papers.nfstricks03.reference import FIGURE_3, setup

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

FILL: Mapping[str, FillStyleType] = {"ide1": "full", "scsi1 no tags": "none", "scsi1 tags": "left"}
"""Series that are told apart without colour."""


@styled
def schedulers(runs: Sequence[Runs]) -> Figure:
    """Return throughput of eight readers against the last one's time over the first one's.

    Parameters
    ----------
    runs : sequence of Runs
        One for each clock.
    """
    figure = new(3.2)
    if all(one.cell(setup(name)).empty for one in runs for name in FIGURE_3):
        return empty(figure, "This campaign has no eight readers.")
    panels = figure.subplots(1, len(runs), sharex=True, sharey=True, squeeze=False)[0]
    for axes, one in zip(panels, runs, strict=True):
        for name in FIGURE_3:
            _points(axes, one, name)
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
            Line2D([], [], color=COLOUR[name], marker="o", fillstyle=FILL[name], label=name)
            for name in FIGURE_3
        ),
        *(
            Line2D([], [], color="black", marker=marker, linestyle="none", label=name)
            for name, marker in SCHEDULERS.items()
            if any(name in set(one.trials["scheduler"]) for one in runs)
        ),
    ]
    figure.legend(handles=shown, loc="outside right center")
    note(figure, "8 readers; left of the dotted line is what nfstricks03 has for N-CSCAN")
    return figure


def _points(axes: Axes, runs: Runs, name: str) -> None:
    points = {}
    for scheduler, marker in SCHEDULERS.items():
        one = setup(name, scheduler=scheduler)
        if len(runs.cell(one)):
            points[one] = runs.value(one, "spread").value, runs.value(one, "rate").value
            axes.plot(
                *points[one],
                color=COLOUR[name],
                marker=marker,
                markersize=6,
                fillstyle=FILL[name],
                linestyle="none",
            )
    mark_flagged(axes, runs, points)
