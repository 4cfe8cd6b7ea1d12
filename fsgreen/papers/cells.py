"""One row per cell: centre, interval, variation, steady state and what more trials would buy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.reduce import CELL

TOTALS = {"throughput": ("work_ops", "duration_s"), "efficiency": ("work_ops", "energy_j")}
"""Rates as total over total (rule 29): operations per second and per joule."""

UNIT = {"throughput": "ops_s", "efficiency": "ops_j"}
SHARES = ("user", "system", "iowait", "idle", "steal")


def cells_table(trials: pd.DataFrame, bounds: Mapping[str, float]) -> pd.DataFrame:
    """Return the summary of each cell.

    Parameters
    ----------
    trials : DataFrame
        The table `trials.csv`.
    bounds : mapping
        The plan's `ci_half_width_percent` and `minimum_trials`.
    """
    groups = trials.groupby([*CELL, "boundary"], dropna=False, sort=True)
    return pd.DataFrame(
        [
            {**dict(zip([*CELL, "boundary"], key, strict=True)), **_summary(cell, bounds)}
            for key, cell in groups
        ]
    )


def _summary(cell: pd.DataFrame, bounds: Mapping[str, float]) -> dict[str, Any]:
    target_percent = bounds["ci_half_width_percent"]
    rates = cell["throughput_ops_s"]
    median, scatter = stats.median_ci(rates), stats.variation(rates)
    needed = stats.trials_needed(rates, target_percent / 100)
    tau, trend_p = stats.trend(cell["block"], rates)
    estimates = {
        name: stats.ratio_of_totals(cell[above], cell[below])
        for name, (above, below) in TOTALS.items()
    }
    half_width_percent = estimates["throughput"].half_width_percent
    return {
        "n": len(cell),
        "enough": len(cell) >= bounds["minimum_trials"],
        **{
            column: value
            for name, estimate in estimates.items()
            for column, value in _columns(name, UNIT[name], estimate).items()
        },
        **_columns("power", "w", stats.mean_ci(cell["power_w"])),
        **_columns("energy", "j", stats.mean_ci(cell["energy_j"])),
        "idle_power_w": cell["idle_power_w"].mean(),
        "mean_throughput_ops_s": rates.mean(),
        "median_throughput_ops_s": median.value,
        "median_throughput_low_ops_s": median.low,
        "median_throughput_high_ops_s": median.high,
        "normality_p": stats.normality_p(rates),
        "cv_percent": scatter.cv_percent,
        "range_percent": scatter.range_percent,
        "throughput_p5_ops_s": scatter.p5,
        "throughput_p95_ops_s": scatter.p95,
        "half_width_percent": half_width_percent,
        "target_met": bool(half_width_percent < target_percent),
        "needed_count": math.nan if needed is None else needed,
        "trend_tau_x": tau,
        "trend_p": trend_p,
        "state": stats.classify_cell(list(cell["steady"])),
        "steady_percent": 100 * (cell["steady"] != "no steady state").mean(),
        **{f"cpu_{name}_percent": cell[f"cpu_{name}_percent"].mean() for name in SHARES},
        **{
            f"latency_{quantile}_s": cell[f"latency_{quantile}_s"].median()
            for quantile in ("p50", "p95", "p99")
        },
    }


def _columns(name: str, unit: str, estimate: stats.Estimate) -> dict[str, float]:
    return {
        f"{name}_{unit}": estimate.value,
        f"{name}_low_{unit}": estimate.low,
        f"{name}_high_{unit}": estimate.high,
    }
