"""Computed parts of several campaigns: repeats count once, and two clocks give a model's error."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from fsgreen.claims import OTHER_STATE
from fsgreen.rules.verdicts import CLOCK, off_percent

COMPUTED = re.compile(r" \((?:virtual time|its file)\)$")
"""The end of the name of a part that is computed, and so the same in each campaign."""


def once(decided: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of a part without duplicates that several campaigns computed alike."""
    seen: set[tuple[Any, ...]] = set()
    kept = []
    for row in decided:
        found = (row[name] for name in ("detail", "ours_x", "ours_low_x", "ours_high_x"))
        same = tuple(None if pd.isna(value) else value for value in found)
        if same not in seen or not COMPUTED.search(row["part"]):
            kept.append(row)
        seen.add(same)
    return kept


def model_error_percent(together: pd.DataFrame, told: pd.DataFrame) -> pd.Series:
    """Return, per row of virtual time, its difference from real time in per cent; NaN in others.

    Both clocks must be of the same cells (`detail`), as the worst of several parts may be of
    different cells in each clock. `together` has a row for each part and basis, with what real time
    decided; `told` has the parts of each campaign, including what virtual time gave but does not
    decide.
    """
    in_state = told[told["verdict"] != OTHER_STATE]
    keys = _without_clock(together)
    real, virtual = (
        pd.Series(_by_clock(rows, clock).reindex(keys).to_numpy(), together.index)
        for rows, clock in ((together, "real"), (in_state, "virtual"))
    )
    return off_percent(virtual, real).where(_clock(together) == "virtual")


def _by_clock(rows: pd.DataFrame, clock: str) -> pd.Series:
    """Return our value of each part by one clock, indexed by the part without its clock."""
    known = rows[(_clock(rows) == clock) & (rows["ours_x"] > 0)]
    found = pd.Series(known["ours_x"].to_numpy(), _without_clock(known))
    return found[~found.index.duplicated()]


def _clock(rows: pd.DataFrame) -> pd.Series:
    return rows["part"].str.extract(CLOCK, expand=False)


def _without_clock(rows: pd.DataFrame) -> pd.MultiIndex:
    names = rows["part"].str.replace(CLOCK, "", regex=True)
    return pd.MultiIndex.from_arrays([rows["slug"], names, rows["detail"]])
