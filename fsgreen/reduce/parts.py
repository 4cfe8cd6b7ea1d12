"""What one trial contributes to the tables of its campaign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fsgreen.design import Plan
from fsgreen.reduce.power_over_time import power_over_time
from fsgreen.reduce.rows import Traces, finishes_of, series_of, trial_row
from fsgreen.trace import MeterEnergy
from fsgreen.trial import Trial

WithAttached = tuple[Trial, Mapping[str, MeterEnergy]]
"""A trial, and what meters say of it that were attached later."""

HISTOGRAM = ["flowop", "operation", "upper_ns", "work_ops"]


@dataclass(frozen=True)
class Part:
    """Its row of `trials.csv`, its cell and histogram of latencies, and its rows of others."""

    row: Mapping[str, Any]
    cell: Mapping[str, Any]
    series: pd.DataFrame
    latency: pd.DataFrame
    finishes: pd.DataFrame
    power_over_time: pd.DataFrame


def reduced(plan: Plan, with_attached: WithAttached) -> Part:
    """Return what a trial of a plan contributes; raises FsgreenError where it is not whole."""
    trial, attached = with_attached
    traces = Traces.of(trial, plan, attached)
    return Part(
        row=trial_row(traces),
        cell=traces.cell,
        series=series_of(traces),
        latency=traces.latency[HISTOGRAM],
        finishes=finishes_of(trial),
        power_over_time=power_over_time(trial, traces.binned_w),
    )
