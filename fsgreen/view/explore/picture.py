"""A chart as a figure in the common style, for a page or a slide."""

from __future__ import annotations

import math
import textwrap
from functools import singledispatch

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen.figures.style import GREY, new, note, roomy, styled
from fsgreen.view.explore.chart import Line, Panel, Panels, Row, Rows

ROW_IN = 0.24
PANEL_IN = 1.35
LETTERS = 110
"""A line of small print."""


@styled
def draw(chart: Rows | Panels, says: str) -> Figure:
    """Return the figure of a chart, with what it says below it."""
    figure = _drawn(chart)
    note(figure, "\n".join(textwrap.wrap(says, LETTERS)))
    return figure


@singledispatch
def _drawn(chart: Rows | Panels) -> Figure:
    raise TypeError(chart)


@_drawn.register
def _rows(chart: Rows) -> Figure:
    figure = roomy(new(1.3 + ROW_IN * len(chart.rows)))
    axes = figure.add_subplot()
    low, high = chart.span
    axes.set(xlim=(low, high), ylim=(len(chart.rows) - 0.4, -0.6))
    axes.set_xscale("linear" if chart.bars else "log")
    for place, row in enumerate(chart.rows):
        _row(axes, place, row, bars=chart.bars)
    if not chart.bars:
        axes.axvline(1, color="black", linewidth=0.6)
    axes.set_xticks(*zip(*chart.ticks, strict=True)) if chart.ticks else axes.set_xticks([])
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(chart.rows)), [_short(row.name) for row in chart.rows])
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("\n".join(textwrap.wrap(chart.axis, 50)))
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    for place, row in enumerate(chart.rows):
        axes.annotate(
            _short(row.says),
            (1.01, place),
            xycoords=("axes fraction", "data"),
            va="center",
            size=6.5,
        )
    _mark(axes, chart.mark)
    return figure


@_drawn.register
def _panels(chart: Panels) -> Figure:
    figure = new(0.9 + PANEL_IN * len(chart.panels))
    panels = figure.subplots(len(chart.panels), sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(panels, chart.panels, strict=True):
        _panel(axes, panel)
        for nth, (name, begin, end) in enumerate(chart.phases):
            shade = 0.12 if name == "measure" else 0.05 * (nth % 2)
            axes.axvspan(begin, end, color="black", alpha=shade, linewidth=0)
            if axes is panels[0] and end - begin > 0.06 * (chart.span[1] - chart.span[0]):
                axes.text(begin, 1.0, f" {name}", transform=axes.get_xaxis_transform(), va="top")
    last = panels[-1]
    last.set(xlabel=chart.axis, xlim=chart.span)
    if chart.log:
        last.set_xscale("log")
    last.set_xticks([place for place, _ in chart.ticks], [label for _, label in chart.ticks])
    last.set_xticks([], minor=True)
    return figure


def _row(axes: Axes, place: int, row: Row, *, bars: bool) -> None:
    if row.band is not None:
        low, high = (min(end, axes.get_xlim()[1]) for end in row.band)
        axes.fill_betweenx([place - 0.5, place + 0.5], low, high, color="#E0E0E0", linewidth=0)
    if not math.isfinite(row.value):
        return
    if bars:
        axes.barh(place, row.value, height=0.6, color=row.colour, edgecolor="black", linewidth=0.6)
    known = math.isfinite(row.low) and math.isfinite(row.high)
    ends = [[row.value - row.low], [row.high - row.value]] if known else None
    axes.errorbar(
        row.value,
        place,
        xerr=ends,
        color="black" if bars else row.colour,
        marker="" if bars else "o",
        markersize=5,
        markerfacecolor=row.colour if row.filled else "white",
        linestyle="none",
    )


def _panel(axes: Axes, panel: Panel) -> None:
    for line in panel.lines:
        _line(axes, line)
    axes.set(ylim=panel.span)
    axes.set_title(panel.axis)
    axes.set_yticks([place for place, _ in panel.ticks], [label for _, label in panel.ticks])
    if any(line.name for line in panel.lines):
        axes.legend(loc="center right")
    _mark(axes, panel.mark)


def _line(axes: Axes, line: Line) -> None:
    dots = line.kind == "dots"
    axes.plot(
        line.x,
        line.y,
        color=line.colour,
        linewidth=1,
        linestyle="none" if dots else (0, tuple(line.dash)) if line.dash else "-",
        marker="o" if dots else "",
        markersize=5,
        drawstyle="steps-post" if line.kind == "steps" else "default",
        label=line.name or "_",
    )


def _mark(axes: Axes, words: str) -> None:
    if words:
        axes.set_title(words, loc="right", style="italic", size=7, color=GREY)


def _short(words: str) -> str:
    return textwrap.shorten(words, 60, placeholder=" ...")
