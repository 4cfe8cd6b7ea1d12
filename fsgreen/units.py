"""Units stand in names: each numeric column of a table ends in a suffix below. Sizes of units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from fsgreen.errors import FsgreenError

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES: Mapping[str, str] = {
    "_s": "seconds",
    "_ns": "nanoseconds",
    "_hz": "hertz",
    "_w": "watts",
    "_j": "joules",
    "_wh": "watt-hours",
    "_v": "volts",
    "_a": "amperes",
    "_b": "bytes",
    "_mib": "mebibytes",
    "_b_s": "bytes per second",
    "_ops": "operations",
    "_ops_s": "operations per second",
    "_ops_j": "operations per joule",
    "_ops_kj": "operations per kilojoule",
    "_count": "a number of things",
    "_percent": "per cent",
    "_x": "a ratio",
    "_p": "a probability",
}
"""Known suffixes and their meaning. The longest match counts."""

IDENTIFIERS = frozenset(
    {
        "block",
        "order",
        "pass",
        "seed",
        "trial",
        "rank",
        "n",
        "readers",
        "disk",
        "partition",
        "queue_depth",
        "year",
        "schema",
    }
)
"""Columns that number or name things and have no unit."""

BASELINE = "baseline_"
"""Before the name of a column: the same of what a row is compared with."""

JOULES_PER_WH = 3600.0
NS_PER_S = 1e9
S_PER_HOUR, HOURS_A_YEAR = 3600, 8760
FJ_PER_J = 1e15

SECTOR_B = 512
"""The sector of the kernel's counters and of simulated disks. That of a real disk may be larger."""


@cache
def unit_of(column: str) -> str | None:
    """Return the meaning of a column's unit suffix, or None when it has none."""
    matches = [suffix for suffix in SUFFIXES if column.endswith(suffix)]
    return SUFFIXES[max(matches, key=len)] if matches else None


def of_power(column: str) -> bool:
    """Return whether the unit of a column has watts or joules in it."""
    return any(word in (unit_of(column) or "") for word in ("watt", "joule"))


def check_columns(table: pd.DataFrame, *, also: Iterable[str] = ()) -> pd.DataFrame:
    """Return `table` unchanged if every numeric column carries its unit.

    `also` are further columns without a unit that are allowed here. Raises FsgreenError if a
    numeric column has neither a known unit suffix nor is an identifier.
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    allowed = IDENTIFIERS | set(also)
    bare = [
        str(name)
        for name, kind in zip(table.columns, table.dtypes, strict=True)
        if is_numeric_dtype(kind)
        and not is_bool_dtype(kind)
        and str(name).removeprefix(BASELINE) not in allowed
        and unit_of(str(name)) is None
    ]
    if bare:
        raise FsgreenError(
            f"columns without a unit: {', '.join(bare)}",
            next_step=f"end each name in one of {' '.join(SUFFIXES)}",
        )
    return table
