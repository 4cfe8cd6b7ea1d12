"""A forest plot: each machine's ratio, their mean, and where the next machine will probably be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen.figures.forest import heading, ratio_axis
from fsgreen.figures.style import UNCORRECTED, empty, look_of, modelled, new, note, roomy, styled
from fsgreen.gathered.lines import MODELLED, ratio
from fsgreen.gathered.pools import Gathered

ROW_IN = 0.16
MOST_ROWS = 90
"""Of a figure that fits a page and a half; all stand in the tables."""

SMALL = 6.5
NEXT_COLOUR = "#BBBBBB"

Row = Mapping[Any, Any]


@styled
def forest(gathered: Gathered, metric: str) -> Figure:
    """Return the comparisons that files share in a metric, machine by machine and together.

    A filled mark is measured, a hollow one simulated or modelled. The diamond is the mean of
    machines like these with its 95 % interval, the grey bar the prediction interval for the next.

    The metric is one of those in `gathered.shared`.
    """
    shared = gathered.shared
    shared = shared[shared["metric"] == metric]
    if shared.empty:
        return empty(new(1.2), f"No comparison in {metric} is in two of the files.")
    together = gathered.together[gathered.together["metric"] == metric]
    rows, left = _rows(shared, together)
    figure = roomy(new(1.1 + ROW_IN * len(rows)))
    axes = figure.subplots()
    for place, (name, row) in enumerate(rows):
        if row is None:
            heading(axes, place, name)
        else:
            _draw(axes, place, row)
    _scale(axes, [row for _, row in rows if row is not None])
    drawn = {place: name for place, (name, row) in enumerate(rows) if row is not None}
    axes.set_yticks(list(drawn), drawn.values(), fontsize=SMALL)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_title(f"{metric}: ratio on each machine, and on the next")
    if MODELLED in set(shared["boundary"]):
        modelled(axes, MODELLED)
    more = f"; {left} more comparisons stand in together.csv" if left else ""
    note(
        figure,
        f"95 % intervals, {UNCORRECTED}; filled: measured, hollow: simulated or modelled; diamond: "
        "the mean of machines like these;\ngrey: where the next will probably be; "
        f"numbers: files{more}",
    )
    return figure


def _rows(shared: pd.DataFrame, together: pd.DataFrame) -> tuple[list[tuple[str, Row | None]], int]:
    """Return names and values from top to bottom, and how many comparisons are left out."""
    rows: list[tuple[str, Row | None]] = []
    groups = list(shared.groupby("comparison", sort=False))
    for nth, (comparison, each) in enumerate(groups):
        pools = together[together["comparison"] == comparison]
        if rows and len(rows) + 1 + len(each) + len(pools) > MOST_ROWS:
            return rows, len(groups) - nth
        rows.append((str(comparison), None))
        rows += [(str(row["file"]), row) for row in each.to_dict("records")]
        rows += [(f"{pool['files_count']} together", pool) for pool in pools.to_dict("records")]
    return rows, 0


def _draw(axes: Axes, place: int, row: Row) -> None:
    if "next_low_x" in row:
        axes.plot(
            [row["next_low_x"], row["next_high_x"]],
            [place, place],
            color=NEXT_COLOUR,
            linewidth=5,
            solid_capstyle="butt",
            zorder=1,
        )
        _mark(axes, place, row, "D", "black", filled=True)
        says = f"{row['ratio_x']:.3g}x, next [{row['next_low_x']:.3g}, {row['next_high_x']:.3g}]"
    else:
        look = look_of(row["file_system"])
        if row["outcome"] != "inconsistent":
            measured = row["basis"] == "measured" and row["boundary"] != MODELLED
            _mark(axes, place, row, look.marker, look.colour, filled=measured)
        says = ratio(row)
    beside = axes.get_yaxis_transform()
    axes.text(1.01, place, says, transform=beside, va="center", fontsize=SMALL)


def _mark(axes: Axes, place: int, row: Row, marker: str, colour: str, *, filled: bool) -> None:
    value, low, high = (row[f"ratio{end}_x"] for end in ("", "_low", "_high"))
    axes.errorbar(
        value,
        place,
        xerr=None if math.isnan(low) else [[max(0.0, value - low)], [max(0.0, high - value)]],
        marker=marker,
        markersize=4,
        color=colour,
        markerfacecolor=colour if filled else "white",
        linestyle="none",
        zorder=2,
    )


def _scale(axes: Axes, rows: list[Row]) -> None:
    """Give the axis the range of machines and means; a bar for the next may go beyond."""
    ends = [
        row[f"ratio{end}_x"]
        for row in rows
        for end in ("", "_low", "_high")
        if row.get("outcome") != "inconsistent" and row[f"ratio{end}_x"] > 0
    ]
    ratio_axis(axes, min([0.9, *ends]), max([1.1, *ends]), margin=1.15)
