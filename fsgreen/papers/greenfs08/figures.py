"""Figures 4 and 5 of greenfs08, as printed and as far as a campaign has their workloads."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from fsgreen import paths
from fsgreen.design import DEFAULT
from fsgreen.figures import keep_common, keeper, new, note, styled
from fsgreen.figures.style import COLOUR, GREY, roomy
from fsgreen.papers.greenfs08.reference import Printed
from fsgreen.papers.greenfs08.tables import write_tables
from fsgreen.reduce import read_table


class Bars(NamedTuple):
    """A figure of elapsed times by where files are."""

    number: str
    workloads: tuple[str, ...]
    """Those that stand for the program of the paper: a text, and the program as of Debian 12."""
    title: str
    names: tuple[str, ...]
    """The bars of the paper, from the top."""


COMPILE = Bars(
    "4",
    ("compile", "openssh"),
    "OpenSSH compiled",
    (
        *("Ext2/Ext3 disk", "Ext2 flash", "Ext3 flash", "UnionFS 1", "UnionFS 2", "UnionFS 3"),
        *("NFS", "GreenFS"),
    ),
)
STARTUP = Bars(
    "5", ("startup", "emacs"), "Emacs started", ("local disk", "flash", "NFS", "GreenFS")
)
BASELINE = "ext3"
"""The file system on the local disk that ours are relative to."""


def write(campaign: str) -> Path:
    """Write figures 4 and 5 beside a campaign's own cells, and all tables; return their folder."""
    cells, keep, printed = read_table(campaign, "cells"), keeper(campaign), Printed.load()
    for bars in (COMPILE, STARTUP):
        keep(elapsed(bars, printed, cells), f"fig{bars.number}")
    keep_common(campaign)
    write_tables(campaign, printed)
    return paths.results(campaign) / "figures"


@styled
def elapsed(bars: Bars, printed: Printed, cells: pd.DataFrame | None = None) -> Figure:
    """Return elapsed times over that of the local disk: as printed, and of a campaign's cells.

    `bars` says which figure; `cells` is the table `cells.csv`.
    """
    ours = _ours(bars, cells)
    names = [*bars.names, *(f"{name} here" for name in ours)]
    figure = roomy(new(0.6 + 0.22 * len(names)))
    axes = figure.add_subplot()
    points = {point["x"]: point for point in printed.points(bars.number)}
    for place, name in enumerate(bars.names):
        point = points.get(name)
        if point is None:
            axes.text(0.02, place, "not printed", va="center", fontsize=7, color=GREY)
            continue
        axes.barh(place, point["y"], height=0.6, facecolor="none", edgecolor=GREY)
        axes.text(point["y"] + 0.02, place, f"{point['y']:g}", va="center", fontsize=7)
    for place, (name, ratio) in enumerate(ours.items(), start=len(bars.names)):
        axes.barh(place, ratio, height=0.6, color=COLOUR.get(name.split()[0], GREY))
        axes.text(ratio + 0.02, place, f"{ratio:.3g}", va="center", fontsize=7)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set(xlabel="elapsed time over that on the local disk", title=bars.title)
    axes.grid(axis="y", visible=False)
    measured = "filled: cells of this campaign" if ours else "no trial is in this figure"
    note(figure, f"hollow: as printed in the text of greenfs08, which has no seconds; {measured}")
    return figure


def _ours(bars: Bars, cells: pd.DataFrame | None) -> dict[str, float]:
    """Return the mean elapsed time of each file system, by its place, over that of the baseline.

    A workload of which there is no cell but the baseline is left out.
    """
    if cells is None or "duration_s" not in cells:
        return {}
    ours = {}
    for workload in bars.workloads:
        chosen = cells[(cells["workload"] == workload) & (cells["option"] == DEFAULT)]
        times_s = {_name(row): row["duration_s"] for row in chosen.to_dict("records")}
        if BASELINE in times_s and len(times_s) > 1:
            for name, time_s in times_s.items():
                ours[f"{name}, {workload}"] = time_s / times_s[BASELINE]
    return ours


def _name(row: Mapping[Hashable, Any]) -> str:
    """Return the file system of a cell, and where it is if not on the disk."""
    flash = row.get("flash")
    return f"{row['file_system']} on flash" if isinstance(flash, str) else str(row["file_system"])


def captions() -> dict[str, str]:
    """Return what stands below each figure, by its name."""
    return {
        f"fig{bars.number}": f"Figure {bars.number}: {bars.title}, elapsed time by where files are."
        for bars in (COMPILE, STARTUP)
    }
