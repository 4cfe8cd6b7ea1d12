"""An imported campaign: runs that other programs measured, kept as they came, as its trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import design, paths
from fsgreen.design import Study, factors
from fsgreen.design.begun import read_identity, read_plan
from fsgreen.design.imported import study_of_runs
from fsgreen.errors import FsgreenError
from fsgreen.reduce.latency import QUANTILES
from fsgreen.reduce.power_over_time import COLUMNS as OVER_TIME
from fsgreen.reduce.rows import CPU_STATES, ERROR_TERMS, LATENCIES
from fsgreen.reduce.state import STATE_COLUMNS
from fsgreen.reduce.tables import read_csv, write_table
from fsgreen.stats import classify_series
from fsgreen.trial import sha256_of

RUNS = "runs.csv"
"""The runs of an imported campaign, as they were read from its files."""

COLUMNS = (
    *("campaign", "trial", "block", "order", "started_s", *factors.names(), "boundary"),
    *("duration_s", "work_ops", "throughput_ops_s", "bandwidth_b_s", "read_b", "write_b"),
    *("device_read_b", "device_write_b", "energy_j", "power_w", "idle_power_w"),
    *("idle_power_before_w", "idle_power_after_w", "energy_above_idle_j", "efficiency_ops_j"),
    *(f"cpu_{state}_percent" for state in CPU_STATES),
    *(*LATENCIES, "flush_duration_s", *STATE_COLUMNS, "dirty_before_flush_b"),
    *("dirty_after_flush_b", "steady", "steady_power"),
    *(f"error_{term}_j" for term in ERROR_TERMS),
    *("harness_cpu_percent", "settle_s"),
)
"""Those of `trials.csv`, empty where an import knows nothing of them."""

OTHERS = {
    "series": ("trial", "time_s", "throughput_ops_s", "power_w"),
    "latency": (*factors.names(), "flowop", "operation", "work_ops", *QUANTILES),
    "finishes": ("trial", "rank", "ended_s"),
    "power_over_time": OVER_TIME,
}
"""Tables of what goes on inside a trial, of which an import knows nothing."""


def is_imported(campaign: str) -> bool:
    """Return whether other programs measured a campaign."""
    return "imported" in read_identity(campaign)


def read_study(campaign: str) -> Study:
    """Return the study of a campaign: its file of today, or what imported runs make of it.

    Raises FsgreenError if there is no such campaign, or the study's file is gone or unsound.
    """
    plan, imported = read_plan(campaign), read_identity(campaign).get("imported")
    if imported is None:
        return design.load_study(plan.study)
    known = read_csv(paths.raw(campaign) / RUNS).dropna(axis="columns", how="all").columns
    files = len(imported["files"])
    question = (
        f"{len(plan.trials)} runs from {files} file{'s' if files > 1 else ''}, "
        f"imported: {imported['format']}."
    )
    return study_of_runs(plan, imported["title"], question, known)


def altered_files(campaign: str) -> list[str]:
    """Return the kept files of an imported campaign that are not what was imported."""
    folder = paths.raw(campaign)
    return [
        f"{entry['kept']}: {why}"
        for entry in read_identity(campaign)["imported"]["files"]
        if (why := _fault(folder / entry["kept"], entry["sha256"]))
    ]


def _fault(file: Path, sha256: str) -> str:
    if not file.is_file():
        return "it is gone"
    return "" if sha256_of(file) == sha256 else "its hash is not the one recorded"


def write_imported(campaign: str) -> None:
    """Write `trials.csv` with a row per run, and the tables of what is inside trials, empty.

    Raises FsgreenError if a file is not the one that was imported.
    """
    if altered := altered_files(campaign):
        raise FsgreenError(
            f"files changed since they were imported: {'; '.join(altered)}",
            where=paths.raw(campaign),
            next_step="bring them back, or import them again under another --name",
        )
    plan = read_plan(campaign)
    runs = read_csv(paths.raw(campaign) / RUNS).set_index("trial")
    rows = [
        {"trial": planned.trial, **plan.levels(planned.cell), **_values(runs, planned.trial)}
        for planned in plan.trials
    ]
    table = pd.DataFrame(rows).assign(
        campaign=campaign,
        boundary=read_identity(campaign)["boundary"],
        steady=classify_series([]),
        steady_power=classify_series([]),
    )
    write_table(table.reindex(columns=list(COLUMNS)), campaign, "trials")
    for name, columns in OTHERS.items():
        write_table(pd.DataFrame(columns=list(columns)), campaign, name)


def _values(runs: pd.DataFrame, trial: str) -> dict[str, Any]:
    """Return the quantities of a run, and its block if one is known; levels are of the plan."""
    values = {str(name): value for name, value in runs.loc[trial].items()}
    return {name: value for name, value in values.items() if name not in factors.names()}
