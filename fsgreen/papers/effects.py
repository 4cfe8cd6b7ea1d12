"""Pairs of cells: effect size, test of difference, test of equivalence, families under Holm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.papers.cells import TOTALS

LEVEL = 0.05
FAMILY = ["kind", "metric", "workload"]
"""Comparisons of one kind, metric and workload are one family (rule 38)."""

COLUMNS = [
    *FAMILY,
    "file_system",
    "option",
    "baseline_file_system",
    "baseline_option",
    "n",
    "ratio_x",
    "ratio_low_x",
    "ratio_high_x",
    "change_percent",
    "change_low_percent",
    "change_high_percent",
    "difference_p",
    "difference_holm_p",
    "equivalence_p",
    "equivalence_holm_p",
    "bound_percent",
    "outcome",
]


@dataclass(frozen=True)
class Config:
    """A file system with its option, as fast as it goes."""

    file_system: str
    option: str = "default"

    def __str__(self) -> str:
        return f"{self.file_system}/{self.option}"

    @classmethod
    def parse(cls, text: str) -> Config:
        """Return the configuration written as `ext3/dtlg`."""
        return cls(*text.split("/"))


def sample(trials: pd.DataFrame, workload: str, config: Config, metric: str) -> pd.DataFrame:
    """Return block, above and below of each unlimited trial of a cell, as `stats.compare` reads."""
    chosen = trials[
        (trials["workload"] == workload)
        & (trials["file_system"] == config.file_system)
        & (trials["option"] == config.option)
        & trials["load_ops_s"].isna()
    ]
    above, below = TOTALS[metric]
    return pd.DataFrame({"block": chosen["block"], "above": chosen[above], "below": chosen[below]})


def effects_table(
    trials: pd.DataFrame,
    pairs: Iterable[tuple[str, str, Config, Config]],
    bounds: Mapping[str, float],
) -> pd.DataFrame:
    """Return a row per pair and metric.

    Parameters
    ----------
    trials : DataFrame
        The table `trials.csv`.
    pairs : iterable of (kind, workload, candidate, baseline)
        What is compared; `kind` names the family.
    bounds : mapping
        The plan's `equivalence_percent` and `minimum_trials`.
    """
    rows = [
        {
            "kind": kind,
            "metric": metric,
            "workload": workload,
            "file_system": candidate.file_system,
            "option": candidate.option,
            "baseline_file_system": baseline.file_system,
            "baseline_option": baseline.option,
            **_compare(trials, workload, candidate, baseline, metric, bounds),
        }
        for kind, workload, candidate, baseline in pairs
        for metric in TOTALS
    ]
    if not rows:
        return pd.DataFrame(columns=COLUMNS)
    table = pd.DataFrame(rows)
    for p_value in ("difference_p", "equivalence_p"):
        adjusted = table.groupby(FAMILY)[p_value].transform(lambda p: stats.holm(list(p)))
        table[p_value.replace("_p", "_holm_p")] = adjusted
    table["bound_percent"] = bounds["equivalence_percent"]
    table["outcome"] = [
        outcome(n, different, equal, bounds)
        for n, different, equal in zip(
            table["n"], table["difference_holm_p"], table["equivalence_holm_p"], strict=True
        )
    ]
    return table[COLUMNS]


def outcome(n: int, difference_p: float, equivalence_p: float, bounds: Mapping[str, float]) -> str:
    """Return `different`, `equivalent` or `inconclusive` (rules 26 and 37)."""
    if n >= bounds["minimum_trials"]:
        if difference_p < LEVEL:
            return "different"
        if equivalence_p < LEVEL:
            return "equivalent"
    return "inconclusive"


def _compare(
    trials: pd.DataFrame,
    workload: str,
    candidate: Config,
    baseline: Config,
    metric: str,
    bounds: Mapping[str, float],
) -> dict[str, Any]:
    result = stats.compare(
        sample(trials, workload, candidate, metric),
        sample(trials, workload, baseline, metric),
        bounds["equivalence_percent"] / 100,
    )
    return {
        "n": result.ratio.n,
        "ratio_x": result.ratio.value,
        "ratio_low_x": result.ratio.low,
        "ratio_high_x": result.ratio.high,
        "change_percent": 100 * (result.ratio.value - 1),
        "change_low_percent": 100 * (result.ratio.low - 1),
        "change_high_percent": 100 * (result.ratio.high - 1),
        "difference_p": result.difference_p,
        "equivalence_p": result.equivalence_p,
    }
