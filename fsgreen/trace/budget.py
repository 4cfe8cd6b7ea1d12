"""Rules 15 and 16: the error budget of an energy, and how long a phase must last."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from fsgreen.trace.energy import columns, energy_j
from fsgreen.trace.meter import MeterInfo

MAX_CONSTANT_EDGE_SHARE = 0.02


@dataclass(frozen=True)
class ErrorBudget:
    """Limits of error of one energy in joules, terms kept apart (rule 15)."""

    gain_j: float
    constant_j: float
    quantisation_j: float
    edges_j: float

    @property
    def total_j(self) -> float:
        """Combined limit of error.

        Gain and constant belong to one instrument and may be fully correlated: they add. Rounding
        and edges are independent of them and of each other: root of the sum of squares (GUM,
        JCGM 100:2008, 5.1.2 and note 1 of 5.2.2).
        """
        return float(
            np.hypot(np.hypot(self.gain_j + self.constant_j, self.quantisation_j), self.edges_j)
        )

    def __add__(self, other: ErrorBudget) -> ErrorBudget:
        """Add term by term: meters of one make share their bias, and all share the edges."""
        return ErrorBudget(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def error_budget(
    readings: pd.DataFrame, start_s: float, end_s: float, info: MeterInfo
) -> ErrorBudget:
    """Limits of error of `energy_j` over the same span, in joules (rule 15).

    gain: the meter's fraction of the energy. constant: its offset times the duration, plus any
    fixed error of an energy. quantisation: half a step for the whole duration, because a steady
    load is rounded the same way every time. edges: at either edge half a sample interval times
    the step of power across it, since a reading that straddles the edge mixes both sides.
    """
    duration_s = end_s - start_s
    time_s, power_w = columns(readings, "power_w")
    half_s = 0.5 / info.rate_hz
    steps_w = sum(_step_w(time_s, power_w, edge_s, 1 / info.rate_hz) for edge_s in (start_s, end_s))
    return ErrorBudget(
        gain_j=info.gain_error * energy_j(readings, start_s, end_s),
        constant_j=info.constant_error_w * duration_s + info.constant_error_j,
        quantisation_j=info.resolution_w / 2 * duration_s,
        edges_j=half_s * steps_w,
    )


def constant_edge_share(budget: ErrorBudget, total_energy_j: float) -> float:
    """Fraction of an energy that its constant and edge errors make up (rule 16: at most 2 %)."""
    return (budget.constant_j + budget.edges_j) / total_energy_j


def minimum_duration_s(
    power_w: float,
    *,
    constant_error_w: float,
    constant_error_j: float = 0.0,
    edges_j: float = 0.0,
    share: float = MAX_CONSTANT_EDGE_SHARE,
) -> float:
    """Shortest phase whose constant and edge errors stay within `share` of its energy (rule 16).

    Infinite where the offset alone exceeds the share at this power.
    """
    margin_w = share * power_w - constant_error_w
    if margin_w <= 0:
        return float("inf")
    return (constant_error_j + edges_j) / margin_w


def _step_w(time_s: np.ndarray, power_w: np.ndarray, edge_s: float, interval_s: float) -> float:
    """Power step across an edge: the last reading wholly before it against the first after it.

    A reading averages the interval before its time, so the first one wholly after the edge comes
    at least one interval later. A few per cent of slack absorb the jitter of arrival times.
    """
    before = max(0, int(np.searchsorted(time_s, edge_s, side="right")) - 1)
    after = int(np.searchsorted(time_s, edge_s + 0.95 * interval_s, side="left"))
    return float(abs(power_w[min(after, len(power_w) - 1)] - power_w[before]))
