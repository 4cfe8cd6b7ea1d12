"""Table 3: the best configuration of each workload, and what it gains over the defaults."""

from __future__ import annotations

import pandas as pd

from fsgreen.papers.fast10.reference import WORKLOADS


def recommended(printed: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row per workload: fast10's recommendation and the best cell of the campaign.

    Gains run from that over the best default file system to that over the worst.

    Parameters
    ----------
    printed : DataFrame
        The published table by workload.
    cells : DataFrame
        The table `cells.csv`.
    """
    return pd.DataFrame(
        [
            {
                "workload": workload,
                "published": printed.loc[workload, "recommended_config"],
                "throughput gain, published": _printed_gain(printed, workload, "perf"),
                "efficiency gain, published": _printed_gain(printed, workload, "power_eff"),
                **_ours(cells[(cells["workload"] == workload) & cells["load_ops_s"].isna()]),
            }
            for workload in WORKLOADS
        ]
    )


def _printed_gain(printed: pd.DataFrame, workload: str, metric: str) -> str:
    low = printed.loc[workload, f"{metric}_gain_over_best_default_x"]
    high = printed.loc[workload, f"{metric}_gain_over_worst_default_x"]
    return f"{low:g}-{high:g}"


def _ours(cells: pd.DataFrame) -> dict[str, str]:
    defaults = cells[cells["option"] == "default"]
    if defaults.empty:
        return {
            name: "not run" for name in ("ours", "throughput gain, ours", "efficiency gain, ours")
        }
    best = cells.loc[cells["throughput_ops_s"].idxmax()]
    option = "" if best["option"] == "default" else f"-{best['option']}"
    gains = {}
    for name, column in (("throughput", "throughput_ops_s"), ("efficiency", "efficiency_ops_j")):
        low, high = best[column] / defaults[column].max(), best[column] / defaults[column].min()
        gains[f"{name} gain, ours"] = f"{low:.3g}-{high:.3g}"
    return {"ours": f"{best['file_system']}{option}", **gains}
