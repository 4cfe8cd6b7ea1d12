"""What the figures share: a panel of published values beside one for each clock."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen.design import Cell
from fsgreen.figures import flag, intervals_of, simulated
from fsgreen.papers.nfstricks03.readers import REAL, VIRTUAL, Runs
from fsgreen.stats import Estimate

TITLE = {REAL: "real time: ext2 on Linux", VIRTUAL: "virtual time: ext2's block map"}
LOOKS = {
    "ide1": ("#0072B2", "o"),
    "ide4": ("#56B4E9", "s"),
    "scsi1 tags": ("#D55E00", "^"),
    "scsi4 tags": ("#E69F00", "v"),
    "scsi1 no tags": ("#009E73", "D"),
    "scsi4 no tags": ("#88C9A1", "X"),
    "always": ("black", "*"),
    "default, large table": ("#0072B2", "o"),
    "default, 64 slots": ("#009E73", "D"),
    "default, small table": ("#D55E00", "^"),
    "SlowDown, large table": ("#56B4E9", "s"),
    "SlowDown, small table": ("#E69F00", "v"),
    "always, busy client": ("#7F7F7F", "P"),
    "default, small table, busy client": ("#CC79A7", "X"),
    "ide1 default": ("#56B4E9", "s"),
    "ide1 cursor": ("#0072B2", "o"),
    "scsi1 default": ("#E69F00", "v"),
    "scsi1 cursor": ("#D55E00", "^"),
}
"""A series has one colour and mark in all figures (Okabe & Ito 2008, the inner partitions lighter).
"""

COLOUR = {name: colour for name, (colour, _) in LOOKS.items()}
STATED, DERIVED = "full", "none"


def side_by_side(
    figure: Figure, runs: Sequence[Runs], *, published: bool = True
) -> tuple[Axes, list[Axes]]:
    """Return a panel for the published values, and one for each of the runs, of equal scale.

    Without published values the first is that of the first runs.
    """
    columns = len(runs) + published
    panels: list[Axes] = []
    for place in range(columns):
        shared = panels[0] if panels else None
        panels.append(figure.add_subplot(1, columns, place + 1, sharey=shared))
        panels[-1].tick_params(labelleft=not place)
    others = panels[published:]
    if published:
        panels[0].set_title("published (open: derived)")
    for axes, one in zip(others, runs, strict=True):
        axes.set_title(TITLE.get(one.clock, one.clock))
    return panels[0], others


def draw_series(axes: Axes, name: str, points: Mapping[int, Estimate], **look: Any) -> np.ndarray:
    """Draw the values of a series with their intervals; return the upper end of each."""
    rows = [(point.value, point.low, point.high) for point in points.values()]
    value, low, high = np.array(rows, dtype=float).reshape(-1, 3).T
    colour, marker = LOOKS[name]
    axes.errorbar(
        list(points),
        value,
        yerr=[value - low, high - value],
        color=colour,
        marker=marker,
        linewidth=1.2,
        **look,
    )
    return np.where(np.isfinite(high), high, value)


def legend(figure: Figure, panels: Sequence[Axes], columns: int) -> None:
    """Name above the panels what any of them shows, each once."""
    handles = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles, loc="outside upper center", ncols=columns)


def mark_simulated(panels: Sequence[Axes]) -> None:
    """Mark the panels of runs."""
    for axes in panels:
        simulated(axes)


def mark_flagged(axes: Axes, runs: Runs, points: Mapping[Cell, tuple[float, float]]) -> None:
    """Mark the points of setups that the gate flagged in a comparison."""
    flag(axes, [point for setup, point in points.items() if setup in runs.flagged])


def sizes(runs: Sequence[Runs], whole_mb: float) -> str:
    """Return a published size as the runs had it, clock by clock where they differ."""
    return by_clock({of_clock.clock: f"{whole_mb * of_clock.scale:g} MB" for of_clock in runs})


def intervals(runs: Sequence[Runs], metric: str, cells: Collection[Cell]) -> str:
    """Return what small print says of the intervals of a metric, clock by clock."""
    said = {}
    for one in runs:
        if ran := [cell for cell in cells if len(one.cell(cell))]:
            values = [one.value(cell, metric) for cell in ran]
            said[one.clock] = intervals_of(
                (value.low for value in values), (value.n for value in values)
            )
    return by_clock(said)


def by_clock(said: Mapping[str, str]) -> str:
    """Return what is said of each clock, once where it is the same."""
    if len({*said.values()}) == 1:
        return next(iter(said.values()))
    return ", ".join(f"{text} ({clock})" for clock, text in said.items())


def published_point(axes: Axes, point: Mapping[str, Any], x: float, y: float, series: str) -> None:
    """Draw a published value: filled where the text states it, open where it is derived."""
    colour, marker = LOOKS[series]
    axes.plot(
        x,
        y,
        color=colour,
        marker=marker,
        fillstyle=STATED if point["source"] == "stated" else DERIVED,
        linestyle="none",
    )
