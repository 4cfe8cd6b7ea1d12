"""A trace as a table: its columns, their units, the flags of readings, and flaws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from fsgreen.errors import FsgreenError
from fsgreen.units import check_columns, unit_of

Array = np.ndarray[Any, np.dtype[Any]]

UNITS = {
    "time": ("seconds",),
    "power": ("watts",),
    "voltage": ("volts",),
    "current": ("amperes",),
    "energy": ("watt-hours", "joules"),
}
"""The units of the quantities of a trace, by the first word of a column's name."""

REMARKS = frozenset({"ok", "retimed", "wrapped", "stale"})
"""Flags of a reading that is still valid."""

TIMING_FLAGS = frozenset({"lost", "out-of-order"})
"""Flags that break rule 13."""

IDENTITY_FLAGS = frozenset({"power-cycled", "inconsistent", "reset"})
"""Flags that break rule 21. All others break rule 14."""


def check_units(readings: pd.DataFrame) -> pd.DataFrame:
    """Return a trace unchanged, after a check that every number has a unit of its quantity.

    Raises FsgreenError that names the columns without a known unit (`power_mw`) or with a wrong one
    (`power_j`).
    """
    names = [str(name) for name in check_columns(readings).columns]
    wrong = [
        f"{name} is in {unit}, not in {' or '.join(known)}"
        for name in names
        if (known := UNITS.get(name.partition("_")[0]))
        and (unit := unit_of(name)) is not None
        and unit not in known
    ]
    if wrong:
        raise flawed("columns of the wrong unit: " + "; ".join(wrong))
    return readings


def times(readings: pd.DataFrame) -> Array:
    """Return the times of one meter's trace in seconds.

    Raises FsgreenError if they do not rise, or if the trace has several meters or one reading.
    """
    time_s = numbers(check_units(readings), "time_s")
    if "meter" in readings and readings["meter"].nunique() > 1:
        raise flawed("readings of several meters in one trace: select one")
    if len(time_s) < 2 or not (np.diff(time_s) > 0).all():
        raise flawed("the trace needs two readings or more with rising times")
    return time_s


def columns(readings: pd.DataFrame, column: str) -> tuple[Array, Array]:
    """Return the times and one column as float arrays. Raises FsgreenError as both parts do."""
    return times(readings), numbers(readings, column)


def numbers(readings: pd.DataFrame, column: str) -> Array:
    """Return one column as floats. Raises FsgreenError if it is missing or not numeric."""
    if column not in readings:
        present = ", ".join(str(name) for name in readings.columns)
        raise flawed(f"the trace has no column {column} ({unit_of(column)}), only {present}")
    if not is_numeric_dtype(readings[column]):
        raise flawed(f"the column {column} holds {readings[column].dtype}, not numbers")
    return readings[column].to_numpy(float)


def flags(readings: pd.DataFrame) -> Iterator[tuple[int, frozenset[str]]]:
    """Yield the place and the flags of each reading that is not "ok"."""
    if "quality" in readings:
        quality = readings["quality"].to_numpy(object)
        for place in np.flatnonzero(quality != "ok"):
            yield int(place), frozenset(str(quality[place]).split("|")) - {"ok"}


def flawed(what: str) -> FsgreenError:
    """Return the error for a trace that cannot be used."""
    return FsgreenError(
        what,
        where="power trace",
        next_step="list the trace's flaws with fsgreen.trace.check_trace, then measure again",
    )


@dataclass(frozen=True)
class Flaw:
    """A rule that a trace breaks, the name of the flaw, and what was found, in words."""

    rule: int
    name: str
    detail: str


def rule_of(flag: str) -> int:
    """Return the rule that a flag of a reading breaks."""
    if flag in TIMING_FLAGS:
        return 13
    return 21 if flag in IDENTITY_FLAGS else 14
