"""How comparisons end with the trials that somebody set aside after a look (rule 48)."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from fsgreen.reduce import factors_of

COLUMNS = {
    "ratio_x": "first_ratio_x",
    "ratio_low_x": "first_low_x",
    "ratio_high_x": "first_high_x",
    "outcome": "first_outcome",
}
"""Columns of `effects.csv`, and what these are with all that was measured first."""


def as_first_measured(trials: pd.DataFrame, discarded: pd.DataFrame) -> pd.DataFrame:
    """Return the trials as they were at first: each that was set aside, instead of its successor.

    Parameters
    ----------
    trials, discarded : DataFrame
        Rows as in `trials.csv`.
    """
    kept = trials[~trials["trial"].isin(discarded["trial"])]
    # The clock of what was set aside has another origin: blocks keep the order of their numbers.
    return pd.concat([kept, discarded], ignore_index=True).drop(columns="started_s")


def beside(
    effects: pd.DataFrame,
    trials: pd.DataFrame,
    discarded: pd.DataFrame,
    compare: Callable[[pd.DataFrame], pd.DataFrame],
) -> pd.DataFrame:
    """Return the effects with what they were by all that was measured first beside them.

    Where nothing was set aside there are no such columns.

    Parameters
    ----------
    effects : DataFrame
        What `compare` makes of `trials`.
    trials, discarded : DataFrame
        Rows as in `trials.csv`.
    compare : callable
        Makes effects of trials.
    """
    if discarded.empty or effects.empty:
        return effects
    names = factors_of(effects)
    keys = ["kind", "metric", *names, *(f"baseline_{n}" for n in names)]
    keys = [key for key in keys if key in effects]
    first = compare(as_first_measured(trials, discarded))[[*keys, *COLUMNS]]
    return effects.merge(first.rename(columns=COLUMNS), on=keys, how="left", validate="1:1")
