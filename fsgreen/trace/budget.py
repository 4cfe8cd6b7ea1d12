"""Rules 15 and 16: the error budget of an energy, and how long a phase must last."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import BeforeValidator, PlainSerializer

from fsgreen.trace.table import Array, columns, flags, flawed
from fsgreen.trace.timing import MAX_GAP_INTERVALS

Number = Annotated[
    float,
    BeforeValidator(lambda value: math.nan if value is None else value),
    PlainSerializer(lambda value: None if math.isnan(value) else value, when_used="json"),
]
"""A number of a record; null is one that the trace does not tell, NaN in here."""

MAX_CONSTANT_EDGE_SHARE = 0.02

LAG = 1 / 2
REPEATED_LAG = 1.0
"""A reading averages the interval that it ends, so the line through the readings lags by half an
interval; by a whole one where the meter repeats each value until the next."""

STRADDLE = 2 / 27
"""At a step on the edge, the reading that straddles it adds up to max f^2 (1 - f) / 2 of an
interval, where f is the part of it before the edge (f = 2/3)."""

ROUNDED = 1e-6
"""An edge so near to a reading, as a share of its interval, is its time, but for digits."""

NEIGHBOURS = 64
"""Readings on either side of an edge in which fresh ones are looked for; a meter that repeats
itself for longer has no rate to speak of."""


@dataclass(frozen=True)
class ErrorBudget:
    """Limits of error of one energy in joules, terms kept apart (rule 15).

    gain: the meter's fraction of the energy. constant: its offset times the duration, plus any
    fixed error of an energy. quantisation: half a step for the whole duration, because a steady
    load is rounded the same way every time. edges: as `edges_j` says. clock: what the phase would
    gain or lose, were it shifted by the offset's error or stretched by the drift's; nothing for
    readings that the host stamped as they came.
    """

    gain_j: Number
    constant_j: Number
    quantisation_j: Number
    edges_j: Number
    clock_j: Number = 0.0

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


def enough_s(
    budget: ErrorBudget,
    energy_j: float,
    duration_s: float,
    *,
    share: float,
    intervals: int = 1,
    fixed_j: float = 0.0,
) -> float:
    """Shortest measured interval that keeps rule 16, by the budget of an energy that was measured.

    Power and edges are taken to stay as they were, and constant errors to grow with the length but
    for those that are fixed. Infinite where those that grow exceed the share alone.

    Parameters
    ----------
    budget : ErrorBudget
        Of the energy.
    energy_j, duration_s : float
        The energy, and over how long: of one interval, or of windows added up.
    share : float
        What constant and edge errors may be of the energy.
    intervals : int
        How many windows there were.
    fixed_j : float
        What of the constant errors of an interval does not grow: `constant_error_j` of the meters.
    """
    growing_j = max(0.0, budget.constant_j - intervals * fixed_j)
    return minimum_duration_s(
        energy_j / duration_s,
        constant_error_w=growing_j / duration_s,
        constant_error_j=fixed_j,
        edges_j=budget.edges_j / intervals,
        share=share,
    )


@dataclass(frozen=True)
class _Edge:
    """Power on either side of an edge, and what a reading that straddles it exceeds both by."""

    before_w: float
    after_w: float
    burst_w: float
    interval_s: float
    lag_s: float


def edges_j(readings: pd.DataFrame, start_s: float, end_s: float, interval_s: float) -> float:
    """Return the limit of error of an energy that the edges of its span cause.

    Half an interval times the difference of power between the two edges, a small part of the step
    at each, and all of a burst in the reading that straddles one, for which the readings do not say
    on which side it fell; this holds where power changes at an edge in one step, or in a burst
    inside one interval. The interval is the meter's own, or that between the readings around an
    edge that are not marked stale.

    Parameters
    ----------
    readings : DataFrame
        `NEIGHBOURS` readings or more on either side of each edge, as far as there are.
    start_s, end_s : float
        The edges.
    interval_s : float
        Between two readings of the meter.
    """
    time_s, power_w = columns(readings, "power_w")
    start, end = (_edge(time_s, power_w, readings, at_s, interval_s) for at_s in (start_s, end_s))
    change_w = max(
        abs(at_start_w - at_end_w)
        for at_start_w in (start.before_w, start.after_w)
        for at_end_w in (end.before_w, end.after_w)
    )
    each_j = sum(
        (STRADDLE * abs(edge.after_w - edge.before_w) + edge.burst_w) * edge.interval_s
        for edge in (start, end)
    )
    return max(start.lag_s, end.lag_s) * change_w + each_j


def cut_edges_j(readings: pd.DataFrame, start_s: float, end_s: float, most_w: float) -> float:
    """Return the limit of error of a sum of means that the edges of its span cause.

    When in an interval its energy was drawn is not known: of one that an edge cuts, all that could
    be drawn at `most_w` on either side may lie there, and all of it where that is NaN. Readings are
    those of `edges_j`.
    """
    time_s, power_w = columns(readings, "power_w")
    most_w = math.inf if math.isnan(most_w) else most_w
    lengths_s = np.diff(time_s)
    share = (np.minimum(time_s[1:], end_s) - np.maximum(time_s[:-1], start_s)) / lengths_s
    cut = (share > ROUNDED) & (share < 1 - ROUNDED)
    share, lengths_s = share[cut], lengths_s[cut]
    whole_j = np.abs(power_w[1:][cut]) * lengths_s
    most_j = np.minimum(whole_j, most_w * share * lengths_s)
    least_j = np.maximum(0.0, whole_j - most_w * (1 - share) * lengths_s)
    taken_j = share * whole_j
    return float(np.maximum(most_j - taken_j, taken_j - least_j).sum())


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
    lag_s = (REPEATED_LAG if repeats else LAG) * interval_s
    return _Edge(float(level_w[0]), float(level_w[1]), float(burst_w), interval_s, lag_s)
