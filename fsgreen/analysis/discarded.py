"""How comparisons end with the trials that somebody set aside after a look (rule 48)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from fsgreen.design import metrics
from fsgreen.reduce import cell_label, factors_of

COLUMNS = {
    "ratio_x": "first_ratio_x",
    "ratio_low_x": "first_low_x",
    "ratio_high_x": "first_high_x",
    "outcome": "first_outcome",
}
"""Columns of `effects.csv`, and what these are with all that was measured first."""


def as_first_measured(trials: pd.DataFrame, discarded: pd.DataFrame) -> pd.DataFrame:
    """Return the trials as they were at first: each that was set aside, instead of its successors.

    Parameters
    ----------
    trials, discarded : DataFrame
        Rows as in `trials.csv`.
    """
    kept = trials[~trials["trial"].isin(discarded["trial"])]
    first = discarded.sort_values("started_s").drop_duplicates("trial").sort_index()
    # The clock of what was set aside has another origin: blocks keep the order of their numbers.
    return pd.concat([kept, first], ignore_index=True).drop(columns="started_s")


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


def both_ways(effects: pd.DataFrame, constants: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return how many comparisons there are both ways, and those that end otherwise, in words.

    A row has the comparison, its metric, and how it ends without and with what was set aside. None
    where nothing was.

    Parameters
    ----------
    effects : DataFrame
        What `beside` returns.
    constants : mapping
        Those of the plan.
    """
    if "first_outcome" not in effects:
        return None
    known = effects[effects["first_outcome"].notna()]
    differ = known[known["outcome"] != known["first_outcome"]]
    return {
        "compared": len(known),
        "differ": [
            [
                _sides(row, factors_of(effects), constants),
                _labelled(row["metric"], row["boundary"]),
                _ended(*(row[name] for name in COLUMNS)),
                _ended(*(row[name] for name in COLUMNS.values())),
            ]
            for row in differ.to_dict("records")
        ],
    }


def _sides(row: Mapping[str, Any], names: Iterable[str], constants: Mapping[str, Any]) -> str:
    cells = (
        {name: row.get(f"{of}{name}", row[name]) for name in names} for of in ("", "baseline_")
    )
    return " over ".join(cell_label(cell, constants) for cell in cells)


def _labelled(metric: str, boundary: str) -> str:
    return f"{metric}, {boundary} power" if metrics.get(metric).of_power else metric


def _ended(ratio: float, low: float, high: float, outcome: str) -> str:
    return f"{outcome}, {ratio:.3g}x [{low:.3g}, {high:.3g}]"
