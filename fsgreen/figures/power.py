"""The power that a file holds, over its own clock: what is flagged, and what the energy is of."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from fsgreen.figures.style import UNDATED, modelled, new, note, styled
from fsgreen.meters import Imported
from fsgreen.trace import REMARKS, MeterEnergy

POWER, FLAGGED = "#0072B2", "#D55E00"
MOST_POINTS = 4000
"""More readings are drawn as the least and the most of each part of the width."""


@styled
def power_picture(imported: Imported, said: MeterEnergy, span: tuple[float, float]) -> Figure:
    """Return power over time, flagged readings marked, and shaded what the energy is not of."""
    figure = new(2.8)
    axes = figure.add_subplot()
    readings = imported.readings
    since_s = readings.time_s - readings.time_s[0]
    unit, size_s = next(u for u in UNITS if since_s[-1] >= u[2] * u[1])[:2]
    axes.plot(*thinned(since_s / size_s, readings.power_w), color=POWER, linewidth=0.8)
    places = [p for p, flag in readings.flags.items() if set(flag.split("|")) - REMARKS]
    height_w = np.nan_to_num(readings.power_w[places], nan=float(np.nanmin(readings.power_w)))
    if places:
        axes.plot(
            since_s[places] / size_s,
            height_w,
            linestyle="none",
            marker="x",
            markersize=4,
            color=FLAGGED,
            label=f"{len(places)} flagged readings",
        )
        axes.legend(loc="upper left")
    first_s, last_s = readings.time_s[[0, -1]]
    for begin_s, end_s in ((first_s, span[0]), (span[1], last_s)):
        if end_s > begin_s:
            axes.axvspan((begin_s - first_s) / size_s, (end_s - first_s) / size_s, color="#EEEEEE")
    axes.set_xlabel(f"time since the first reading ({unit})")
    axes.set_ylabel("power (W)")
    axes.set_title(_title(said))
    modelled(axes, imported.info.boundary)
    info = imported.info
    note(
        figure,
        f"{info.title}, boundary {info.boundary}, error "
        f"{100 * info.gain_error:g} % and {info.constant_error_w:g} W",
    )
    return figure


UNITS = (("h", 3600.0, 3.0), ("min", 60.0, 5.0), ("s", 1.0, 0.0))
"""A unit of time, its seconds, and from how many of it on it is used."""


def save_as(figure: Figure, file: Path) -> None:
    """Write a figure in the form of the ending of a name, whatever stands behind it."""
    kind = "svg" if ".svg" in file.suffixes else "png"
    figure.savefig(file, format=kind, metadata=UNDATED[kind])


def _title(said: MeterEnergy) -> str:
    if math.isnan(said.energy_j):
        return "no energy: " + "; ".join(flaw.name for flaw in said.flaws)
    flaws = f"; flawed: {', '.join(flaw.name for flaw in said.flaws)}" if said.flaws else ""
    return f"{said.energy_j:.5g} J within {said.budget.total_j:.3g} J, {said.power_w:.4g} W" + flaws


def thinned(time: np.ndarray, power_w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return few points that look like all: the least and the most of each part."""
    if len(time) <= MOST_POINTS:
        return time, power_w
    starts = np.linspace(0, len(time), MOST_POINTS // 2, endpoint=False).astype(int)
    least, most = (take.reduceat(power_w, starts) for take in (np.minimum, np.maximum))
    return np.repeat(time[starts], 2), np.column_stack((least, most)).ravel()
