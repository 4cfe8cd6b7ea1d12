"""Figures 1 to 9 of massie25, and what xfs makes of more allocation groups."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from fsgreen import paths
from fsgreen.analysis.tables import as_shown
from fsgreen.figures import (
    empty,
    intervals_of,
    keep_common,
    keeper,
    marks_by_level,
    modelled,
    new,
    note,
    styled,
)
from fsgreen.papers.massie25.reference import MIXES, PATTERNS, PROCESSES, REQUESTS_KIB, THREADS
from fsgreen.papers.massie25.tables import write_tables
from fsgreen.reduce import at, read_table

PANELS = (
    ("throughput", "ops_s", "thousand {}s a second", 1000.0),
    ("power", "w", "watts", 1.0),
    ("efficiency", "ops_j", "{}s per joule", 1.0),
)
PATTERN_NAMES = {pattern: pattern for pattern in PATTERNS}
MIX_NAMES = {mix: mix.upper() for mix in MIXES}
GROUPS = "agcnt"

LEVELS: Mapping[str, Mapping[str, Any]] = {
    **{
        f"fig{number}": {"request_kib": request_kib, "processes": processes}
        for number, (request_kib, processes) in enumerate(product(REQUESTS_KIB, PROCESSES), start=1)
    },
    **{f"fig{number}": {"threads": threads} for number, threads in enumerate(THREADS, start=7)},
}
"""What the cells of figures 1 to 9 have in common, by the name of the figure."""


def write(campaign: str) -> Path:
    """Write figures 1 to 9, that of the allocation groups, and all tables; return their folder."""
    cells, keep = as_shown(read_table(campaign, "cells")), keeper(campaign)
    for name, levels in LEVELS.items():
        by_level = by_mix if "threads" in levels else by_pattern
        keep(by_level(cells, **levels), name)
    keep(by_groups(cells), "fig_groups")
    keep_common(campaign)
    write_tables(campaign, cells)
    return paths.results(campaign) / "figures"


@styled
def by_pattern(cells: pd.DataFrame, request_kib: int, processes: int) -> Figure:
    """Return performance, power and efficiency of each file system by pattern.

    The figure has requests of `request_kib` KiB, and `processes` processes.
    """
    levels = {"option": "noatime", "request_kib": request_kib, "processes": processes}
    chosen = cells[at(cells, levels)]
    missing = f"No cell has {processes} processes with {request_kib} KiB."
    return _panels(chosen, "pattern", PATTERN_NAMES, "request", missing)


@styled
def by_mix(cells: pd.DataFrame, threads: int) -> Figure:
    """Return performance, power and efficiency of RocksDB on each file system by YCSB's workload.

    The figure has `threads` threads of YCSB's client.
    """
    if "threads" not in cells:
        return empty(new(1.2), "This campaign has no trials of RocksDB.")
    chosen = cells[at(cells, {"option": "noatime", "threads": threads})]
    missing = f"No cell has {threads} threads on RocksDB."
    return _panels(chosen, "mix", MIX_NAMES, "operation", missing)


def _panels(
    chosen: pd.DataFrame, factor: str, names: dict[str, str], counted: str, missing: str
) -> Figure:
    """Return a panel each for performance, power and efficiency, or what is missing."""
    if chosen.empty:
        return empty(new(1.2), missing)
    figure = new(2.5)
    for axes, (metric, unit, title, scale) in zip(figure.subplots(1, 3), PANELS, strict=True):
        marks_by_level(axes, chosen, factor, names, (metric, unit), scale)
        axes.set_title(title.format(counted))
        if metric != "throughput":
            modelled(axes, str(chosen["boundary"].iloc[0]))
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    lows = pd.concat([chosen[f"{metric}_low_{unit}"] for metric, unit, _, _ in PANELS])
    not_here = "the paper's bars have numbers that are not in our reference data"
    note(figure, f"{intervals_of(lows, chosen['n'], 'trial')}; {not_here}")
    return figure


@styled
def by_groups(cells: pd.DataFrame) -> Figure:
    """Return throughput of random 4 KiB writes by xfs's allocation groups, a line per writers."""
    chosen = _of_groups(cells)
    if chosen["groups"].nunique() < 2:
        return empty(new(1.2), "No cells of this campaign differ in allocation groups.")
    figure = new(2.8)
    axes = figure.subplots()
    for processes, line in chosen.sort_values("groups").groupby("processes"):
        value, low, high = (line[f"throughput{end}_ops_s"] / 1000 for end in ("", "_low", "_high"))
        axes.errorbar(
            line["groups"],
            value,
            [value - low.clip(lower=0), high - value],
            marker="o",
            markersize=4,
            label=f"{processes:g} writers",
        )
    axes.set_xscale("log", base=2)
    counts = sorted(chosen["groups"].unique())
    axes.set_xticks(counts, [f"{count:g}" for count in counts])
    axes.set(xlabel="allocation groups", ylabel="thousand writes a second", ylim=(0, None))
    axes.legend()
    intervals = intervals_of(chosen["throughput_low_ops_s"], chosen["n"], "trial")
    note(figure, f"random writes of 4 KiB to one file; {intervals}")
    return figure


def with_cells(cells: pd.DataFrame) -> list[str]:
    """Return the names of the figures that a campaign has cells for."""
    names = [name for name, levels in LEVELS.items() if at(cells, levels).any()]
    return [*names, *(["fig_groups"] if _of_groups(cells)["groups"].nunique() > 1 else [])]


def _of_groups(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of random 4 KiB writes on xfs, with their `groups`."""
    levels = {"file_system": "xfs", "pattern": "randwrite", "request_kib": 4}
    chosen = cells[at(cells, levels)]
    return chosen.assign(groups=[groups_count(option) for option in chosen["option"]])


DEFAULT_GROUPS = 4
"""What mkfs.xfs makes of a device that says nothing of itself, up to 4 TiB."""


def groups_count(option: str) -> int:
    """Return the allocation groups of an option such as `noatime+agcnt8`."""
    named = [part for part in option.split("+") if part.startswith(GROUPS)]
    return int(named[0].removeprefix(GROUPS)) if named else DEFAULT_GROUPS
