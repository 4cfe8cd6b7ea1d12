"""The static picture: what the live view saw, for a saved notebook and for those without one."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen.figures import style
from fsgreen.figures.style import GREY, empty, modelled, new, note, styled
from fsgreen.view.frames import Frame, Frames
from fsgreen.view.look import boundary_note, series_of
from fsgreen.view.source import Source
from fsgreen.view.window import FLAGGED, HIGHEST, LOWEST

COLUMNS = 1200
"""More than a page or a notebook has pixels."""

HEADROOM = 0.12
"""What the names of the phases take of the height."""


@styled
def draw(source: Source) -> Figure:
    """Return a figure of all that a source has so far: power, work if any, and phases."""
    frames = Frames(source)
    end_s = max(source.now_s() - frames.zero_s, 1e-3)
    frames.show(0.0, end_s * (1 + 1e-9), COLUMNS)
    frame = frames.next()
    *power, work = frame.layers[HIGHEST]
    if not np.isfinite(power).any():
        return empty(new(2.0), "No meter has given a reading yet.")
    works = bool(np.isfinite(work).any())
    figure = new(3.4 if works else 2.6)
    panels = figure.subplots(
        2 if works else 1, sharex=True, squeeze=False, height_ratios=(2, 1) if works else None
    )[:, 0]
    _draw_power(panels[0], source, frame)
    if works:
        _draw_work(panels[1], frame)
    for axes in panels:
        _shade_phases(axes, frame, end_s, named=axes is panels[0])
    panels[-1].set(xlabel="time since the first reading (s)", xlim=(0, end_s))
    width_s = frame.about["width_s"]
    flags = frame.about["flags"]
    note(
        figure,
        f"Shaded from the lowest to the highest reading in each {width_s:.3g} s."
        + (f" Crosses: flagged readings ({', '.join(flags)})." if flags else ""),
    )
    return figure


def png(source: Source) -> bytes:
    """Return the figure of `draw` as PNG."""
    return style.png(draw(source))


def _times_s(frame: Frame) -> np.ndarray:
    """Return the middle of each column."""
    columns = frame.layers.shape[2]
    return frame.about["start_s"] + (np.arange(columns) + 0.5) * frame.about["width_s"]


def _draw_power(axes: Axes, source: Source, frame: Frame) -> None:
    time_s = _times_s(frame)
    for nth, series in enumerate(series_of(source.meters)):
        lowest, highest = frame.layers[LOWEST, nth], frame.layers[HIGHEST, nth]
        there = np.isfinite(highest)
        # A gap in the readings is a gap in the line.
        reach_s = max(1.5 * series["interval_s"], 1.5 * frame.about["width_s"])
        breaks = np.flatnonzero(np.diff(time_s[there]) > reach_s) + 1
        at_s, low_w, high_w = (
            np.insert(values[there].astype(float), breaks, np.nan)
            for values in (time_s, lowest, highest)
        )
        colour, dash = series["colour"], tuple(series["dash"])
        axes.fill_between(at_s, low_w, high_w, color=colour, alpha=0.35, linewidth=0)
        axes.plot(
            at_s,
            high_w,
            color=colour,
            linewidth=0.9,
            linestyle=(0, dash) if dash else "-",
            marker="." if there.sum() < COLUMNS / 12 else None,
            markersize=3,
            label=f"{series['name']} ({series['boundary']})",
        )
    flagged = frame.layers[FLAGGED].any(axis=0)
    axes.plot(
        time_s[flagged],
        np.full(flagged.sum(), 0.02),
        "x",
        transform=axes.get_xaxis_transform(),
        color="black",
        markersize=4,
    )
    axes.set_ylabel("power (W)")
    bottom_w, top_w = axes.get_ylim()
    axes.set_ylim(bottom_w, top_w + HEADROOM * (top_w - bottom_w))
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(source.meters))
    modelled(axes, boundary_note(source.meters), side="left")


def _draw_work(axes: Axes, frame: Frame) -> None:
    highest = frame.layers[HIGHEST, -1]
    there = np.isfinite(highest)
    axes.plot(_times_s(frame)[there], highest[there], color="black", linewidth=0.9)
    axes.set_ylabel("work (ops/s)")
    axes.set_ylim(bottom=0)


def _shade_phases(axes: Axes, frame: Frame, end_s: float, *, named: bool) -> None:
    for nth, (name, from_s, to_s) in enumerate(frame.about["phases"]):
        to_s = end_s if to_s is None else min(to_s, end_s)
        axes.axvspan(from_s, to_s, color=GREY, alpha=0.06 + 0.1 * (nth % 2), linewidth=0)
        if named:
            axes.text(
                max(from_s, 0.0),
                1.0,
                f" {name}",
                transform=axes.get_xaxis_transform(),
                va="top",
                fontsize=7,
                color=GREY,
                clip_on=True,
            )
