"""Latency profiles of two cells over each other, a panel for each operation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter

from fsgreen import stats
from fsgreen.figures.style import UNCORRECTED, empty, intervals_of, look_of, new, note, say, styled

PANELS_A_ROW = 3
LOWEST_PERCENT = 1e-3
"""Operations that are rarer, one in 100,000, are below the frame."""

NAMED_NS = {1.0: "1 ns", 1e3: "1 µs", 1e6: "1 ms", 1e9: "1 s", 1e12: "1000 s"}


@styled
def latency_profiles(
    candidate: pd.DataFrame, baseline: pd.DataFrame, effects: pd.DataFrame
) -> Figure:
    """Return the share of operations by latency, both on logarithmic axes.

    Each cell has `workload`, `file_system`, `option`, `operation`, `bucket` (of log2 nanoseconds)
    and `work_ops`, a row for each bucket and trial. `effects` has a row for each operation in the
    order of the panels: the table of `stats.compare_profiles` with the column `outcome`.
    """
    rows = math.ceil(len(effects) / PANELS_A_ROW)
    figure = new(1.0 + 1.35 * rows)
    if effects.empty:
        return empty(figure, "These cells have no operations.")
    grid = figure.subplots(rows, PANELS_A_ROW, sharex=True, sharey=True, squeeze=False)
    panels = grid.flat[: len(effects)]
    looks = [
        _look(baseline) | {"linestyle": "--", "markersize": 5.5, "markerfacecolor": "white"},
        _look(candidate) | {"linestyle": "-", "markersize": 3.5},
    ]
    for axes, effect in zip(panels, effects.to_dict("records"), strict=True):
        for cell, look in zip((baseline, candidate), looks, strict=True):
            _draw(axes, cell[cell["operation"] == effect["operation"]], look)
        axes.set_title(effect["operation"])
        text = _distance_text(effect, (looks[1]["label"], looks[0]["label"]))
        say(axes, text, "right", different=effect["outcome"] == "different")
    _scale(panels[0], pd.concat([candidate, baseline])["bucket"])
    for axes in panels[-PANELS_A_ROW:]:
        axes.tick_params(labelbottom=True)
    for axes in grid.flat[len(effects) :]:
        axes.set_axis_off()
    figure.supylabel("share of operations (%)", fontsize=8)
    lines = [panels[0].plot([], [], **look)[0] for look in reversed(looks)]
    figure.legend(
        handles=lines,
        loc="outside upper left",
        ncols=2,
        title=candidate["workload"].iloc[0],
        title_fontsize=8.5,
        alignment="left",
    )
    lows, blocks = effects["emd_low_buckets"], effects["n"]
    known = intervals_of(lows, blocks)
    if lows.notna().any():
        known += f", blocks: {blocks.iloc[0]}; bold: more than noise; intervals {UNCORRECTED}"
    note(
        figure,
        f"latency in log2 buckets, peaks marked; EMD in buckets (1: a factor of two), {known}",
    )
    return figure


def _look(cell: pd.DataFrame) -> dict[str, Any]:
    file_system, option = cell["file_system"].iloc[0], cell["option"].iloc[0]
    name, colour, marker, _ = look_of(file_system)
    return {
        "label": name if option == "default" else f"{name} {option}",
        "color": colour,
        "marker": marker,
        "linewidth": 1.2,
    }


def _draw(axes: Axes, profile: pd.DataFrame, look: Mapping[str, Any]) -> None:
    """Draw a profile as steps with its peaks marked; it has none if there was no operation."""
    counts = stats.total_profile(profile)
    if not counts.any():
        return
    percent = 100 * counts / counts.sum()
    edges_ns = np.exp2(np.arange(len(counts) + 1))
    line = {name: look[name] for name in ("color", "linestyle", "linewidth")}
    shown = np.maximum(percent, LOWEST_PERCENT / 2)
    axes.stairs(shown, edges_ns, baseline=LOWEST_PERCENT / 2, **line)
    axes.stairs(
        shown, edges_ns, baseline=LOWEST_PERCENT / 2, fill=True, color=look["color"], alpha=0.15
    )
    buckets = [peak.bucket for peak in stats.peaks(counts)]
    axes.plot(np.sqrt(2) * edges_ns[buckets], percent[buckets], **{**look, "linestyle": "none"})


def _distance_text(effect: Mapping[str, Any], labels: tuple[str, str]) -> str:
    for label, role in zip(labels, ("candidate", "baseline"), strict=True):
        if effect[f"{role}_ops"] == 0:
            return f"none in {label}"
    if math.isnan(effect["emd_buckets"]):
        return "not in every block"
    text = f"EMD {effect['emd_buckets']:.2f}"
    if math.isfinite(effect["emd_low_buckets"]):
        text += f"\n[{effect['emd_low_buckets']:.2f}, {effect['emd_high_buckets']:.2f}]"
    return text


def _scale(axes: Axes, buckets: pd.Series) -> None:
    """Set the scales that all panels share."""
    axes.set(xscale="log", yscale="log")
    axes.set_xlim(2.0 ** (buckets.min() - 1), 2.0 ** (buckets.max() + 2))
    axes.set_ylim(LOWEST_PERCENT, 1e4)
    axes.xaxis.set_major_locator(FixedLocator(list(NAMED_NS)))
    axes.xaxis.set_major_formatter(lambda ns, _: NAMED_NS.get(ns, ""))
    axes.xaxis.set_minor_locator(FixedLocator([10.0**n for n in range(13)]))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_locator(FixedLocator([1e-2, 1, 100]))
    axes.yaxis.set_major_formatter(lambda percent, _: f"{percent:g}")
    axes.yaxis.set_minor_locator(FixedLocator([]))
