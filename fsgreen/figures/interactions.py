"""Interaction plots: what two options do together beside what each alone lets expect."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from fsgreen.figures.style import (
    GREY,
    UNCORRECTED,
    empty,
    intervals_of,
    look_of,
    new,
    note,
    say,
    styled,
)

PANELS_A_ROW = 3
MOST_PANELS = 12
OFF, ON = 0.0, 1.0
ASIDE = 0.05
"""How far points that belong to one place stand beside it, so that their intervals can be seen."""

TICKS_PERCENT = (
    *(-99, -98, -95, -90, -80, -70, -60, -50, -40, -30, -25, -20, -15, -10, -5, -2, -1, 0),
    *(1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500, 700, 900, 1900),
)
MOST_TICKS = 6


@styled
def interaction_panels(pairs: pd.DataFrame, boundary: str) -> Figure:
    """Return a panel for each pair of options at one place: the four combinations on a log axis.

    One line is the first option with the second off, one with it on. Where the options multiply,
    the lines are parallel; the dashed line ends where they then would meet "both". Pairs of which
    an interaction is clearest come first.

    `pairs` are rows of `interactions.csv`, of one metric, workload and file system; there may be
    none. `boundary` is what the power includes, for the metric efficiency.
    """
    shown = pairs.dropna(subset=["together_percent"])
    shown = shown.sort_values("difference_p", kind="stable").head(MOST_PANELS)
    if shown.empty:
        return empty(new(1.2), "No factorial design has been measured: no pair of options to show.")
    columns = min(len(shown), PANELS_A_ROW)
    rows = math.ceil(len(shown) / columns)
    figure = new(1.15 + 1.75 * rows)
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False)
    panels = grid.flat[: len(shown)]
    for axes, pair in zip(panels, shown.to_dict("records"), strict=True):
        _draw(axes, pair)
    _scale(panels[0], shown)
    for axes in grid.flat[len(shown) :]:
        axes.set_axis_off()
    first = shown.iloc[0]
    of_power = first["metric"] == "efficiency" and boundary == "modelled"
    metric = "efficiency by modelled power" if of_power else first["metric"]
    figure.supylabel(f"change of {metric} (%)", fontsize=8)
    figure.legend(
        handles=_legend(panels[0], first["file_system"]),
        loc="outside upper left",
        ncols=3,
        title=f"{first['workload']} {first['file_system']}",
        title_fontsize=8.5,
        alignment="left",
    )
    note(figure, _small_print(shown, len(pairs)))
    return figure


def _draw(axes: Axes, pair: Mapping[str, Any]) -> None:
    first, second = pair["term"].split(":")
    look = _looks(pair["file_system"])
    alone, other, both = (_point(pair, name) for name in ("first", "second", "together"))
    expected = 1 + pair["expected_percent"] / 100
    axes.plot([OFF, ON], [other[0], expected], **look["expected"])
    axes.plot([OFF, ON + ASIDE], [1, alone[0]], **look["off"])
    axes.plot([OFF, ON - ASIDE], [other[0], both[0]], **look["on"])
    for x, (value, low, high), name in (
        (ON + ASIDE, alone, "off"),
        (OFF, other, "on"),
        (ON - ASIDE, both, "on"),
    ):
        if math.isfinite(low) and math.isfinite(high):
            bars = [[value - low], [high - value]]
            axes.errorbar([x], [value], bars, fmt="none", ecolor=look[name]["color"], linewidth=1)
    label = {"ha": "right", "va": "center", "fontsize": 6.5, "color": look["on"]["color"]}
    axes.text(OFF - 2 * ASIDE, other[0], second, **label)
    axes.set_xticks([OFF, ON], [f"{first} off", f"{first} on"])
    axes.set_xlim(OFF - 0.45, ON + 0.2)
    axes.set_title(f"{first} and {second}")
    _say(axes, pair)


def _point(pair: Mapping[str, Any], name: str) -> tuple[float, float, float]:
    """Return a ratio to neither option, with its interval."""
    value, low, high = (1 + pair[f"{name}{part}_percent"] / 100 for part in ("", "_low", "_high"))
    return value, low, high


def _say(axes: Axes, pair: Mapping[str, Any]) -> None:
    """Print both over expected, and what it is aliased with."""
    text = f"{pair['change_percent']:+.1f} % from expected"
    if math.isfinite(pair["change_low_percent"]):
        text += f"\n[{pair['change_low_percent']:+.1f}, {pair['change_high_percent']:+.1f}]"
    if not pair["clear"]:
        text += "\nor " + pair["aliases"].replace(":", " and ").replace("; ", "\nor ")
    say(axes, text, "left", different=pair["outcome"] == "different")


def _looks(file_system: str) -> dict[str, dict[str, Any]]:
    _, colour, marker, _ = look_of(file_system)
    return {
        "off": {
            "color": GREY,
            "marker": marker,
            "markerfacecolor": "white",
            "markersize": 4,
            "linewidth": 1,
        },
        "on": {"color": colour, "marker": marker, "markersize": 4.5, "linewidth": 1.5},
        "expected": {
            "color": "black",
            "marker": "_",
            "markersize": 10,
            "markevery": [1],
            "linestyle": "--",
            "linewidth": 0.9,
        },
    }


def _legend(axes: Axes, file_system: str) -> list[Any]:
    look = _looks(file_system)
    names = {
        "off": "second option off",
        "on": "second option on, measured",
        "expected": "second option on, expected if the two multiply",
    }
    return [axes.plot([], [], label=text, **look[name])[0] for name, text in names.items()]


def _scale(axes: Axes, shown: pd.DataFrame) -> None:
    """Set the scales that all panels share: logarithmic, with per cent at the ticks."""
    names = ("first", "second", "together")
    columns = [f"{name}{part}_percent" for name in names for part in ("", "_low", "_high")]
    columns.append("expected_percent")
    ratios = np.append(1 + shown[columns].to_numpy(dtype=float).ravel() / 100, 1.0)
    low, high = np.log(np.nanmin(ratios)), np.log(np.nanmax(ratios))
    room = max(high - low, 0.02)
    axes.set_yscale("log")
    axes.set_ylim(math.exp(low - 0.1 * room), math.exp(high + 0.55 * room))
    axes.yaxis.set_major_locator(FixedLocator(_ticks(*axes.get_ylim())))
    axes.yaxis.set_major_formatter(lambda ratio, _: f"{100 * (ratio - 1):+.3g}".replace("+0", "0"))
    axes.yaxis.set_minor_locator(NullLocator())


def _ticks(low: float, high: float) -> list[float]:
    """Return round changes inside the limits, about evenly spaced, zero among them."""
    inside = [1 + p / 100 for p in TICKS_PERCENT if low <= 1 + p / 100 <= high]
    apart = (math.log(high) - math.log(low)) / MOST_TICKS
    chosen = [1.0]
    for ratio in sorted(inside, key=lambda ratio: abs(math.log(ratio))):
        if all(abs(math.log(ratio / other)) >= apart for other in chosen):
            chosen.append(ratio)
    return sorted(chosen)


def _small_print(shown: pd.DataFrame, pairs_count: int) -> str:
    lows, blocks = shown["change_low_percent"], shown["n"]
    known = intervals_of(lows, blocks)
    if lows.notna().any():
        known += f", blocks: {blocks.iloc[0]}; bold: more than noise; intervals {UNCORRECTED}"
    text = f"relative to neither option, over all levels of the others; log scale; {known}"
    if len(shown) < pairs_count:
        text += f"; the {len(shown)} clearest of {pairs_count} pairs"
    return text
