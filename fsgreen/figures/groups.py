"""Cells side by side: a mark for each file system at each level of a factor."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from fsgreen.figures.style import in_order, look_of

WIDTH = 0.16
"""Between the marks of two file systems, where levels are 1 apart."""


def marks_by_level(
    axes: Axes,
    cells: pd.DataFrame,
    factor: str,
    names: Mapping[str, str],
    column: tuple[str, str],
    scale: float = 1.0,
) -> None:
    """Draw a metric with its 95 % intervals, a mark for each file system at each level.

    Parameters
    ----------
    axes : Axes
        Where to draw.
    cells : DataFrame
        Rows of `cells.csv`, one for each file system and level.
    factor : str
        The factor whose levels stand side by side.
    names : mapping
        What each level is called, in the order that is shown.
    column : (str, str)
        The metric and its unit, as in `cells.csv`.
    scale : float
        What values are divided by.
    """
    metric, unit = column
    levels = list(names)
    systems = in_order(cells["file_system"])
    for nth, system in enumerate(systems):
        of_system = cells[cells["file_system"] == system].set_index(factor)
        shown = [level for level in levels if level in of_system.index]
        value, low, high = (
            of_system.loc[shown, f"{metric}{end}_{unit}"] / scale for end in ("", "_low", "_high")
        )
        look = look_of(system)
        axes.errorbar(
            [levels.index(level) + shift(nth, len(systems)) for level in shown],
            value,
            [value - low.clip(lower=0), high - value],
            fmt=look.marker,
            color=look.colour,
            markersize=4,
            label=look.name,
        )
    axes.set_xticks(range(len(levels)), [*names.values()], rotation=35, ha="right")
    axes.set_xlim(-0.6, len(levels) - 0.4)
    axes.set_ylim(0, max(axes.get_ylim()[1], 1.05 * axes.dataLim.y1))


def shift(nth: int, count: int) -> float:
    """Return how far the nth of several marks is to the right of its level."""
    return WIDTH * (nth - (count - 1) / 2)
