"""Figures 3a to 6b: throughput or efficiency of every file system and option of a workload."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fsgreen import stats
from fsgreen.analysis.cells import steady
from fsgreen.analysis.configuration import configuration
from fsgreen.analysis.scatter import TREATMENTS, Scatters, sample
from fsgreen.confounds import Gate
from fsgreen.design import Cell
from fsgreen.figures import (
    empty,
    flag,
    in_order,
    intervals_of,
    look_of,
    modelled,
    new,
    note,
    styled,
)
from fsgreen.figures.style import BEHIND_WORDS, UNCORRECTED
from fsgreen.papers.fast10.elsewhere import SIGN, Elsewhere
from fsgreen.reduce import factors_of

REFERENCES = ("xfs", "ext3", "ext2")
"""File systems that both fast10 and today's kernels have.

The study's baseline is 1 if it is one of them; else the first that the campaign has, because no
published value has a ratio to the baseline.
"""

ELSEWHERE = (
    f"{SIGN}: in another state than fast10's claims ask for, so not as the print (rule 45); "
    "hollow: it, or the reference, is"
)

UNITS = {
    ("throughput", True): ("throughput_ops_s", "ops_s", 1000.0, "throughput (1000 ops/s)"),
    ("throughput", False): ("throughput_ops_s", "ops_s", 1.0, "throughput (ops/s)"),
    ("efficiency", True): ("efficiency_ops_j", "ops_j", 1.0, "efficiency (ops/J{})"),
    ("efficiency", False): ("efficiency_ops_j", "ops_j", 0.001, "efficiency (ops/kJ{})"),
}
"""Column, suffix, divisor and label by metric and whether it is the web server, as in fast10."""


@styled
def configurations(
    cells: pd.DataFrame,
    scatters: Scatters,
    published: pd.DataFrame,
    workload: str,
    metric: str,
    baseline: str,
    gate: Gate | None = None,
    apart: Elsewhere = frozenset(),
) -> Figure:
    """Return absolute values with intervals, and below them ratios beside the published ones.

    `cells` is the table `cells.csv`. `scatters` are the trials, of which ratios are taken block by
    block, and how far they scatter. `published` has the published bars: file_system, option, value,
    low, high, doubtful. The metric is `throughput` or `efficiency`. `baseline` is the file system
    that the study compares others with, and `gate` marks ratios that a confound may have made.
    The cells `apart`, which `elsewhere` returns, have a sign, and their ratios are hollow.
    """
    column, suffix, divisor, label = UNITS[metric, workload == "webserver"]
    ours = cells[(cells["workload"] == workload) & cells["load_ops_s"].isna()]
    bars = _rows(ours, published, column, suffix)
    bars["elsewhere"] = [(workload, *key) in apart for key in _keys(bars)]
    figure = new(3.8)
    if ours.empty:
        return empty(figure, f"This campaign has no cells of {workload}.")
    boundary = ours["boundary"].iloc[0]
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    _absolute(top, bars, divisor)
    top.set(ylabel=label.format(f", {boundary}"), title=f"{workload}: this campaign")
    if metric == "efficiency":
        modelled(top, boundary)
    ratios = _ratios(bars, scatters, workload, metric, baseline)
    _relative(bottom, ratios, _flagged(ratios, ours, gate))
    names = [_name(row) for row in bars.to_dict("records")]
    bottom.set_xticks(range(len(bars)), names, rotation=45, ha="right", rotation_mode="anchor")
    bottom.set_xlim(-0.6, len(bars) - 0.4)
    missing = len(published) - published.merge(ours, on=["file_system", "option"]).shape[0]
    parts = [
        _small_print(bars, ratios),
        f"{missing} of fast10's {len(published)} configurations not run",
        _reference_told(baseline, ratios),
        ELSEWHERE if bars["elsewhere"].any() else "",
    ]
    note(figure, "; ".join(filter(None, parts)))
    return figure


def _small_print(bars: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Return which values have intervals: that of a ratio takes more blocks than a value's own."""
    of_values = intervals_of(bars["ours_low"], bars["n"], "trial")
    said = of_values + (" (*: may be too narrow)" if bars["starred"].eq(True).any() else "")
    compared = ratios[ratios["ours"].notna()]
    if len(compared) < 2:
        return said
    others = compared[~compared["is_base"]]
    of_ratios = intervals_of(others["ours_low"], others["n"])
    alike = of_ratios.partition(":")[0] == of_values.partition(":")[0]
    told = said if alike else f"{said} (ratios: {of_ratios})"
    return f"{told}; those of ratios {UNCORRECTED}" if others["ours_low"].notna().any() else told


