"""The figures that every campaign has, and where its figures are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from fsgreen import paths, stats
from fsgreen.confounds import probe_basis, read_probes
from fsgreen.figures.confounds import offset_curve, queue_curve
from fsgreen.figures.style import GREY, empty, labelled, look_of, new, note, roomy, save, styled
from fsgreen.reduce import at, cell_label, factors_of, read_plan, read_table, simulated

ROW_IN = 0.17


def keeper(campaign: str) -> Callable[[Figure, str], None]:
    """Return what saves a figure of a campaign by its name, labelled if simulated."""
    folder, label = paths.results(campaign) / "figures", simulated(campaign)

    def keep(figure: Figure, name: str) -> None:
        save(labelled(figure, label), folder, name)

    return keep


def irregular_cells_of(campaign: str) -> Figure:
    """Return the trials of the cells whose mean hides them (rule 33)."""
    cells, trials = (read_table(campaign, name) for name in ("cells", "trials"))
    return irregular_cells(cells, trials, read_plan(campaign).constants)


def irregular(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that rule 33 names, the widest first."""
    named = cells["shape"].isin(stats.NOT_NORMAL) | (cells["cv_percent"] > stats.WIDE_PERCENT)
    return cells[named].sort_values("cv_percent", ascending=False, kind="stable")


@styled
def irregular_cells(
    cells: pd.DataFrame, trials: pd.DataFrame, constants: Mapping[str, Any]
) -> Figure:
    """Return every trial of the cells that are `irregular`, relative to the median of its cell.

    Labels of cells leave out the plan's `constants`.
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
    note(figure, "each mark is a trial; at the right, shape and coefficient of variation")
    return figure


def confound_curves(campaign: str) -> dict[str, Figure]:
    """Return the curves of the bare testbed by the names of their files."""
    probes, basis = read_probes(campaign), probe_basis(campaign)
    return {
        "confound_offset": offset_curve(probes["offset"], basis),
        "confound_queue": queue_curve(probes["queue"], basis),
    }


def keep_common(campaign: str) -> None:
    """Save the figures that every campaign has."""
    keep = keeper(campaign)
    keep(irregular_cells_of(campaign), "irregular_cells")
    for name, curve in confound_curves(campaign).items():
        keep(curve, name)
