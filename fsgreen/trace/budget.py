"""Rules 15 and 16: the error budget of an energy, and how long a phase must last."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from fsgreen.trace.clock import ClockFit
from fsgreen.trace.energy import energy_j, integral_j
from fsgreen.trace.meter import MeterInfo
from fsgreen.trace.table import Array, columns, flags, flawed
from fsgreen.trace.timing import MAX_GAP_INTERVALS

MAX_CONSTANT_EDGE_SHARE = 0.02

LAG = 1 / 2
HELD_LAG = 1.0
"""A reading averages the interval that it ends, so the line through the readings lags by half an
interval; by a whole one where the meter repeats each value until the next."""

STRADDLE = 2 / 27
"""At a step on the edge, the reading that straddles it adds up to max f^2 (1 - f) / 2 of an
interval, where f is the part of it before the edge (f = 2/3)."""

NEIGHBOURS = 64
"""Readings on either side of an edge in which fresh ones are looked for; a meter that repeats
itself for longer has no rate to speak of."""


@dataclass(frozen=True)
class ErrorBudget:
    """Limits of error of one energy in joules, terms kept apart (rule 15)."""

    gain_j: float
    constant_j: float
    quantisation_j: float
    edges_j: float
    clock_j: float = 0.0

    @property
    def total_j(self) -> float:
        """Combined limit of error.

        Gain and constant belong to one instrument and may be fully correlated: they add. Rounding,
        edges and clock are independent of them and of each other: root of the sum of squares (GUM,
        JCGM 100:2008, 5.1.2 and note 1 of 5.2.2). With errors that are anywhere between their
        limits with equal chance (4.3.7), at least 91 % of energies err by less.
        """
        return float(
            np.linalg.norm(
                [self.gain_j + self.constant_j, self.quantisation_j, self.edges_j, self.clock_j]
            )
        )

    def __add__(self, other: ErrorBudget) -> ErrorBudget:
        """Add term by term: meters of one make share their bias, and all share edges and clock."""
        return ErrorBudget(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def error_budget(
    readings: pd.DataFrame,
    start_s: float,
    end_s: float,
    info: MeterInfo,
    clock: ClockFit | None = None,
) -> ErrorBudget:
    """Limits of error of `energy_j` over the same span, in joules (rule 15).

    gain: the meter's fraction of the energy. constant: its offset times the duration, plus any
    fixed error of an energy. quantisation: half a step for the whole duration, because a steady
    load is rounded the same way every time. edges: half an interval times the difference of power
    between the two edges, a small part of the step at each, and all of a burst in the reading that
    straddles one, for which the readings do not say on which side it fell; this holds where power
    changes at an edge in one step, or in a burst inside one interval. The interval is the meter's
    own, or that between the readings around an edge that are not marked stale. clock: what the
    phase would gain or lose, were it shifted by the offset's error or stretched by the drift's;
    nothing for readings that the host stamped as they came (`clock` is None).
    """
    duration_s = end_s - start_s
    energy = energy_j(readings, start_s, end_s)
    return ErrorBudget(
        gain_j=info.gain_error * energy,
        constant_j=info.constant_error_w * duration_s + info.constant_error_j,
        quantisation_j=info.resolution_w / 2 * duration_s,
        edges_j=_edges_j(readings, start_s, end_s, 1 / info.rate_hz),
        clock_j=0.0 if clock is None else _clock_j(readings, start_s, end_s, energy, clock),
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


@dataclass(frozen=True)
class _Edge:
    """Power on either side of an edge, and what a reading that straddles it exceeds both by."""

    before_w: float
    after_w: float
    burst_w: float
    interval_s: float
    lag_s: float


def _edges_j(readings: pd.DataFrame, start_s: float, end_s: float, interval_s: float) -> float:
    trace = columns(readings, "power_w")
    start, end = (_edge(*trace, readings, edge_s, interval_s) for edge_s in (start_s, end_s))
    change_w = max(
        abs(one_w - other_w)
        for one_w in (start.before_w, start.after_w)
        for other_w in (end.before_w, end.after_w)
    )
    each_j = sum(
        (STRADDLE * abs(edge.after_w - edge.before_w) + edge.burst_w) * edge.interval_s
        for edge in (start, end)
    )
    return max(start.lag_s, end.lag_s) * change_w + each_j


def _edge(
    all_s: Array, all_w: Array, readings: pd.DataFrame, edge_s: float, interval_s: float
) -> _Edge:
    """The last reading wholly before an edge against the first wholly after it.

    The latter comes at least one interval later. A few per cent of slack absorb the jitter of
    arrival times.
    """
    place = int(np.searchsorted(all_s, edge_s, side="right"))
    near = slice(max(0, place - NEIGHBOURS), place + NEIGHBOURS)
    stale = [nth for nth, names in flags(readings[near]) if "stale" in names]
    fresh = np.isfinite(all_w[near])
    fresh[stale] = False
    if fresh.sum() < 2:
        raise flawed(f"the meter says nothing new around {edge_s:.6g} s")
    time_s, power_w = all_s[near][fresh], all_w[near][fresh]
    last = len(time_s) - 1
    before = max(0, int(np.searchsorted(time_s, edge_s, side="right")) - 1)
    across_s = float(time_s[min(before + 1, last)] - time_s[before])
    repeats = across_s > MAX_GAP_INTERVALS * interval_s
    interval_s = across_s if repeats else interval_s
    after = min(int(np.searchsorted(time_s, edge_s + 0.95 * interval_s, side="left")), last)
    level_w = power_w[[before, after]]
    straddling_w = power_w[before : after + 1]
    burst_w = max(straddling_w.max() - level_w.max(), level_w.min() - straddling_w.min())
    lag_s = (HELD_LAG if repeats else LAG) * interval_s
    return _Edge(float(level_w[0]), float(level_w[1]), float(burst_w), interval_s, lag_s)


def _clock_j(
    readings: pd.DataFrame, start_s: float, end_s: float, energy: float, clock: ClockFit
) -> float:
    """Both errors come from one fit, and may have any sign: their effects add."""
    time_s, power_w = columns(readings, "power_w")
    shift_s = clock.offset_error_s

    def moved_j(by_s: float) -> float:
        return integral_j(time_s, power_w, start_s + by_s, end_s + by_s) - energy

    shifted_j = max(abs(moved_j(shift_s)), abs(moved_j(-shift_s)))
    return shifted_j + 1e-6 * clock.drift_error_ppm * energy
