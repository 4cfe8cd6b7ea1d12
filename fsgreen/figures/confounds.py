"""The curves behind the confounds, their sizes beside the effects, and the mark of a flag."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen.confounds import zones
from fsgreen.figures.style import GREY, empty, new, note, styled

FLAG = "\N{DOUBLE DAGGER}"
FLAG_COLOUR = "#D55E00"

LARGE_B = 16 << 30
"""Devices from this size on have their places in GiB."""


def flag(axes: Axes, points: Iterable[tuple[float, float]]) -> None:
    """Mark comparisons whose confound may be as large as their effect, at their upper ends.

    Points (x, y) are in the units of the axes; none draws nothing.
    """
    marked = list(points)
    for place in marked:
        axes.annotate(
            FLAG,
            place,
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            color=FLAG_COLOUR,
            fontweight="bold",
        )
    if marked:
        axes.plot(
            [], [], linestyle="none", marker=f"${FLAG}$", color=FLAG_COLOUR, label="confounded"
        )


@styled
def offset_curve(curve: pd.DataFrame, basis: str) -> Figure:
    """Return sequential bandwidth against place on the device, with its zones if it has several.

    The columns are `offset_b`, `pass` and `bandwidth_b_s`; there may be no row.
    """
    large = not curve.empty and curve["offset_b"].max() >= LARGE_B
    factor, unit = (2**30, "GiB") if large else (2**20, "MiB")
    figure = _curve(
        curve,
        ("offset_b", factor),
        ("bandwidth_b_s", 2**20),
        (f"offset ({unit})", "bandwidth (MiB/s)"),
        basis,
    )
    measured = zones(curve)
    if len(measured) > 1:
        (axes,) = figure.axes
        for zone in measured.to_dict("records"):
            ends = [zone["begin_b"] / factor, zone["end_b"] / factor]
            level = zone["bandwidth_b_s"] / 2**20
            axes.plot(ends, [level, level], color=FLAG_COLOUR, linewidth=2, solid_capstyle="butt")
            if zone["edge_error_b"]:
                axes.axvline(ends[0], color=GREY, linewidth=0.6, linestyle=":")
        label = f"{len(measured)} zones, by changepoints"
        axes.plot([], [], color=FLAG_COLOUR, linewidth=2, label=label)
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3)
    return figure


@styled
def queue_curve(curve: pd.DataFrame, basis: str) -> Figure:
    """Return throughput of random reads against requests in flight.

    The columns are `queue_depth`, `pass` and `throughput_ops_s`; there may be no row.
    """
    return _curve(
        curve,
        ("queue_depth", 1),
        ("throughput_ops_s", 1),
        ("requests in flight", "random reads (ops/s)"),
        basis,
    )


@styled
def completion_times(runs: pd.DataFrame, basis: str) -> Figure:
    """Return when each of several readers that began together was done, by scheduler.

    The columns are `scheduler`, `pass`, `reader`, `read_b` and `completion_s`; there may be no row.
    """
    if runs.empty:
        return empty(new(2.2), "This testbed has no readers that were timed one by one.")
    names = list(dict.fromkeys(runs["scheduler"].sort_values()))
    figure = new(0.9 + 0.3 * len(names))
    axes = figure.add_subplot()
    for row, name in enumerate(names):
        of_name = runs[runs["scheduler"] == name]
        passes = of_name["pass"].nunique()
        for turn, (_, times) in enumerate(of_name.groupby("pass")["completion_s"]):
            height = row + 0.5 * ((turn + 0.5) / passes - 0.5)
            axes.plot([times.min(), times.max()], [height] * 2, color=GREY, linewidth=0.7)
            axes.plot(times, [height] * len(times), "|", color="black", markersize=7)
        ends = of_name.groupby("pass")["completion_s"]
        spread_x = (ends.max() / ends.min()).median()
        axes.annotate(
            f"last over first: {spread_x:.1f}",
            (1.01, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=7,
        )
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel="time until a reader was done (s)", ylim=(len(names) - 0.5, -0.5))
    axes.set_xlim(left=0)
    axes.grid(visible=True, axis="x")
    readers, passes = runs["reader"].nunique(), runs["pass"].nunique()
    note(
        figure,
        f"a stroke is one of {readers} readers that begin together, a line one of {passes} runs; "
        f"{basis}",
    )
    return figure


@styled
def level_dots(
    part: pd.DataFrame, by: str, value: str, basis: str, within: str | None = None
) -> Figure:
    """Return a curve whose levels are words or few: all passes, and their median.

    The columns are `by` (the level), `value` (its unit is that of its name), `pass` and, if given,
    `within`, with a panel for each of its levels; there may be no row.
    """
    if part.empty:
        return empty(new(1.6), f"This testbed has no curve by {by.replace('_', ' ')}.")
    groups = [("", part)] if within is None else list(part.groupby(within, sort=False))
    figure = new(0.9 + 0.28 * part[by].nunique())
    factor, unit = _UNITS[value]
    panels = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    for axes, (name, group) in zip(panels, groups, strict=True):
        levels = sorted(group[by].unique())
        for row, level in enumerate(levels):
            values = group.loc[group[by] == level, value] / factor
            axes.plot(values, [row] * len(values), "o", color=GREY, markersize=3, alpha=0.6)
            axes.plot(values.median(), row, "|", color="black", markersize=12, markeredgewidth=1.5)
        axes.set_yticks(range(len(levels)), [str(level) for level in levels])
        axes.set(xlabel=unit, title=name, ylim=(len(levels) - 0.5, -0.5))
        axes.set_xlim(0, 1.05 * group[value].max() / factor)
        axes.grid(visible=True, axis="x")
    unit = " (B)" if by.endswith("_b") else ""
    panels[0].set_ylabel(by.removesuffix("_b").replace("_", " ") + unit)
    note(figure, f"a dot is one of {part['pass'].nunique()} passes, a stroke their median; {basis}")
    return figure


@styled
def sizes(table: pd.DataFrame, effects_percent: Iterable[float]) -> Figure:
    """Return each confound with its interval above the effects that it could be mistaken for.

    `table` has rows of `confounds.csv`. No effect of zero is drawn.
    """
    shown = table[table["size_percent"] > 0].iloc[::-1]
    if shown.empty:
        return empty(new(1.6), "No confound was measured on this testbed.")
    figure = new(1.2 + 0.25 * len(shown))
    axes = figure.add_subplot()
    for effect in effects_percent:
        if effect > 0:
            axes.axvline(effect, color="#0072B2", linewidth=0.8, alpha=0.35)
    for row, confound in enumerate(shown.to_dict("records")):
        size = confound["size_percent"]
        fooled = "fooled" in confound["verdict"]
        low, high = confound["size_low_percent"], confound["size_high_percent"]
        if low == low:
            axes.plot([max(low, 0.01), high], [row, row], color="black", linewidth=1)
        axes.plot(size, row, "o", color="black", markerfacecolor=FLAG_COLOUR if fooled else "white")
    axes.set_xscale("log")
    axes.set_yticks(range(len(shown)), list(shown["confound"]))
    axes.set_ylim(-0.6, len(shown) - 0.4)
    axes.set_xlim(left=max(0.01, 0.5 * shown["size_percent"].min()))
    axes.set_xlabel("difference in speed (%)")
    for colour, label in (
        (FLAG_COLOUR, "would fool you if not held"),
        ("white", "could be chance, or small"),
    ):
        axes.plot([], [], "o", color="black", markerfacecolor=colour, label=label)
    axes.plot([], [], color="#0072B2", linewidth=0.8, label="a difference under study")
    figure.legend(loc="outside upper left", ncols=3)
    known = "95 % intervals, pass by pass; those wider than the figure end at its edge"
    note(figure, known if shown["size_low_percent"].notna().any() else "no interval: one pass")
    return figure


_UNITS = {
    "bandwidth_b_s": (2**20, "bandwidth (MiB/s)"),
    "throughput_ops_s": (1, "requests (ops/s)"),
}


def _curve(
    curve: pd.DataFrame,
    x: tuple[str, float],
    y: tuple[str, float],
    labels: tuple[str, str],
    basis: str,
) -> Figure:
    figure, (x_label, y_label) = new(2.2), labels
    if curve.empty:
        return empty(figure, f"This testbed has no curve of {y_label} by {x_label}.")
    axes = figure.add_subplot()
    points_x, points_y = curve[x[0]] / x[1], curve[y[0]] / y[1]
    axes.plot(points_x, points_y, "o", color=GREY, markersize=3, alpha=0.6, label="a pass")
    median = (curve[y[0]] / y[1]).groupby(points_x).median()
    axes.plot(median.index, median, color="black", linewidth=1.2, label="median")
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.set_ylim(0, 1.05 * points_y.max())
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    note(figure, f"{curve['pass'].nunique()} passes, {basis}")
    return figure
