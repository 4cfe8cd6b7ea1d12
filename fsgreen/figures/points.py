"""Two quantities of trials or cells against each other, a panel per workload."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from fsgreen.design import DEFAULT
from fsgreen.figures.style import empty, new, semantics


def points(table: pd.DataFrame, x: str, y: str, rests_on: str) -> Figure:
    """Return a mark for each row at full speed with default options that has both columns.

    The title is what the numbers rest on: `reduce.rests_on` of the campaign.
    """
    import seaborn as sns
    from matplotlib import pyplot

    usual = table["option"].isna() | (table["option"] == DEFAULT)
    shown = table[table["load_ops_s"].isna() & usual].dropna(subset=[x, y])
    if shown.empty:
        return empty(new(1.2), f"No default cell has both {x} and {y}.")
    named = shown.assign(file_system=shown["file_system"].fillna("not recorded"))
    grid = sns.relplot(
        named,
        x=x,
        y=y,
        **semantics(named["file_system"]),
        col="workload",
        col_wrap=2,
        height=3,
        facet_kws={"sharex": False, "sharey": False},
    )
    figure: Figure = grid.figure
    figure.suptitle(rests_on, y=1.02)
    pyplot.close(figure)  # else a notebook shows it a second time
    return figure
