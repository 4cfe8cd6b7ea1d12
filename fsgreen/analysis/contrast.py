"""Two cells compared in all that was counted in their trials, to explain a difference in speed.

A quantity that differs may be the cause, the consequence, or neither. No table can tell which.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.analysis.tables import FEWEST_TRIALS
from fsgreen.stats import LogRatio
from fsgreen.trial import Trial

MEANING = {
    "throughput_ops_s": "operations per second",
    "power_w": "power",
    "energy_per_op_j": "energy per operation",
    "latency_p50_s": "median latency",
    "latency_p95_s": "95th percentile of latency",
    "latency_p99_s": "99th percentile of latency",
    "device_read_per_op_b": "bytes that the device read per operation",
    "device_write_per_op_b": "bytes that the device wrote per operation",
    "device_request_s": "time of the device per request",
    "user_per_op_s": "processor time of the workload per operation, in programs",
    "system_per_op_s": "processor time of the workload per operation, in the kernel",
    "waits_per_op_count": "times that the workload waited per operation",
    "preemptions_per_op_count": "times that the workload lost its processor per operation",
    "cpu_user_percent": "share of processor time in programs",
    "cpu_system_percent": "share of processor time in the kernel",
    "cpu_iowait_percent": "share of processor time waiting for the device",
    "cpu_idle_percent": "share of processor time idle",
    "flush_duration_s": "time of the flush behind the measured interval",
}
"""The quantities that are compared: the name of the column, and its meaning."""

OUTCOMES = ("throughput_ops_s", "power_w", "energy_per_op_j")
"""The quantities that a study asks about. The others may explain them."""


def counted(trials: pd.DataFrame, records: Iterable[Trial] = ()) -> pd.DataFrame:
    """Return a row per trial with the columns `block` and `MEANING`; NaN if a value is unknown.

    `trials` are rows of `trials.csv`. Only `records` of the same trials have processor time and
    waits; imported runs have none.
    """
    work_ops = trials["work_ops"]
    table = trials.assign(
        energy_per_op_j=trials["energy_j"] / work_ops,
        device_read_per_op_b=trials["device_read_b"] / work_ops,
        device_write_per_op_b=trials["device_write_b"] / work_ops,
    ).set_index("trial")
    costs = pd.DataFrame([_cost(trial) for trial in records])
    if len(costs):
        table = table.join(costs.set_index("trial"))
    return table.reindex(columns=["block", *MEANING])


def contrast(one: pd.DataFrame, other: pd.DataFrame, *, paired: bool) -> pd.DataFrame:
    """Return a row per quantity that both cells have: values, ratio, interval, and the outcome.

    A ratio is one of geometric means, tested by Student's t of the logarithms. If the cells share
    blocks (`paired`), the test is of the differences within blocks; otherwise it is Welch's. A
    quantity that is zero in a trial has no ratio, and the ratio of two blocks has no interval.
    Holm's correction takes the table as one family (rule 38). Its rows depend on each other, so the
    correction is conservative. Rows that show a difference (`told_apart`) come first, the largest
    ratio first. Each cell is what `counted` returns.
    """
    # One groupby for all quantities: one for each is slow.
    by_block = [cell.groupby("block").mean() for cell in (one, other)] if paired else []
    rows = []
    for quantity, meaning in MEANING.items():
        values = [cell[quantity].dropna() for cell in (one, other)]
        if all(map(len, values)):
            means = {"one": values[0].mean(), "other": values[1].mean()}
            apart = (
                _in_blocks(*(cell[quantity].dropna() for cell in by_block))
                if paired
                else _apart(*values)
            )
            rows.append({"quantity": quantity, "meaning": meaning, **means, **apart})
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["difference_holm_p"] = stats.holm(list(table["difference_p"]))
    table["told_apart"] = table["difference_holm_p"] < stats.LEVEL
    size = table["ratio_x"].astype(float).map(lambda ratio: -abs(math.log(ratio)))
    order = table.assign(_later=~table["told_apart"], _size=size).sort_values(["_later", "_size"])
    return table.loc[order.index].reset_index(drop=True)


COLUMNS = [
    *("quantity", "meaning", "one", "other", "ratio_x", "ratio_low_x", "ratio_high_x", "n"),
    *("difference_p", "difference_holm_p", "told_apart"),
]


def _cost(trial: Trial) -> dict[str, Any]:
    """Return the processor time and the context switches of a trial's workload per operation."""
    work = trial.record.work
    ops = work.work_ops or math.nan
    return {
        "trial": trial.name,
        "user_per_op_s": work.cost.user_s / ops,
        "system_per_op_s": work.cost.system_s / ops,
        "waits_per_op_count": work.cost.voluntary_switches / ops,
        "preemptions_per_op_count": work.cost.involuntary_switches / ops,
    }


def _in_blocks(one: pd.Series, other: pd.Series) -> dict[str, float]:
    """Return the ratio of two cells, given their means by block, from the blocks that both have."""
    blocks = one.index.intersection(other.index)
    both = np.column_stack([cell[blocks].to_numpy(float) for cell in (one, other)])
    if (both <= 0).any():
        return _found(math.nan, (math.nan, math.nan), len(both), math.nan)
    ratio = LogRatio.of_blocks(np.log(both[:, 0] / both[:, 1]))
    ends = ratio.interval() if len(both) >= FEWEST_TRIALS else (math.nan, math.nan)
    return _found(math.exp(ratio.value), ends, len(both), ratio.difference_p())


def _apart(one: pd.Series, other: pd.Series) -> dict[str, float]:
    cells = (pd.DataFrame({"above": cell, "below": 1.0}) for cell in (one, other))
    compared = stats.compare_unpaired(*cells)
    ratio = compared.ratio
    if not ratio.has_interval:
        return _found(math.nan, (math.nan, math.nan), ratio.n, math.nan)
    return _found(ratio.value, (ratio.low, ratio.high), ratio.n, compared.difference_p)


def _found(ratio: float, ends: tuple[float, float], n: int, p: float) -> dict[str, float]:
    names = ("ratio_x", "ratio_low_x", "ratio_high_x", "n", "difference_p")
    return dict(zip(names, (ratio, *ends, n, p), strict=True))
