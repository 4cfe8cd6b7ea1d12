"""Figures 1 and 2: power against load on the web server, and how its CPU spends its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from fsgreen.figures import empty, in_order, intervals_of, look_of, modelled, new, note, styled
from fsgreen.figures.style import GREY, LOOKS, Look
from fsgreen.reduce import at

IDLE = Look("idle, node alone", GREY, "_", "")

STATES = {
    "user": ("#332288", ""),
    "system": ("#88CCEE", "//"),
    "iowait": ("#DDCC77", ".."),
    "idle": ("#F2F2F2", ""),
    "steal": ("#FFFFFF", "xx"),
}
LABEL = {"iowait": "I/O wait"}


@styled
def power_by_load(cells: pd.DataFrame, published: Sequence[Mapping[str, Any]]) -> Figure:
    """Return power against achieved load, ours beside the points that fast10 states.

    Shown are the file systems of `cells.csv` with rate-limited web server cells. `published` are
    the points of the published figure.
    """
    figure = new(2.9)
    web = cells[at(cells, {"workload": "webserver", "option": "default"})]
    limited = in_order(web[web["load_ops_s"].notna()]["file_system"])
    if not limited:
        return empty(figure, "This campaign has no rate-limited web server cells.")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for file_system in limited:
        name, colour, marker, _ = look_of(file_system)
        line = web[web["file_system"] == file_system].sort_values("throughput_ops_s")
        error = [line["power_w"] - line["power_low_w"], line["power_high_w"] - line["power_w"]]
        left.errorbar(
            line["throughput_ops_s"] / 1000,
            line["power_w"],
            yerr=error,
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1.2,
            label=name,
        )
        peak = line[line["load_ops_s"].isna()]
        left.plot(
            peak["throughput_ops_s"] / 1000,
            peak["power_w"],
            marker="o",
            markersize=9,
            fillstyle="none",
            color=colour,
            linestyle="none",
        )
    boundary = web["boundary"].iloc[0]
    left.set(
        xlabel="load (1000 ops/s)",
        ylabel=f"mean power (W, {boundary})",
        title="this campaign, webserver",
    )
    left.set_xlim(left=0)
    idle_w, highest_w = web["idle_power_w"].min(), web["power_w"].max()
    left.axhline(idle_w, color=GREY, linewidth=0.8, linestyle=":", label="idle")
    left.set_ylim(idle_w - 5, highest_w + 0.05 * (highest_w - idle_w) + 5)
    left.legend(loc="lower right", bbox_to_anchor=(1, 0.05))
    modelled(left, boundary)
    _published(right, published)
    known = intervals_of(web["power_low_w"], web["n"], "trial")
    note(figure, f"{known}; rings mark the load without a limit")
    return figure


def _published(axes: Any, points: Sequence[Mapping[str, Any]]) -> None:
    for point in points:
        if "y" not in point:
            continue
        look = LOOKS.get(str(point["series"]).lower(), IDLE)
        axes.plot(
            point["x"],
            point["y"],
            marker=look.marker,
            color=look.colour,
            linestyle="none",
            fillstyle="full" if point["source"] == "stated" else "none",
        )
        at_right = point["x"] > 35000
        axes.annotate(
            f"{look.name}\n{point['x']:,} ops/s\n{point['y']:g} W",
            (point["x"], point["y"]),
            xytext=(-6 if at_right else 6, 0),
            textcoords="offset points",
            ha="right" if at_right else "left",
            va="top" if at_right else "bottom",
            fontsize=6.5,
        )
    axes.set(
        xlabel="load (ops/s)", ylabel="mean power (W, wall)", title="published (open: derived)"
    )
    axes.set(xlim=(-4000, 76000), ylim=(200, 320), xticks=(0, 30000, 60000))


@styled
def cpu_split(cells: pd.DataFrame) -> Figure:
    """Return stacked shares of CPU time, web server, default options, no rate limit.

    `cells` is the table `cells.csv`.
    """
    figure = new(2.6)
    chosen = cells[at(cells, {"workload": "webserver", "option": "default", "load_ops_s": None})]
    if chosen.empty:
        return empty(figure, "This campaign has no web server cells.")
    chosen = chosen.set_index("file_system").reindex(in_order(chosen["file_system"]))
    axes = figure.add_subplot()
    left = np.zeros(len(chosen))
    for state, (colour, hatch) in STATES.items():
        share = chosen[f"cpu_{state}_percent"].to_numpy(dtype=float)
        axes.barh(
            [look_of(file_system).name for file_system in chosen.index],
            share,
            left=left,
            color=colour,
            hatch=hatch,
            edgecolor="black",
            linewidth=0.5,
            height=0.7,
            label=LABEL.get(state, state),
        )
        for row, (start, width) in enumerate(zip(left, share, strict=True)):
            if width >= 6:
                light = state == "user"
                axes.text(
                    start + width / 2,
                    row,
                    f"{width:.0f}",
                    ha="center",
                    va="center",
                    fontsize=7,
                    color="white" if light else "black",
                    bbox=None if light else {"facecolor": "white", "linewidth": 0, "pad": 1},
                )
        left += share
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.set(xlim=(0, 100), xlabel="share of CPU time (%)", title="webserver at its highest load")
    figure.legend(loc="outside right center")
    note(figure, "means over trials; fast10 prints no values for its figure 2")
    return figure
