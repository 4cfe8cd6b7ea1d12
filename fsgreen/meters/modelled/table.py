"""The table for the fit of a model, with a row per span: activity, measured and predicted power."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.readings import Floats
from fsgreen.meters.modelled.activity import activity
from fsgreen.meters.modelled.profiles import Profile

Span = tuple[str, float, float]
"""Workload, start and end in host monotonic seconds."""


def activity_table(
    traces: Sequence[pd.DataFrame], host: pd.DataFrame, spans: Iterable[Span]
) -> pd.DataFrame:
    """Return a row per span: workload, start_s, duration_s, power_w and the rates of `activity`.

    `traces` are the traces of meters whose power is added. `host` is the table `host.parquet`,
    whose counters are interpolated at the ends of a span. Raises FsgreenError if a span is outside
    a trace, or has a reading without a value.
    """
    return pd.DataFrame(
        {
            "workload": workload,
            "start_s": start_s,
            "duration_s": end_s - start_s,
            "power_w": sum(_mean_power_w(trace, start_s, end_s) for trace in traces),
            **activity(_at(host, start_s), _at(host, end_s)),
        }
        for workload, start_s, end_s in spans
    )


def predict_w(model: Profile, table: pd.DataFrame) -> Floats:
    """Return the power in watts that a model predicts for each row of a table, shape (rows,)."""
    return np.array([model.power_w(row) for row in table.to_dict("records")])


def prediction_errors(table: pd.DataFrame, predicted_w: Floats) -> pd.DataFrame:
    """Return a row per workload that compares predicted with measured power.

    The columns are workload, power_w (the measured mean), predicted_w, error_w (predicted minus
    measured) and error_percent.
    """
    means = (
        table[["workload", "power_w"]]
        .assign(predicted_w=predicted_w)
        .groupby("workload", sort=False)
        .mean()
        .reset_index()
    )
    error_w = means["predicted_w"] - means["power_w"]
    return means.assign(error_w=error_w, error_percent=100 * error_w / means["power_w"])


def _mean_power_w(trace: pd.DataFrame, start_s: float, end_s: float) -> float:
    """Return the mean power of a span in watts. Each reading is the mean of the interval it ends.

    The activity is a mean over exactly the same span. So the trapezoid rule over readings as
    points, which is half an interval late, is not good enough.
    """
    time_s, power_w = trace["time_s"].to_numpy(float), trace["power_w"].to_numpy(float)
    first = int(np.searchsorted(time_s, start_s, side="right")) - 1
    last = int(np.searchsorted(time_s, end_s, side="left"))
    time_s, power_w = time_s[max(0, first) : last + 1], power_w[max(0, first) : last + 1]
    energy_j = np.cumsum(np.append(0.0, power_w[1:] * np.diff(time_s)))
    if first < 0 or time_s[-1] < end_s or not np.isfinite(energy_j).all():
        raise FsgreenError(
            f"the power from {start_s:.1f} to {end_s:.1f} s is not known throughout",
            where="power trace",
            next_step="list the trace's flaws with fsgreen.trace.check_trace",
        )
    start_j, end_j = np.interp([start_s, end_s], time_s, energy_j)
    return float(end_j - start_j) / (end_s - start_s)


def _at(host: pd.DataFrame, moment_s: float) -> dict[str, float]:
    times_s = host["time_s"].to_numpy(float)
    return {
        str(name): float(np.interp(moment_s, times_s, values.to_numpy(float)))
        for name, values in host.items()
    }
