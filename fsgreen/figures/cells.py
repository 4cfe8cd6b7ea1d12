"""Cells and comparisons of any study, with their intervals: row by row, or level by level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fsgreen.figures.confounds import FLAG, flag
from fsgreen.figures.style import (
    GREY,
    UNCORRECTED,
    empty,
    in_order,
    intervals_of,
    look_of,
    modelled,
    new,
    note,
    roomy,
    styled,
)

ROW_IN = 0.19
MOST_ROWS = 60
"""A figure of more rows is longer than a page."""

LINE_IN = 0.12
"""What each further line of a name adds to a row."""

LETTERS = 40
"""A longer name takes another line, or it would leave no room for what it names."""

AXES = {
    "throughput": ("ops_s", "operations per second"),
    "efficiency": ("ops_j", "operations per joule"),
    "bandwidth": ("b_s", "bytes per second"),
    "energy": ("j", "joules"),
    "power": ("w", "watts"),
    "duration": ("s", "seconds"),
}
"""Metrics by their rank for a figure, each with its unit in columns and its name on an axis."""

PANELS = 2

CUT = ", from 0 where they reach below it"


BETWEEN = 0.16
"""The marks of two file systems, where levels are 1 apart."""

OF_POWER = ("efficiency", "energy", "power")


def known_metrics(
    cells: pd.DataFrame, ranked: Iterable[str] = tuple(AXES), most: int = PANELS
) -> list[str]:
    """Return the first metrics, at most `most`, of which something is known; runs may lack any."""
    known = (
        metric
        for metric in ranked
        if cells.filter(items=[f"{metric}_{AXES[metric][0]}"]).notna().any(axis=None)
    )
    return [*islice(known, most)]


@styled
def cell_rows(cells: pd.DataFrame, names: Sequence[str]) -> Figure:
    """Return `known_metrics` of the cells of a workload with 95 % intervals, side by side.

    Each row has a name. A cell without a steady state has its name and no mark (rule 24).
    """
    shown, metrics = cells.head(MOST_ROWS).to_dict("records"), known_metrics(cells)
    if not metrics:
        return empty(new(1.2), "These cells have no numbers to show.")
    names = [fill(name, LETTERS) for name in names[: len(shown)]]
    figure = roomy(new(_height_in(names)))
    panels = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
    for axes, metric in zip(panels, metrics, strict=True):
        unit, title = AXES[metric]
        for place, cell in enumerate(shown):
            state = cell["state"] if metric == "throughput" else cell.get("power_state", "")
            if "inconsistent" not in (cell["state"], state):
                ends = [cell[f"{metric}{end}_{unit}"] for end in ("", "_low", "_high")]
                _mark(axes, place, ends, cell.get("file_system"), filled=True)
        axes.set_title(title)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.grid(axis="y", visible=False)
        axes.grid(axis="x")
        if metric in OF_POWER:
            modelled(axes, shown[0]["boundary"])
    _rows(panels[0], names)
    lows = pd.concat([cells[f"{metric}_low_{AXES[metric][0]}"] for metric in metrics])
    text = (
        f"{intervals_of(lows, cells['n'], 'trial')}{CUT if (lows < 0).any() else ''}; "
        "no mark: no steady state (rule 24)"
    )
    more = len(cells) - len(shown)
    note(figure, text + (f"; {more} more stand in cells.csv" if more else ""))
    return figure


@styled
def effect_rows(effects: pd.DataFrame, names: Sequence[str]) -> Figure:
    """Return comparisons of one kind and metric as ratios with 95 % intervals, each with its name.

    A filled mark is a clear difference; in the grey band a difference counts as none; a dagger
    marks what may be the work of a confound.
    """
    shown = effects.head(MOST_ROWS).to_dict("records")
    if not shown:
        return empty(new(1.2), "Nothing was compared.")
    names = [fill(name, LETTERS) for name in names[: len(shown)]]
    figure = roomy(new(_height_in(names)))
    axes = figure.subplots()
    bound = shown[0]["bound_percent"] / 100
    lows = effects["ratio_low_x"]
    texts = [intervals_of(lows, effects["n"])]
    if lows.notna().any():
        texts = [f"{texts[0]}, {UNCORRECTED}", "filled: a clear difference (Holm)"]
        texts += ["no interval: too few blocks"] if lows.isna().any() else []
    if bound == bound:  # none was declared before runs that were imported
        axes.axvspan(1 - bound, 1 / (1 - bound), color="#E8E8E8", linewidth=0)
        texts.append(
            f"band of {100 * bound:g} %: equal if the whole interval lies in it"
            if lows.notna().any()
            else f"band: differences below {100 * bound:g} %"
        )
    axes.axvline(1, color="black", linewidth=0.6)
    flagged = []
    for place, row in enumerate(shown):
        if row["outcome"] == "inconsistent":
            continue
        ends = [row[f"ratio{end}_x"] for end in ("", "_low", "_high")]
        _mark(axes, place, ends, row.get("file_system"), filled=row["outcome"] == "different")
        if row["gate"] != "passed":
            flagged.append((1.02 * max(end for end in ends if end == end), place + 0.5))
    flag(axes, flagged)
    axes.set_xlabel(f"{shown[0]['metric']}, ratio")
    axes.grid(axis="y", visible=False)
    axes.grid(axis="x")
    axes.margins(x=0.08)
    if shown[0]["metric"] == "efficiency":
        modelled(axes, shown[0]["boundary"])
    _rows(axes, names)
    texts += [f"{FLAG}: may be the work of a confound"] if flagged else []
    if len(effects) > len(shown):
        texts.append(f"{len(effects) - len(shown)} more stand in effects.csv")
    note(figure, "; ".join(texts))
    return figure


def _mark(axes: Axes, place: int, ends: Sequence[float], file_system: Any, *, filled: bool) -> None:
    value, low, high = ends
    look = look_of(str(file_system))
    known = low == low and high == high
    axes.errorbar(
        value,
        place,
        xerr=[[value - low], [high - value]] if known else None,
        marker=look.marker,
        markersize=4.5,
        color=look.colour,
        markerfacecolor=look.colour if filled else "white",
        linestyle="none",
    )


def _height_in(names: Sequence[str]) -> float:
    """Return how high a figure is whose rows are as high as that with the longest name."""
    further = max(name.count("\n") for name in names)
    return 0.9 + (ROW_IN + LINE_IN * further) * len(names)


def _rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0, labelcolor=GREY)


def marks_by_level(
    axes: Axes,
    cells: pd.DataFrame,
    factor: str,
    names: Mapping[str, str],
    column: tuple[str, str],
    scale: float = 1.0,
    others: Iterable[str] = (),
) -> None:
    """Draw a metric with its 95 % intervals, a mark for each file system at each level.

    `cells` has a row for each file system and level. `names` are those of the levels, in the order
    that is shown. `column` is the metric and its unit, as in `cells.csv`; values are divided by
    `scale`. `others` are file systems that have a place too, for marks of another kind.
    """
    metric, unit = column
    levels = list(names)
    systems = in_order([*cells["file_system"], *others])
    for system in in_order(cells["file_system"]):
        beside = shift(systems.index(system), len(systems))
        of_system = cells[cells["file_system"] == system].set_index(factor)
        shown = [level for level in levels if level in of_system.index]
        value, low, high = (
            of_system.loc[shown, f"{metric}{end}_{unit}"] / scale for end in ("", "_low", "_high")
        )
        look = look_of(system)
        axes.errorbar(
            [levels.index(level) + beside for level in shown],
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
    return BETWEEN * (nth - (count - 1) / 2)
