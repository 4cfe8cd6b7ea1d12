"""Latency profiles of two cells: which operations differ in latency, and in which peaks."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from fsgreen import stats
from fsgreen.analysis import configuration
from fsgreen.analysis.effects import outcome
from fsgreen.errors import FsgreenError, unknown


def of_cell(profiles: pd.DataFrame, workload: str, config: str) -> pd.DataFrame:
    """Return the rows of a cell, such as `varmail` with `ext3/dtlg`, of `reduce.trial_profiles`.

    Raises FsgreenError if there is no such cell.
    """
    labels = profiles["workload"] + " " + profiles["file_system"] + "/" + profiles["option"]
    wanted = f"{workload} {config}"
    chosen = profiles[labels == wanted]
    if chosen.empty:
        raise unknown("cell", wanted, labels.unique(), next_step="name one that was measured")
    return chosen


def profile_effects(
    candidate: pd.DataFrame, baseline: pd.DataFrame, bounds: Mapping[str, float]
) -> pd.DataFrame:
    """Return the rows of `stats.compare_profiles`, one per operation, with a column `outcome`.

    The outcome is `different` or `inconclusive`. It is never `equivalent`, as no plan has a bound
    of equivalence for a distance. Both cells are as `of_cell` returns them.

    Raises FsgreenError if they cannot be compared.
    """
    try:
        table = stats.compare_profiles(candidate, baseline)
    except ValueError as error:
        raise FsgreenError(
            f"{_name(candidate)} and {_name(baseline)} cannot be compared: {error}",
            next_step="measure the campaign to its end: fsgreen measure STUDY",
        ) from error
    table["outcome"] = [
        outcome(n, p, math.nan, bounds) for n, p in zip(table["n"], table["family_p"], strict=True)
    ]
    return table


def peaks_table(*cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row per operation, cell and peak: the bounds of its bucket in ns, and its share."""
    rows = [
        {
            "operation": operation,
            "cell": _name(cell),
            "lower_ns": 2**peak.bucket,
            "upper_ns": 2 ** (peak.bucket + 1),
            "share_percent": 100 * peak.share,
        }
        for cell in cells
        for operation, profile in cell.groupby("operation")
        for peak in stats.peaks(stats.total_profile(profile))
    ]
    columns = ["operation", "cell", "lower_ns", "upper_ns", "share_percent"]
    return pd.DataFrame(rows, columns=columns).sort_values(columns[:3], ignore_index=True)


def conclusion(
    candidate: pd.DataFrame,
    baseline: pd.DataFrame,
    effects: pd.DataFrame,
    names: tuple[str, str] | None = None,
) -> str:
    """Return the conclusion of the table of `profile_effects`, in a sentence.

    `names` are the names of the two cells. The default is file system and option.
    """
    of_candidate, of_baseline = names or (_name(candidate), _name(baseline))
    pair = f"{of_candidate} and {of_baseline}"
    workload = candidate["workload"].iloc[0]
    different = effects[effects["outcome"] == "different"]
    if different.empty:
        first = effects.iloc[0]
        return (
            f"No operation of {workload} is shown to differ between {pair} "
            f"(blocks: {first['n']}): the largest distance is {first['emd_buckets']:.2g} buckets, "
            f"in {first['operation']}, and {_noise(first['scatter_buckets'])}."
        )
    first = different.iloc[0]
    slower, faster = of_candidate, of_baseline
    if first["shift_buckets"] < 0:
        slower, faster = faster, slower
    factor = 2 ** abs(first["shift_buckets"])
    return (
        f"{len(different)} of {len(effects)} operations of {workload} differ between {pair}, most "
        f"of all {first['operation']} ({first['emd_buckets']:.2g} buckets), which takes about "
        f"{factor:,.1f} times as long on {slower} as on {faster} in the geometric mean."
    )


def _noise(scatter_buckets: float) -> str:
    if math.isnan(scatter_buckets):
        return "one block cannot tell it from noise"
    return f"two trials of one cell are {scatter_buckets:.2g} apart"


def _name(cell: pd.DataFrame) -> str:
    return configuration.label(cell.iloc[0])
