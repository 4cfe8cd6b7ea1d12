"""The curves behind the confounds: bandwidth by place on the device, throughput by queue depth."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from fsgreen.figures.style import GREY, empty, new, note, styled


@styled
def offset_curve(curve: pd.DataFrame) -> Figure:
    """Return sequential bandwidth against place on the device.

    Parameters
    ----------
    curve : DataFrame
        The columns `offset_b`, `pass` and `bandwidth_b_s`; may be empty.
    """
    return _curve(
        curve, ("offset_b", 2**20), ("bandwidth_b_s", 2**20), "offset (MiB)", "bandwidth (MiB/s)"
    )


@styled
def queue_curve(curve: pd.DataFrame) -> Figure:
    """Return throughput of random reads against requests in flight.

    Parameters
    ----------
    curve : DataFrame
        The columns `queue_depth`, `pass` and `throughput_ops_s`; may be empty.
    """
    return _curve(
        curve, ("queue_depth", 1), ("throughput_ops_s", 1), "queue depth", "random reads (ops/s)"
    )


def _curve(
    curve: pd.DataFrame, x: tuple[str, float], y: tuple[str, float], x_label: str, y_label: str
) -> Figure:
    figure = new(2.2)
    if curve.empty:
        return empty(figure, f"This testbed has no curve of {y_label} by {x_label}.")
    axes = figure.add_subplot()
    points_x, points_y = curve[x[0]] / x[1], curve[y[0]] / y[1]
    axes.plot(points_x, points_y, "o", color=GREY, markersize=3, alpha=0.6, label="a pass")
    median = (curve[y[0]] / y[1]).groupby(points_x).median()
    axes.plot(median.index, median, color="black", linewidth=1.2, label="median")
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    note(figure, f"{curve['pass'].nunique()} passes, measured on the bare testbed")
    return figure
