"""Comparisons made again with the trials that somebody discarded after a look (rule 48)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from fsgreen.design import metrics
from fsgreen.design.columns import FIRST
from fsgreen.reduce import cell_label, factors_of


def as_first_measured(trials: pd.DataFrame, discarded: pd.DataFrame) -> pd.DataFrame:
    """Return the trials as first measured: each discarded one instead of its replacement."""
    kept = trials[~trials["trial"].isin(discarded["trial"])]
    first = discarded.sort_values("started_s").drop_duplicates("trial").sort_index()
    # The clock of a discarded trial has another origin, so blocks keep the order of their numbers.
    return pd.concat([kept, first], ignore_index=True).drop(columns="started_s")


def beside(
    effects: pd.DataFrame,
    trials: pd.DataFrame,
    discarded: pd.DataFrame,
    compare: Callable[[pd.DataFrame], pd.DataFrame],
) -> pd.DataFrame:
    """Return the effects with further columns: the same effects from the trials measured first.

    `compare` takes trials and returns effects, as it did for `effects`. The columns are absent if
    no trial was discarded.
    """
    if discarded.empty or effects.empty:
        return effects
    names = factors_of(effects)
    keys = ["kind", "metric", *names, *(f"baseline_{n}" for n in names)]
    keys = [key for key in keys if key in effects]
    first = compare(as_first_measured(trials, discarded))[[*keys, *FIRST]]
    return effects.merge(first.rename(columns=FIRST), on=keys, how="left", validate="1:1")


def both_ways(effects: pd.DataFrame, constants: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the number of comparisons made both ways, and those whose outcomes differ, in words.

    `compared` is the number. `differ` has a row of texts for each comparison whose outcome differs:
    the comparison, its metric, its outcome without and with the discarded trials. None if no trial
    was discarded. `effects` are what `beside` returns, `constants` the plan's factors with one
    level.
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
                _ended(*(row[name] for name in FIRST)),
                _ended(*(row[name] for name in FIRST.values())),
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