def _reference_told(baseline: str, ratios: pd.DataFrame) -> str:
    """Return what ratios are to, where that is not the baseline of the study."""
    if ratios.empty or (reference := ratios["reference"].iloc[0]) == baseline:
        return ""
    one, other = look_of(reference).name, look_of(baseline).name
    return f"ratios to {one}, which fast10 measured, too; the baseline of the study is {other}"


def _rows(ours: pd.DataFrame, published: pd.DataFrame, column: str, suffix: str) -> pd.DataFrame:
    """Return a row per configuration shown: all of ours, and the published defaults."""
    stem = column.removesuffix(f"_{suffix}")
    mine = pd.DataFrame(
        {
            "file_system": ours["file_system"],
            "option": ours["option"],
            "ours": ours[column],
            "ours_low": ours[f"{stem}_low_{suffix}"],
            "ours_high": ours[f"{stem}_high_{suffix}"],
            "n": ours["n"],
            "starred": ours["starred"] & (stem == "throughput"),
            "unsteady": ~steady(ours, stem),
        }
    )
    both = mine.merge(published, on=["file_system", "option"], how="outer")
    both = both[both["ours"].notna() | (both["option"] == "default")]
    order = {name: place for place, name in enumerate(in_order(both["file_system"]))}
    key = both["file_system"].map(order) + 0.5 * (both["option"] != "default")
    return both.assign(key=key).sort_values(["key", "option"]).reset_index(drop=True)


def _absolute(axes: Axes, bars: pd.DataFrame, divisor: float) -> None:
    for index, row in enumerate(bars.to_dict("records")):
        if pd.isna(row["ours"]):
            reason = "n/a" if row["file_system"] == "reiserfs" else "not run"
            _from_the_axis(axes, index, reason)
            continue
        if row["unsteady"]:
            _from_the_axis(axes, index, "no steady state")
        mark = "*" if row["starred"] and not row["unsteady"] else ""
        top = np.nanmax([row["ours"], row["ours_high"]]) / divisor
        axes.annotate(
            mark,
            (index, top),
            xytext=(0, 1),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=6.5,
        )
        axes.bar(
            index,
            row["ours"] / divisor,
            yerr=_error(row, "ours", divisor),
            color="none" if row["unsteady"] else look_of(row["file_system"]).colour,
            hatch=look_of(row["file_system"]).hatch,
            edgecolor="black",
            linewidth=0.5,
            width=0.75,
            error_kw={"linewidth": 0.9},
        )
    axes.set_ylim(0, 1.18 * np.nanmax(bars[["ours", "ours_high"]].to_numpy()) / divisor)


def _from_the_axis(axes: Axes, place: int, words: str) -> None:
    """Write upwards from the axis, which the words do not touch."""
    axes.annotate(
        words,
        (place, 0),
        xytext=(0, 3),
        textcoords="offset points",
        rotation=90,
        ha="center",
        va="bottom",
        fontsize=6.5,
        bbox=BEHIND_WORDS,
    )


