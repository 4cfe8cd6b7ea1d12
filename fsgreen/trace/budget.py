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
"""A number of a record. If the trace does not tell it, it is null in the record and NaN here."""

MAX_CONSTANT_EDGE_SHARE = 0.02

LAG = 1 / 2
REPEATED_LAG = 1.0
"""Lag of the line through the readings, in intervals. A reading averages the interval that it ends,
so the lag is half an interval. It is a whole one if the meter repeats each value until the next."""

STRADDLE = 2 / 27
"""Largest error of a step at an edge, in intervals. The reading that straddles the edge adds
f^2 (1 - f) / 2, where f is the part of its interval before the edge. The maximum is at f = 2/3."""

ROUNDED = 1e-6
"""If an edge is nearer to a reading than this share of the interval, both have the same time."""

NEIGHBOURS = 64
"""Number of readings on either side of an edge in which fresh ones are looked for. A meter that
repeats itself for longer has no meaningful rate."""


@dataclass(frozen=True)
class ErrorBudget:
    """Limits of error of one energy in joules, as separate terms (rule 15)."""

    gain_j: Number
    """The meter's gain error times the energy."""
    constant_j: Number
    """The meter's offset times the duration, plus its fixed error of an energy."""
    quantisation_j: Number
    """Half a step for the whole duration, because a steady load is always rounded the same way."""
    edges_j: Number
    """The error from the edges of the phase, by `edges_j` or `cut_edges_j`."""
    clock_j: Number = 0.0
    """What the phase would gain or lose if it were shifted by the error of the clock's offset and
    stretched by the error of its drift; 0 for readings with times of the host."""

    @property
    def total_j(self) -> float:
        """The combined limit of error in joules.

        Gain and constant errors belong to one instrument and may be fully correlated, so they add.
        Rounding, edges and clock are independent of them and of each other, so they combine as the
        root of the sum of squares (GUM, JCGM 100:2008, 5.1.2 and note 1 of 5.2.2). If errors are
        uniform between their limits (4.3.7), at least 91 % of energies err by less.
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
    """Return the constant and edge errors as a fraction of an energy (rule 16: at most 2 %)."""
    return (budget.constant_j + budget.edges_j) / total_energy_j


def minimum_duration_s(
    power_w: float,
    *,
    constant_error_w: float,
    constant_error_j: float = 0.0,
    edges_j: float = 0.0,
    share: float = MAX_CONSTANT_EDGE_SHARE,
) -> float:
    """Return the shortest phase whose constant and edge errors are within `share` of its energy.

    This is rule 16. It is infinite if the offset alone exceeds the share at this power.

    `power_w` is the mean power, `constant_error_w` the offset of the power, and `constant_error_j`
    the fixed error of an energy. `edges_j` is the error from the edges.
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
    """Return the shortest measured interval that meets rule 16, given a measured energy.

    It is assumed that power and edges stay the same, and that constant errors grow with the length,
    except the fixed ones. It is infinite if the growing errors alone exceed the share.

    Energy, duration and budget are those of one interval, or the sums over `intervals` windows.
    `share` is the largest share of the energy for constant and edge errors. `fixed_j` is the part
    of an interval's constant errors that does not grow: the sum of the meters' `constant_error_j`.
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
    """The power on either side of an edge, and by how much a straddling reading exceeds both."""

    before_w: float
    after_w: float
    burst_w: float
    interval_s: float
    lag_s: float


def edges_j(readings: pd.DataFrame, start_s: float, end_s: float, interval_s: float) -> float:
    """Return the limit of error of an energy that the edges of its span cause, in joules.

    It is the sum of three parts: half an interval times the difference in power between the two
    edges; a small part (`STRADDLE`) of the step at each edge; and all of a burst in the reading
    that straddles an edge, as the readings do not tell on which side it was. This holds if the
    power changes at an edge in one step, or in a burst within one interval. The interval is that of
    the meter, or that between the fresh readings (not marked stale) around an edge.

    `readings` has at least `NEIGHBOURS` readings on either side of each edge, if the trace has
    them. `interval_s` is that of the meter. Raises FsgreenError if the meter has no two fresh
    readings around an edge.
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
    """Return the limit of error of a sum of means that the edges of its span cause, in joules.

    It is not known when in an interval its energy was drawn. If an edge cuts an interval, as much
    of its energy may be on one side as `most_w` allows; all of it if that is NaN. `readings` are as
    for `edges_j`.
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
    """Return the last reading that is wholly before an edge, and the first wholly after it.

    The latter comes at least one interval after the edge. A slack of 5 % absorbs the jitter of
    arrival times. Raises FsgreenError if there are no two fresh readings.
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
