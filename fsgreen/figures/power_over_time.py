"""Power over the time of the trials of a cell, as steps."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from fsgreen.figures.style import Look

PALE = 0.3


def middle_trial(bins: pd.DataFrame) -> pd.DataFrame:
    """Return the bins of the trial that is in the middle by its mean power; of two, the lower.

    `bins` are those of one meter and of the trials of one cell.
    """
    means_w = bins.groupby("trial")["power_w"].mean().sort_values(kind="stable")
    return bins[bins["trial"] == means_w.index[(len(means_w) - 1) // 2]]


def power_steps(axes: Axes, bins: pd.DataFrame, look: Look) -> None:
    """Draw the power of each trial over its time: the middle one, and the others pale behind it.

    `bins` are those of `middle_trial`, of one trial at least.
    """
    middle = middle_trial(bins)["trial"].iloc[0]
    for trial, of_trial in bins.groupby("trial"):
        axes.stairs(
            of_trial["power_w"].to_numpy(),
            [0.0, *of_trial["time_s"]],
            baseline=None,
            color=look.colour,
            linewidth=1.2 if trial == middle else 0.6,
            alpha=1 if trial == middle else PALE,
            zorder=3 if trial == middle else 2,
        )
