"""What a model says in several campaigns, and by two clocks: it is one, and that is its error."""

from __future__ import annotations

import re

import pandas as pd

from fsgreen.claims import OTHER_STATE
from fsgreen.rules.verdicts import CLOCK, off_percent

COMPUTED = re.compile(r" \((?:virtual time|its file)\)$")
"""What ends the name of a part that is computed, the same each time."""


def once(decided: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a part, those once that several campaigns computed alike."""
    alike = decided.duplicated(["detail", "ours_x", "ours_low_x", "ours_high_x"])
    return decided[~(alike & decided["part"].str.contains(COMPUTED))]


def model_error_percent(together: pd.DataFrame, told: pd.DataFrame) -> pd.Series:
    """Return by how much each row of virtual time differs from that of real time.

    Both are of the same cells: what is worst of several readers may be others by the other clock.

    Parameters
    ----------
    together : DataFrame
        A row for each part and kind of evidence: what real time decided.
    told : DataFrame
        What campaigns say of each part: also what virtual time gave and does not decide.
    """
    in_state = told[told["verdict"] != OTHER_STATE]
    keys = _without_clock(together)
    real, virtual = (
        pd.Series(_by_clock(rows, clock).reindex(keys).to_numpy(), together.index)
        for rows, clock in ((together, "real"), (in_state, "virtual"))
    )
    return off_percent(virtual, real).where(_clock(together) == "virtual")


def _by_clock(rows: pd.DataFrame, clock: str) -> pd.Series:
    """Return what a clock gave of each part."""
    known = rows[(_clock(rows) == clock) & (rows["ours_x"] > 0)]
    found = pd.Series(known["ours_x"].to_numpy(), _without_clock(known))
    return found[~found.index.duplicated()]


def _clock(rows: pd.DataFrame) -> pd.Series:
    return rows["part"].str.extract(CLOCK, expand=False)


def _without_clock(rows: pd.DataFrame) -> pd.MultiIndex:
    names = rows["part"].str.replace(CLOCK, "", regex=True)
    return pd.MultiIndex.from_arrays([rows["slug"], names, rows["detail"]])
