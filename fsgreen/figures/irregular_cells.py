"""The trials of cells whose mean hides them: long tails, two modes, wide scatter (rule 33)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from fsgreen import stats
from fsgreen.figures.style import GREY, empty, look_of, new, note, roomy, styled
from fsgreen.reduce import at, cell_label, factors_of

ROW_IN = 0.17


def irregular(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that rule 33 names, the widest first."""
    named = cells["shape"].isin(stats.NOT_NORMAL) | (cells["cv_percent"] > stats.WIDE_PERCENT)
    return cells[named].sort_values("cv_percent", ascending=False, kind="stable")


@styled
def irregular_cells(
    cells: pd.DataFrame, trials: pd.DataFrame, constants: Mapping[str, Any]
) -> Figure:
    """Return every trial of the cells that are `irregular`, relative to the median of its cell.

    Parameters
    ----------
    cells, trials : DataFrame
        The tables `cells.csv` and `trials.csv`.
    constants : mapping
        The plan's, which labels of cells leave out.
    """
    shown = irregular(cells).to_dict("records")
    if not shown:
        return empty(new(1.2), "No cell shows a long tail, two modes or a wide scatter.")
    figure = roomy(new(0.9 + ROW_IN * len(shown)))
    axes = figure.subplots()
    for place, cell in enumerate(shown):
        levels = {name: None if pd.isna(cell[name]) else cell[name] for name in factors_of(cells)}
        rates = trials[at(trials, levels)]["throughput_ops_s"]
        look = look_of(cell["file_system"])
        axes.plot(
            rates / rates.median(),
            [place] * len(rates),
            look.marker,
            color=look.colour,
            markersize=4.5,
            markerfacecolor="none",
        )
        axes.annotate(
            f"{cell['shape']}, {cell['cv_percent']:.0f} %",
            (1.01, place),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=6.5,
        )
    labels = [cell_label(cell, constants) for cell in shown]
    axes.set_yticks(range(len(shown)), labels, fontsize=6.5)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.axvline(1, color=GREY, linewidth=0.6, linestyle=":")
    axes.set_xlabel("throughput of each trial over the median of its cell")
    axes.tick_params(axis="y", length=0)
    note(figure, "a mark is a trial; right the shape and the coefficient of variation")
    return figure
