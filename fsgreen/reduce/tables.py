"""Result tables as CSV files that are the same bytes on every machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fsgreen import paths, units
from fsgreen.design import CONSTANTS, FACTORS
from fsgreen.errors import FsgreenError

CELL = list(FACTORS)
"""Columns that name a cell; an empty one is a factor that the cell has no level of: no limit of the
load, the workload's own readers, the testbed's own disk."""

NUMBERS = ["load_ops_s", "readers", "partition", "queue_depth"]
"""Those of them that hold numbers."""

SPELT = {
    "readers": "{:g} readers",
    "disk": "{}",
    "partition": "partition {:g}",
    "queue_depth": "queue {:g}",
}


def write_table(table: pd.DataFrame, campaign: str, name: str) -> Path:
    """Write a table into the results of a campaign and return its file.

    Floats have seven significant digits, so that the last bits of different library versions do
    not show. Columns without a unit are refused.
    """
    file = paths.results(campaign) / f"{name}.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    units.check_columns(table).to_csv(
        file, index=False, float_format="%.7g", lineterminator="\n", encoding="utf-8"
    )
    return file


def read_table(campaign: str, name: str) -> pd.DataFrame:
    """Read a result table of a campaign.

    Raises
    ------
    FsgreenError
        If it has not been made.
    """
    file = paths.results(campaign) / f"{name}.csv"
    try:
        return pd.read_csv(file, keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        raise FsgreenError(
            f"the table {name} of the campaign '{campaign}' has not been made",
            where=file,
            next_step="./run reproduce (shipped data), or "
            f"fsgreen notebook 40_reduce -p campaign {campaign} and those after it",
        ) from None
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


def cell_label(cell: Mapping[str, Any], constants: Mapping[str, Any] = CONSTANTS) -> str:
    """Return a cell as people write it: workload, file system, option, and what else it varies.

    Parameters
    ----------
    cell : mapping
        The columns `CELL` of a table; those that a study does not vary may be left out.
    constants : mapping
        Those of the plan; levels of cache, device and scheduler that are constant are left out.
    """
    parts = [cell["workload"], cell["file_system"], cell["option"]]
    if pd.notna(cell["load_ops_s"]):
        parts.append(f"{cell['load_ops_s']:g} ops/s")
    held = {**CONSTANTS, **constants}
    parts += [cell[factor] for factor in CONSTANTS if cell[factor] != held[factor]]
    parts += [level_label(factor, cell[factor]) for factor in SPELT if pd.notna(cell.get(factor))]
    return " ".join(parts)


def level_label(factor: str, level: Any) -> str:
    """Return a level as people write it, a number with what it is of."""
    return SPELT.get(factor, "{}").format(level)


def at(table: pd.DataFrame, levels: Mapping[str, Any]) -> pd.Series:
    """Return which rows of a table have these levels; None is that of an empty column."""
    chosen = pd.Series(True, index=table.index)
    for factor, level in levels.items():
        chosen &= table[factor].isna() if level is None else table[factor] == level
    return chosen