def _ratios(
    bars: pd.DataFrame, scatters: Scatters, workload: str, metric: str, baseline: str
) -> pd.DataFrame:
    """Return bars with ratios to one default file system, ours with an interval of the ratio."""
    have = set(bars[bars["ours"].notna() & (bars["option"] == "default")]["file_system"])
    ranked = sorted(REFERENCES, key=lambda name: name != baseline)
    reference = next((name for name in ranked if name in have), None)
    if reference is None:
        return bars.iloc[:0]
    one, trials = configuration(reference), scatters.trials
    base = sample(trials, workload, one, metric)
    configs = (Cell(**row) for row in bars[[*TREATMENTS]].to_dict("records"))
    ours = [
        stats.effect(
            sample(trials, workload, config, metric),
            base,
            # The bar that others are compared with is 1, without an error.
            scatters.of(workload, metric, config, one) if config != one else None,
        )
        for config in configs
    ]
    is_base = (bars["file_system"] == reference) & (bars["option"] == "default")
    printed = bars[["value", "low", "high"]] / bars[is_base]["value"].iloc[0]
    return bars.assign(
        reference=reference,
        is_base=is_base,
        ours=[estimate.value for estimate in ours],
        ours_low=[estimate.low for estimate in ours],
        ours_high=[estimate.high for estimate in ours],
        n=[estimate.n for estimate in ours],
        **printed,
    )


def _flagged(bars: pd.DataFrame, ours: pd.DataFrame, gate: Gate | None) -> list[int]:
    """Return the places of the bars whose ratio a confound may have made."""
    if gate is None or bars.empty:
        return []
    cells = {
        (row["file_system"], row["option"]): {name: row[name] for name in factors_of(ours)}
        for row in ours.to_dict("records")
    }
    base = cells[bars["reference"].iloc[0], "default"]
    rows = bars[bars["ours"].notna()].to_dict("index")
    return [
        int(place)
        for place, row in rows.items()
        if gate.rule(
            cells[row["file_system"], row["option"]],
            base,
            TREATMENTS,
            stats.Estimate(row["ours"], row["ours_low"], row["ours_high"], 0),
        ).state
        == "flagged"
    ]


def _relative(axes: Axes, bars: pd.DataFrame, flagged: Sequence[int]) -> None:
    """Draw ours and the published values as ratios to the same configuration."""
    if bars.empty:
        text = "no default file system of fast10 in this campaign to compare with"
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center")
        return
    base_elsewhere = bars[bars["is_base"]]["elsewhere"].any()
    for index, row in enumerate(bars.to_dict("records")):
        if pd.notna(row["value"]):
            axes.errorbar(
                index + 0.17,
                row["value"],
                yerr=_error(row, "value", 1, "low", "high"),
                marker="D",
                markersize=4,
                color="black",
                markerfacecolor="white",
                linewidth=0.9,
                alpha=0.6 if row["doubtful"] else 1.0,
                linestyle="none",
            )
        if pd.notna(row["ours"]):
            axes.errorbar(
                index - 0.17,
                row["ours"],
                yerr=_error(row, "ours", 1),
                marker="o",
                markersize=4.5,
                color=look_of(row["file_system"]).colour,
                markerfacecolor="white" if row["elsewhere"] or base_elsewhere else None,
                linewidth=0.9,
                linestyle="none",
            )
    axes.axhline(1, color="black", linewidth=0.6, linestyle=":")
    axes.set_ylabel(f"relative to\n{look_of(bars['reference'].iloc[0]).name} default")
    axes.set_ylim(0, 1.12 * axes.get_ylim()[1])
    tops = bars["ours_high"].fillna(bars["ours"])
    flag(axes, [(place - 0.17, tops[place]) for place in flagged])
    axes.plot([], [], "o", color="black", markersize=4.5, label="this campaign")
    axes.plot([], [], "D", color="black", markerfacecolor="white", markersize=4, label="published")
    axes.legend(loc="upper left", ncols=3, bbox_to_anchor=(0, 1.22), borderaxespad=0)


def _error(
    row: dict[str, Any], centre: str, divisor: float, low: str = "", high: str = ""
) -> list[list[float]]:
    """Return the arms of an error bar; NaN, where there is no interval, draws none."""
    below = row[centre] - row[low or f"{centre}_low"]
    above = row[high or f"{centre}_high"] - row[centre]
    return [[below / divisor], [above / divisor]]


def _name(row: dict[str, Any]) -> str:
    name = look_of(row["file_system"]).name
    sign = f" {SIGN}" if row["elsewhere"] else ""
    return f"{name}{sign}" if row["option"] == "default" else f"{name} {row['option']}{sign}"


def _keys(bars: pd.DataFrame) -> Iterator[tuple[str, str]]:
    yield from bars[[*TREATMENTS]].itertuples(index=False, name=None)
