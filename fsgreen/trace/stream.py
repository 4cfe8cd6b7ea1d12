"""The trace of one meter in one pass: energies, error budgets, flaws and a series, piece by piece.

What is found is that of `energy_j`, `counter_energy_j`, `error_budget` and `check_trace` on the
whole trace, to the rounding of sums; memory depends on the piece, not on the trace.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fsgreen.trace.budget import ErrorBudget, error_budget
from fsgreen.trace.energy import JOULES_PER_WH, MAX_UNCOVERED
from fsgreen.trace.excerpt import Excerpt
from fsgreen.trace.flaw import Flaw
from fsgreen.trace.meter import MeterInfo
from fsgreen.trace.powerfile import Floats, Piece
from fsgreen.trace.spanchecks import SpanChecks
from fsgreen.trace.table import flawed


class Streamed:
    """One meter's trace as it passes by.

    Parameters
    ----------
    info : MeterInfo
        The meter.
    spans : sequence of (start_s, end_s)
        What energies, budgets and flaws are asked for; an answer is had by a span's place.
    edges_s : array_like
        Rising times between which `series` gives power.
    under_load : bool
        Whether a reading of 0 W is a flaw.
    """

    def __init__(
        self,
        info: MeterInfo,
        spans: Sequence[tuple[float, float]],
        edges_s: ArrayLike = (),
        *,
        under_load: bool = True,
    ) -> None:
        self._info = info
        self._spans = list(spans)
        self._edges_s = np.asarray(edges_s, dtype=float)
        # Everything is summed between knots: slot k lies between the knots k - 1 and k.
        self._knots_s = np.unique([*np.ravel(self._spans), *self._edges_s])
        slots = len(self._knots_s) + 1
        self._energy_j = np.zeros(slots)
        self._least_w, self._most_w = np.full(slots, np.inf), np.full(slots, -np.inf)
        self._checks = [SpanChecks(*span, info, under_load) for span in self._spans]
        self._excerpts = [Excerpt(*span) for span in self._spans]
        self._scratch = np.empty((2, 0))
        self._rising = True
        self._count = 0
        self._first = self._last = (math.nan, math.nan)

    def feed(self, piece: Piece) -> None:
        """Take the next readings."""
        if len(piece.time_s) == 0:
            return
        time_s, power_w = piece.time_s, piece.power_w
        if self._scratch.shape[1] < len(time_s):
            self._scratch = np.empty((2, len(time_s)))  # kept: fresh memory costs more than sums
        steps_s = np.subtract(time_s[1:], time_s[:-1], out=self._scratch[0, : len(time_s) - 1])
        rising = not math.isnan(time_s[0]) and bool(steps_s.min(initial=np.inf) > 0)
        for checks in self._checks:
            checks.feed(piece, steps_s if rising else None)
        if self._count == 0:
            self._first = (float(time_s[0]), float(power_w[0]))
        self._rising &= rising and (self._count == 0 or time_s[0] > self._last[0])
        if self._rising:
            for excerpt in self._excerpts:
                excerpt.feed(piece)
            if self._count:
                link = np.array([self._last, (time_s[0], power_w[0])]).T
                self._add_energy(link[0], link[1], np.diff(link[0]))
            self._add_energy(time_s, power_w, steps_s)
            if len(self._edges_s):
                self._add_extremes(time_s, power_w)
        self._count += len(time_s)
        self._last = (float(time_s[-1]), float(power_w[-1]))

    def energy_j(self, nth: int = 0) -> float:
        """Return the energy of a span as `trace.energy_j` does; raises as that does."""
        early_s, late_s = self._uncovered_s(nth)
        joules, _ = self.covered_energy_j(nth)
        joules += early_s * self._first[1] if early_s else 0.0
        return joules + (late_s * self._last[1] if late_s else 0.0)

    def covered_energy_j(self, nth: int = 0) -> tuple[float, float]:
        """Return the energy of that part of a span which the trace covers, and its duration."""
        start_s, end_s = self._spans[nth]
        self._refuse_disorder()
        begin, end = np.searchsorted(self._knots_s, (start_s, end_s)) + 1
        parts_j = self._energy_j[begin:end]
        if not np.isfinite(parts_j).all():
            raise flawed("the span holds a reading without a value")
        covered_s = min(end_s, self._last[0]) - max(start_s, self._first[0])
        return math.fsum(parts_j), max(0.0, covered_s)

    def counter_energy_j(self, nth: int = 0) -> float:
        """Return the energy by the meter's counter as `trace.counter_energy_j` does."""
        self._uncovered_s(nth)
        excerpt = self._excerpts[nth]
        if excerpt.counter_missing:
            return math.nan
        if excerpt.counter_went_back:
            raise flawed("the meter's energy counter went back (memory cleared or power lost)")
        readings = excerpt.readings()
        first, last = np.interp(self._spans[nth], readings["time_s"], readings["energy_wh"])
        return float(last - first) * JOULES_PER_WH

    def error_budget(self, nth: int = 0) -> ErrorBudget:
        """Return the error budget of a span as `trace.error_budget` does; raises as that does.

        Only its gain term is of the whole energy; the others are of the meter, the duration and
        the readings around the edges.
        """
        gain_j = self._info.gain_error * self.energy_j(nth)
        around = self._excerpts[nth].readings()
        edges = error_budget(around, *self._spans[nth], self._info)
        return replace(edges, gain_j=gain_j)

    def flaws(self, nth: int = 0) -> list[Flaw]:
        """Return what makes the trace unfit for a span, as `trace.check_trace` does."""
        return self._checks[nth].flaws()

    def series(self) -> pd.DataFrame:
        """Return power between the edges: mean, and the least and greatest reading.

        `time_s` is the end of an interval; its mean is its energy over its length, NaN where the
        trace does not cover it; extremes are NaN where no reading ends in it.
        """
        self._refuse_disorder()
        places = np.searchsorted(self._knots_s, self._edges_s) + 1
        starts_s, ends_s = self._edges_s[:-1], self._edges_s[1:]
        joules, least_w, most_w = (
            how.reduceat(slots[: places[-1]], places[:-1])
            for how, slots in (
                (np.add, self._energy_j),
                (np.minimum, self._least_w),
                (np.maximum, self._most_w),
            )
        )
        outside = (starts_s < self._first[0]) | (ends_s > self._last[0])
        return pd.DataFrame(
            {
                "time_s": ends_s,
                "power_w": np.where(outside, np.nan, joules / (ends_s - starts_s)),
                "power_min_w": np.where(np.isposinf(least_w), np.nan, least_w),
                "power_max_w": np.where(np.isneginf(most_w), np.nan, most_w),
            }
        )

    def series_w(self) -> Floats:
        """Return the mean power between the edges, as `series` does."""
        return self.series()["power_w"].to_numpy(float)

    def _add_energy(self, time_s: Floats, power_w: Floats, steps_s: Floats) -> None:
        """Add the energy between the first and the last of some readings to the slots."""
        first = int(np.searchsorted(self._knots_s, time_s[0], side="right"))
        last = int(np.searchsorted(self._knots_s, time_s[-1], side="left"))
        if len(steps_s) == 0 or (first == last and first in (0, len(self._knots_s))):
            return
        knots_s = self._knots_s[first:last]
        segment = np.searchsorted(time_s, knots_s, side="right") - 1
        since_s = knots_s - time_s[segment]
        with np.errstate(invalid="ignore"):  # a reading without a value makes its slots NaN
            twice_j = np.add(power_w[1:], power_w[:-1], out=self._scratch[1, : len(steps_s)])
            twice_j *= steps_s
            sums_j = 0.5 * _reduced(np.add, twice_j, segment, nothing=0.0)
            # Of the segment that holds a knot, what lies before it belongs to the slot before.
            slope = (power_w[segment + 1] - power_w[segment]) / steps_s[segment]
            before_j = since_s * (power_w[segment] + 0.5 * slope * since_s)
            before_j[since_s == 0] = 0.0
            sums_j[:-1] += before_j
            sums_j[1:] -= before_j
            self._energy_j[first : last + 1] += sums_j

    def _add_extremes(self, time_s: Floats, power_w: Floats) -> None:
        """Add readings to the least and the most of the slots in which they end."""
        first, last = np.searchsorted(self._knots_s, (time_s[0], time_s[-1]), side="left")
        begins = np.searchsorted(time_s, self._knots_s[first:last], side="right")
        slots = slice(first, last + 1)
        least_w = _reduced(np.minimum, power_w, begins, nothing=np.inf)
        most_w = _reduced(np.maximum, power_w, begins, nothing=-np.inf)
        self._least_w[slots] = np.minimum(self._least_w[slots], least_w)
        self._most_w[slots] = np.maximum(self._most_w[slots], most_w)

    def _uncovered_s(self, nth: int) -> tuple[float, float]:
        """Return how much of a span lies before and after the trace; refuses more than 1 %."""
        start_s, end_s = self._spans[nth]
        if not end_s > start_s:
            raise flawed(f"the span from {start_s} s to {end_s} s has no length")
        self._refuse_disorder()
        early_s, late_s = max(0.0, self._first[0] - start_s), max(0.0, end_s - self._last[0])
        outside_s = early_s + late_s
        if outside_s > MAX_UNCOVERED * (end_s - start_s):
            raise flawed(f"{outside_s:.3g} s of {end_s - start_s:.3g} s lie outside the trace")
        return early_s, late_s

    def _refuse_disorder(self) -> None:
        if not self._rising or self._count < 2:
            raise flawed("the trace needs two readings or more with rising times")


def _reduced(how: np.ufunc, values: Floats, begins: np.ndarray, nothing: float) -> Floats:
    """Reduce what lies before, between and after some places; `nothing` where nothing lies."""
    places = np.concatenate(([0], begins))
    reduced: Floats = how.reduceat(values, places)
    reduced[:-1][np.diff(places) == 0] = nothing
    return reduced
