"""The trace of one meter in one pass: energies, error budgets, flaws and a series, piece by piece.

What is found is that of `energy_j`, `counter_energy_j`, `error_budget` and `check_trace` on the
whole trace, to the rounding of sums; memory depends on the piece, not on the trace.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from fsgreen.trace.budget import ErrorBudget, error_budget
from fsgreen.trace.energy import JOULES_PER_WH, MAX_UNCOVERED
from fsgreen.trace.excerpt import Excerpt
from fsgreen.trace.flaw import Flaw
from fsgreen.trace.meter import MeterInfo
from fsgreen.trace.powerfile import Floats, Piece
from fsgreen.trace.slots import Segments, Slots
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
        Rising times between which `series_w` gives power.
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
        self._slots = Slots(np.unique([*np.ravel(self._spans), *self._edges_s]))
        self._checks = [SpanChecks(*span, info, under_load) for span in self._spans]
        self._excerpts = [Excerpt(*span) for span in self._spans]
        self._rising = True
        self._count = 0
        self._first = self._last = (math.nan, math.nan)

    def feed(self, piece: Piece) -> None:
        """Take the next readings."""
        if len(piece.time_s) == 0:
            return
        time_s, power_w = piece.time_s, piece.power_w
        first, last = ((float(time_s[nth]), float(power_w[nth])) for nth in (0, -1))
        segments = Segments.between(time_s, power_w)
        rising = not math.isnan(first[0]) and segments.least_s > 0
        if self._count == 0:
            self._first = first
        self._rising &= rising and (self._count == 0 or first[0] > self._last[0])
        if self._rising:
            for excerpt in self._excerpts:
                excerpt.feed(piece)
            if self._count:
                self._slots.add_segment(self._last, first)
            self._slots.add(time_s, power_w, segments)
        for checks in self._checks:
            checks.feed(piece, segments if rising else None)
        self._count += len(time_s)
        self._last = last

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
        begin, end = np.searchsorted(self._slots.knots_s, (start_s, end_s)) + 1
        parts_j = self._slots.energy_j[begin:end]
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

    def series_w(self) -> Floats:
        """Return the mean power between the edges, NaN where the trace does not cover it."""
        self._refuse_disorder()
        places = np.searchsorted(self._slots.knots_s, self._edges_s) + 1
        joules = np.add.reduceat(self._slots.energy_j[: places[-1]], places[:-1])
        starts_s, ends_s = self._edges_s[:-1], self._edges_s[1:]
        outside = (starts_s < self._first[0]) | (ends_s > self._last[0])
        return np.where(outside, np.nan, joules / (ends_s - starts_s))

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
