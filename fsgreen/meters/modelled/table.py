"""The table that a model is fitted to: what was done and the measured power, a row per span."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from fsgreen.errors import FsgreenError
from fsgreen.meters.modelled.activity import activity

Span = tuple[str, float, float]
"""Workload, start and end in host monotonic seconds."""


def activity_table(
    traces: Sequence[pd.DataFrame], host: pd.DataFrame, spans: Iterable[Span]
) -> pd.DataFrame:
    """Return a row per span: workload, start_s, duration_s, power_w and the rates of `activity`.

    `traces` are those of meters whose power adds up; `host` is a table of `host.parquet`, whose
    counters are interpolated at the ends of a span. Raises FsgreenError where a span lies outside
    a trace or holds a reading without a value.
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


def _mean_power_w(trace: pd.DataFrame, start_s: float, end_s: float) -> float:
    """Mean power of a span, a reading being the mean of the interval that it ends.

    Activity is a mean over the very same span, so the trapezoid over the readings as points, half
    an interval late, would not do.
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
