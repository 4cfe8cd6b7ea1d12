"""Result tables as CSV files that are the same bytes on every machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from fsgreen import absence, paths, units
from fsgreen.design import factors
from fsgreen.design.plan import constant_level
from fsgreen.errors import FsgreenError


def write_table(table: pd.DataFrame, campaign: str, name: str) -> Path:
    """Write a table into the results of a campaign, by `write_csv`, and return its file."""
    return write_csv(table, paths.results(campaign) / f"{name}.csv")


def write_csv(table: pd.DataFrame, file: Path) -> Path:
    """Write a table and return its file.

    Floats have seven significant digits, so that the last bits of different library versions do
    not show. Columns without a unit are refused.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    units.check_columns(table, also=factors.names()).to_csv(
        file, index=False, float_format="%.7g", lineterminator="\n", encoding="utf-8"
    )
    return file


def read_table(campaign: str, name: str) -> pd.DataFrame:
    """Read a result table of a campaign. Raises FsgreenError if it has not been made."""
    file = paths.results(campaign) / f"{name}.csv"
    try:
        return read_csv(file)
    except FileNotFoundError:
        if not paths.raw(campaign).is_dir() and not file.parent.is_dir():
            raise absence.unknown_campaign(campaign) from None
        raise FsgreenError(
            f"the table {name} of the campaign '{campaign}' has not been made",
            where=file,
            next_step=absence.made_anew(campaign),
        ) from None
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


@contextmanager
def of_this_version(campaign: str) -> Iterator[None]:
    """Turn the error of a column that older tables lack into one that says what to do."""
    try:
        yield
    except KeyError as error:
        raise FsgreenError(
            f"the tables of the campaign '{campaign}' were made by another version: there is no "
            f"{error}",
            where=paths.results(campaign),
            next_step=absence.made_anew(campaign),
        ) from error


def read_csv(file: Path) -> pd.DataFrame:
    """Read a table; levels that are names stay texts, also where they look like numbers."""
    texts = {known.name: str for known in factors.every() if known.kind == "name"}
    types = {**texts, **{f"baseline_{name}": str for name in texts}}
    return pd.read_csv(file, keep_default_na=False, na_values=[""], dtype=types)


def factors_of(table: pd.DataFrame) -> list[str]:
    """Return the columns that name a cell, in their order.

    An empty one is a factor that the cell has no level of.
    """
    return [name for name in factors.names() if name in table]


def blocks_by_clock(trials: pd.DataFrame) -> pd.Series:
    """Return of each trial the place of its block among all, by when these were measured.

    A block that was measured again stands at the end. Tables without the column `started_s`, or
    with empty ones, have blocks in the order of their numbers.
    """
    known = "started_s" in trials and trials["started_s"].notna().all()
    by = trials["started_s"].groupby(trials["block"]).transform("median") if known else None
    return (trials["block"] if by is None else by).rank(method="dense")


def cell_label(cell: Mapping[str, Any], constants: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Return a cell as people write it: workload, file system, option, and what else it varies.

    Levels that are `constants` of the plan are left out; the cell may lack those not varied.
    """
    named = factors.names(name for name in cell.keys() if pd.notna(cell[name]))  # noqa: SIM118
    return " ".join(
        level_label(name, cell[name])
        for name in named
        if cell[name] != constant_level(factors.get(name), constants)
    )


def level_label(name: str, level: Any) -> str:
    """Return a level as people write it, a number with what it is of.

    Pandas makes whole numbers floats where other cells have none.
    """
    if isinstance(level, float) and level.is_integer():
        level = int(level)
    return factors.get(name).spelling.format(level)


def at(table: pd.DataFrame, levels: Mapping[str, Any]) -> pd.Series:
    """Return which rows of a table have these levels; None is that of an empty or no column."""
    chosen = np.full(len(table), True)
    for factor, level in levels.items():
        if not chosen.any():
            break
        if factor not in table:
            chosen &= level is None
        else:
            chosen &= (
                table[factor].isna().to_numpy() if level is None else _equals(table[factor], level)
            )
    return pd.Series(chosen, index=table.index)


def _equals(column: pd.Series, level: Any) -> Any:
    """Return which values equal a level: a tenth of the time that Pandas takes for small tables."""
    values = column.to_numpy()
    # NumPy compares no number with a text.
    return values == level if values.dtype == object or not isinstance(level, str) else False
