"""Work per joule that only repeats work per second, as the power is modelled (rule 50)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fsgreen.reduce import factors_of

SAME_EVIDENCE = 0.99
"""If the logarithms of two metrics correlate by more, the second only repeats the first."""

FEWEST = 3
"""Least number of comparisons to judge that."""

MARK = "‡"
NOTE = (
    f"{MARK} no second evidence: power is modelled, so that work per joule repeats work per second "
    "(rule 50)"
)
BOTH = ["throughput", "efficiency"]


def in_both(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the logarithms of ratios in both metrics, for comparisons with modelled power.

    `effects` is the table `effects.csv`, or rows of it. Returned is a row per comparison with the
    columns `BOTH`.
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
    """Return the correlation of the two columns of `in_both`."""
    return float(logs.corr().iloc[0, 1])


def repeats(effects: pd.DataFrame) -> bool:
    """Return whether work per joule only repeats work per second in these comparisons."""
    logs = in_both(effects)
    return len(logs) >= FEWEST and likeness(logs) > SAME_EVIDENCE


def once(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons without those that only repeat others."""
    if not repeats(effects):
        return effects
    return effects[(effects["metric"] != "efficiency") | (effects["boundary"] != "modelled")]


def mark_of(effects: pd.DataFrame) -> str:
    """Return the mark to print after work per joule; "" if it does not repeat work per second."""
    return f" {MARK}" if repeats(effects) else ""


def footnote(effects: pd.DataFrame) -> str:
    """Return the end of a caption that explains the mark; "" without the mark."""
    return f". {NOTE}" if repeats(effects) else ""


def numbers(effects: pd.DataFrame) -> dict[str, Any]:
    """Return the mark and its footnote for reports; both empty if nothing repeats."""
    mark = mark_of(effects)
    return {"mark": mark, "note": NOTE if mark else ""}
