"""How often table 2 comes out as it was published: a count of its cells."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fsgreen.papers.fast10.reference import throughput_changes

HIGHER, LOWER, DASH, OPEN = "higher", "lower", "- (equivalent)", "? (neither shown)"
NOT_RUN = "not run"


def agreement(printed: pd.DataFrame, effects: pd.DataFrame) -> pd.DataFrame:
    """Return a row per published outcome and a column per outcome of the campaign, throughput.

    A cell is an option of a file system under a workload. File systems that no kernel has any more
    are left out.

    Parameters
    ----------
    printed : DataFrame
        The published table in its long form.
    effects : DataFrame
        The table `effects.csv`; may be empty.
    """
    rows = throughput_changes(printed)
    found = _outcomes(effects)
    pairs = [
        (_published(row), found.get((row["workload"], row["fs"], row["option"]), NOT_RUN))
        for row in rows.to_dict("records")
    ]
    return pd.DataFrame(
        [
            {"published": before}
            | {now: pairs.count((before, now)) for now in (HIGHER, LOWER, DASH, OPEN, NOT_RUN)}
            for before in (HIGHER, LOWER, DASH)
        ]
    )


def _published(row: dict[str, Any]) -> str:
    change = row["change_percent"]
    if pd.isna(change):
        return DASH
    return HIGHER if change > 0 else LOWER


def _outcomes(effects: pd.DataFrame) -> dict[tuple[str, str, str], str]:
    if effects.empty:
        return {}
    rows = effects[(effects["kind"] == "option") & (effects["metric"] == "throughput")]
    return {
        (row["workload"], row["file_system"], row["option"]): _ours(row)
        for row in rows.to_dict("records")
    }


def _ours(row: dict[str, Any]) -> str:
    if row["outcome"] == "different":
        return HIGHER if row["ratio_x"] > 1 else LOWER
    return DASH if row["outcome"] == "equivalent" else OPEN
