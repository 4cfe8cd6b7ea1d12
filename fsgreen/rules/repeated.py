"""Work per joule that repeats work per second, as power is modelled from the work (rule 50)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fsgreen.reduce import factors_of

SAME_EVIDENCE = 0.99
"""Correlation of two metrics' logarithms from which on the second says what the first does."""

FEWEST = 3
"""Comparisons from which on that can be seen."""

MARK = "‡"
NOTE = (
    f"{MARK} no second evidence: power is modelled, so that work per joule repeats work per second "
    "(rule 50)"
)
BOTH = ["throughput", "efficiency"]


def in_both(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the logarithms of ratios in both metrics, of comparisons that rest on modelled power.

    Parameters
    ----------
    effects : DataFrame
        The table `effects.csv`, or rows of it.
    """
    if effects.empty or not (effects["boundary"] == "modelled").any():
        return pd.DataFrame(columns=BOTH)
    modelled = effects[effects["boundary"] == "modelled"]
    named = factors_of(effects)
    keys = ["kind", *named, *(f"baseline_{name}" for name in named)]
    keys = [key for key in keys if key in effects]
    sides = modelled.groupby(keys, dropna=False).ngroup()
    wide = modelled.assign(sides=sides).pivot_table("ratio_x", "sides", "metric")
    return np.log(wide.reindex(columns=BOTH).dropna())


def likeness(logs: pd.DataFrame) -> float:
    """Return how far the two metrics of `in_both` correlate."""
    return float(logs.corr().iloc[0, 1])


def repeats(effects: pd.DataFrame) -> bool:
    """Return whether work per joule says of these comparisons what work per second does."""
    logs = in_both(effects)
    return len(logs) >= FEWEST and likeness(logs) > SAME_EVIDENCE


def once(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons that count, each once."""
    if not repeats(effects):
        return effects
    return effects[(effects["metric"] != "efficiency") | (effects["boundary"] != "modelled")]


def mark_of(effects: pd.DataFrame) -> str:
    """Return what stands behind work per joule: the mark of what repeats, or nothing."""
    return f" {MARK}" if repeats(effects) else ""


def footnote(effects: pd.DataFrame) -> str:
    """Return what a caption ends in where work per joule bears the mark."""
    return f". {NOTE}" if repeats(effects) else ""


def numbers(effects: pd.DataFrame) -> dict[str, Any]:
    """Return the mark and its footnote as reports show them; both empty where nothing repeats."""
    mark = mark_of(effects)
    return {"mark": mark, "note": NOTE if mark else ""}
