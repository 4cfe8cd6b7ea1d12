"""Figure 2: how the CPU spends its time at the highest web load of each file system."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from fsgreen.figures import empty, in_order, look_of, new, note, styled

STATES = {
    "user": ("#332288", ""),
    "system": ("#88CCEE", "//"),
    "iowait": ("#DDCC77", ".."),
    "idle": ("#F2F2F2", ""),
    "steal": ("#FFFFFF", "xx"),
}
LABEL = {"iowait": "I/O wait"}


@styled
def cpu_split(cells: pd.DataFrame) -> Figure:
    """Return stacked shares of CPU time, web server, default options, no rate limit.

    Parameters
    ----------
    cells : DataFrame
        The table `cells.csv`.
    """
    figure = new(2.6)
    chosen = cells[
        (cells["workload"] == "webserver")
        & (cells["option"] == "default")
        & cells["load_ops_s"].isna()
    ]
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
