"""An imported campaign: runs that other programs measured, kept as they came, as its trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import design, paths
from fsgreen.design import Study, columns, factors
from fsgreen.design.begun import read_identity, read_plan
from fsgreen.design.imported import study_of_runs
from fsgreen.errors import FsgreenError
from fsgreen.reduce.tables import read_csv, write_table
from fsgreen.stats import classify_series
from fsgreen.trial import sha256_of

RUNS = "runs.csv"
"""The runs of an imported campaign, as they were read from its files."""

COLUMNS = (*columns.ABOUT, *factors.names(), *columns.MEASURED)
"""Those of `trials.csv`, empty where an import knows nothing of them."""

OTHERS = {
    "series": columns.SERIES,
    "latency": (*factors.names(), *columns.LATENCY),
    "finishes": columns.FINISHES,
    "power_over_time": columns.POWER_OVER_TIME,
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
    for name, of_table in OTHERS.items():
        write_table(pd.DataFrame(columns=list(of_table)), campaign, name)


def _values(runs: pd.DataFrame, trial: str) -> dict[str, Any]:
    """Return the quantities of a run, and its block if one is known; levels are of the plan."""
    values = {str(name): value for name, value in runs.loc[trial].items()}
    return {name: value for name, value in values.items() if name not in factors.names()}
