"""The figures and tables of a study of one's own."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import paths
from fsgreen.analysis.tables import as_shown, change_text, interval_text, write_all
from fsgreen.design import DEFAULT
from fsgreen.figures import AXES, cell_rows, effect_rows, keep_common, keeper, known_metrics
from fsgreen.reduce import factors_of, is_imported, level_label, read_table
from fsgreen.rules import repeated

METRICS = ("throughput", "efficiency", "power", "bandwidth", "energy", "duration")
"""Metrics by their rank; the table of cells has the first three that are known."""

SHOWN = 3


def write(campaign: str) -> Path:
    """Write a figure for each workload, each kind of comparison and each confound; and two tables.

    Figures are SVG and PNG in `figures/`, tables CSV and TeX in `tables/`. Returns the folder of
    the figures.
    """
    cells, effects = as_shown(read_table(campaign, "cells")), read_table(campaign, "effects")
    keep, varied = keeper(campaign), varied_factors(cells)
    for workload, of_workload in cells.groupby("workload"):
        apart = varied_factors(of_workload)
        names = [cell_name(cell, apart) for cell in of_workload.to_dict("records")]
        if known_metrics(of_workload):
            keep(cell_rows(of_workload, names), figure_name(str(workload)))
    for (kind, metric), of_kind in effects.groupby(["kind", "metric"]):
        keep(effect_rows(of_kind, pair_names(of_kind)), pairs_figure_name(kind, metric))
    keep_common(campaign)
    boundary, texts = str(cells["boundary"].iloc[0]), cells_text(cells, varied)
    if is_imported(campaign):
        texts = texts.drop(columns="steady")
    write_all(
        campaign,
        {
            "cells": (
                f"Every cell with its 95 per cent intervals; efficiency is over {boundary} power",
                texts,
            ),
            "effects": (
                f"Every comparison; efficiency is over {boundary} power"
                f"{repeated.footnote(effects)}",
                effects_text(effects),
            ),
        },
    )
    return paths.results(campaign) / "figures"


def figure_name(workload: str) -> str:
    """Return what the figure of a workload is called, whose name may hold anything."""
    return "fig_" + re.sub(r"[^\w.+-]+", "_", workload)


def pairs_figure_name(kind: str, metric: str) -> str:
    """Return what the figure of the comparisons of a kind is called."""
    return f"fig_{kind.replace(' ', '_')}_{metric}"


def rank_of(metric: str) -> int:
    """Return the place of a metric among others, by `METRICS`."""
    return METRICS.index(metric) if metric in METRICS else len(METRICS)


def varied_factors(cells: pd.DataFrame) -> list[str]:
    """Return the factors, but the workload, of which cells have several levels."""
    return [
        name
        for name in factors_of(cells)
        if name != "workload" and cells[name].nunique(dropna=False) > 1
    ]


def cell_name(cell: Mapping[str, Any], varied: list[str]) -> str:
    """Return what sets a cell apart from others of its workload."""
    levels = [level_label(name, cell[name]) for name in varied if pd.notna(cell[name])]
    return " ".join(levels) or "the only cell"


def pair_names(effects: pd.DataFrame) -> list[str]:
    """Return what each row compares: the workload, what both cells have, and what sets them apart.

    What all cells of a workload have is left out.
    """
    compared = [name for name in factors_of(effects) if f"baseline_{name}" in effects]
    varied = {
        workload: varied_factors(of_workload)
        for workload, of_workload in effects.groupby("workload")
    }
    return [
        _pair_name(row, compared, varied[row["workload"]]) for row in effects.to_dict("records")
    ]


def _pair_name(row: Mapping[str, Any], compared: Sequence[str], varied: Sequence[str]) -> str:
    apart = [name for name in compared if row[name] != row[f"baseline_{name}"]]
    same = [
        level_label(name, row[name])
        for name in varied
        if name not in apart and pd.notna(row[name]) and row[name] != DEFAULT
    ]
    one, other = (
        " ".join(level_label(name, level) for name in apart if pd.notna(level := row[key + name]))
        for key in ("", "baseline_")
    )
    return " ".join([str(row["workload"]), *same, one, "over", _without_begin_of(one, other)])


def _without_begin_of(one: str, other: str) -> str:
    """Return the other from its first word that differs: "128 KiB" of "read-ahead of 128 KiB"."""
    words = other.split()
    pairs = zip(one.split(), words, strict=False)
    alike = itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)
    return " ".join(words[len(list(alike)) :]) or other


def cells_text(cells: pd.DataFrame, varied: list[str]) -> pd.DataFrame:
    """Return cells as a table of texts."""
    return pd.DataFrame(
        [
            {
                "workload": cell["workload"],
                "cell": cell_name(cell, varied),
                "n": cell["n"],
                **{
                    AXES[metric][1]: interval_text(cell, metric, AXES[metric][0])
                    for metric in shown_metrics(cells)
                },
                "steady": cell["state"],
            }
            for cell in cells.to_dict("records")
        ]
    )


def shown_metrics(cells: pd.DataFrame) -> list[str]:
    """Return the metrics of the table of cells."""
    return known_metrics(cells, METRICS, SHOWN)


def any_interval_cut(cells: pd.DataFrame) -> bool:
    """Return whether an interval of the table of cells reached below 0, where nothing can be.

    Student's t takes what it is the interval of for any number. The part that is left has the same
    coverage: the true value is in it as often as in the whole.
    """
    return any((cells[_column(metric, "_low")] < 0).any() for metric in shown_metrics(cells))


def _column(metric: str, end: str = "") -> str:
    return f"{metric}{end}_{AXES[metric][0]}"


def effects_text(effects: pd.DataFrame) -> pd.DataFrame:
    """Return comparisons as a table of texts."""
    columns = ["kind", "comparison", "metric", "n", "change (%)", "outcome", "gate"]
    marks = {"efficiency": repeated.mark_of(effects)}
    return pd.DataFrame(
        [
            {
                "kind": row["kind"],
                "comparison": name,
                "metric": row["metric"] + marks.get(row["metric"], ""),
                "n": row["n"],
                "change (%)": change_text(row),
                "outcome": row["outcome"],
                "gate": row["gate"],
            }
            for row, name in zip(effects.to_dict("records"), pair_names(effects), strict=True)
        ],
        columns=columns,
    )
