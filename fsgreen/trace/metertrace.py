"""The trace of one meter in one pass: energies, error budgets, flaws and a series, piece by piece.

The results do not depend on the pieces, except for the rounding of sums. The memory depends on the
pieces and the spans, not on the length of the trace.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fsgreen.trace.budget import ErrorBudget, cut_edges_j, edges_j
from fsgreen.trace.checks import SpanChecks
from fsgreen.trace.clock import ClockFit
from fsgreen.trace.excerpt import Excerpt
from fsgreen.trace.meter import MeterInfo
from fsgreen.trace.powerfile import Floats, Piece, PowerFile
from fsgreen.trace.slots import MeanSlots, Segments, Slots
from fsgreen.trace.table import Flaw, flawed
from fsgreen.units import JOULES_PER_WH

MAX_UNCOVERED = 0.01
"""Largest fraction of a span outside the trace (rule 13 requires 99 % covered)."""

FAST_HZ = 2.0
"""From this rate on, a meter has several readings per second of a series; their mean counts."""

Spans = Sequence[tuple[float, float]]


class MeterTrace:
    """The reduced trace of one meter. Its readings are fed in pieces.

    `spans` (start_s, end_s) are those of energies, budgets and flaws. Methods take the place of a
    span, from 0. `series_w` returns the power between rising times `edges_s`, shape (k + 1,), and
    `binned_w` that between `bins_s`. `clock` is the fit that converted the times to the host's
    clock; None if they are the host's own. With `means`, a power is the mean since the previous
    reading, and an energy is a sum of rows.
    """

    def __init__(
        self,
        info: MeterInfo,
        spans: Spans,
        edges_s: ArrayLike = (),
        bins_s: ArrayLike = (),
        *,
        clock: ClockFit | None = None,
        means: bool = False,
    ) -> None:
        self._info = info
        self._spans = list(spans)
        self._clock = clock
        self._means = means
        self._edges_s = np.asarray(edges_s, dtype=float)
        self._is_fast = info.rate_hz >= FAST_HZ
        self._values_w = np.full(len(self._edges_s), np.nan)
        shift_s = 0.0 if clock is None else clock.offset_error_s
        ends_s = np.ravel(self._spans)
        means_s = self._edges_s if self._is_fast else ()
        knots_s = np.unique([*ends_s, *(ends_s - shift_s), *(ends_s + shift_s), *means_s])
        slots = MeanSlots if means else Slots
        self._slots, self._bins = slots(knots_s), slots(np.asarray(bins_s, dtype=float))
        self._filled = (self._slots, self._bins) if np.size(bins_s) else (self._slots,)
        self._checks = [SpanChecks(*span, info) for span in self._spans]
        self._excerpts = [Excerpt(*span) for span in self._spans]
        self._rising = True
        self._count = 0
        self._first = self._last = (math.nan, math.nan)

    @classmethod
    def of(
        cls,
        readings: pd.DataFrame,
        info: MeterInfo,
        spans: Spans,
        edges_s: ArrayLike = (),
        clock: ClockFit | None = None,
        *,
        means: bool = False,
    ) -> Self:
        """Return the reduced form of a trace in memory, with the columns of `power.parquet`.

        Raises FsgreenError if the trace has several meters, or if a column lacks its unit, has a
        wrong one, or does not hold numbers.
        """
        trace = cls(info, spans, edges_s, clock=clock, means=means)
        trace.feed(Piece.of(readings))
        return trace

    def feed(self, piece: Piece) -> None:
        """Add the next readings."""
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
            for slots in self._filled:
                if self._count:
                    slots.add_segment(self._last, first)
                slots.add(time_s, power_w, segments)
            if not self._is_fast:
                self._interpolate(time_s, power_w)
        for checks in self._checks:
            checks.feed(piece, segments if rising else None)
        self._count += len(time_s)
        self._last = last

    def energy_j(self, nth: int = 0) -> float:
        """Return the energy of a span in joules, by the trapezoid rule; for means, by their sum.

        The power at the two edges is interpolated between the neighbouring readings. For means, an
        interval that an edge cuts counts in proportion to its part inside.

        Raises FsgreenError if the trace is unordered, leaves more than 1 % of the span uncovered,
        or has a reading without a value in it.
        """
        self._refuse_uncovered(nth)
        return self._between_j(*self._spans[nth])

    def covered_energy_j(self, nth: int = 0) -> tuple[float, float]:
        """Return energy and duration of the part of a span that the trace covers.

        Raises FsgreenError if the trace is unordered or has a reading without a value there.
        """
        start_s, end_s = self._spans[nth]
        self._refuse_disorder()
        covered_s = min(end_s, self._last[0]) - max(start_s, self._first[0])
        return self._inside_j(start_s, end_s), max(0.0, covered_s)

    def counter_energy_j(self, nth: int = 0) -> float:
        """Return the energy by the meter's own counter, in joules; NaN if it has none.

        Report it beside `energy_j`, never in its place: a Watts Up counts in steps of 0.1 Wh
        (360 J). Raises FsgreenError as `energy_j` does, and if the counter went back.
        """
        self._refuse_uncovered(nth)
        excerpt = self._excerpts[nth]
        if excerpt.counter_missing:
            return math.nan
        if excerpt.counter_went_back:
            raise flawed("the meter's energy counter went back (memory cleared or power lost)")
        readings = excerpt.readings()
        first, last = np.interp(self._spans[nth], readings["time_s"], readings["energy_wh"])
        return float(last - first) * JOULES_PER_WH

    def error_budget(self, nth: int = 0) -> ErrorBudget:
        """Return the limits of error of `energy_j` (rule 15). Raises FsgreenError as it does."""
        energy_j, info = self.energy_j(nth), self._info
        start_s, end_s = self._spans[nth]
        duration_s = end_s - start_s
        around = self._excerpts[nth].readings()
        return ErrorBudget(
            gain_j=info.gain_error * energy_j,
            constant_j=info.constant_error_w * duration_s + info.constant_error_j,
            quantisation_j=info.resolution_w / 2 * duration_s,
            edges_j=cut_edges_j(around, start_s, end_s, info.range_w)
            if self._means
            else edges_j(around, start_s, end_s, 1 / info.rate_hz),
            clock_j=self._clock_j(energy_j, start_s, end_s),
        )

    def flaws(self, nth: int = 0) -> list[Flaw]:
        """Return the flaws that make the trace unfit for a span (rules 13, 14 and 21)."""
        return self._checks[nth].flaws()

    def series_w(self) -> Floats:
        """Return the power of each interval between the edges, shape (k,), in watts.

        It is the mean; NaN if the trace does not cover the interval. For a meter below `FAST_HZ`,
        whose readings are means themselves, it is the value at the end of the interval. Raises
        FsgreenError if the trace is unordered.
        """
        self._refuse_disorder()
        starts_s, ends_s = self._edges_s[:-1], self._edges_s[1:]
        if not self._is_fast:
            values_w = np.where(ends_s < self._first[0], self._first[1], self._values_w[1:])
            return np.where(ends_s > self._last[0], self._last[1], values_w)
        places = np.searchsorted(self._slots.knots_s, self._edges_s) + 1
        joules = np.add.reduceat(self._slots.energy_j[: places[-1]], places[:-1])
        outside = (starts_s < self._first[0]) | (ends_s > self._last[0])
        return np.where(outside, np.nan, joules / (ends_s - starts_s))

    def binned_w(self) -> Floats:
        """Return the mean power of each bin, shape (k,), in watts.

        NaN if the trace does not cover the bin, or has a reading without a value in it. Raises
        FsgreenError if the trace is unordered.
        """
        self._refuse_disorder()
        edges_s = self._bins.knots_s
        outside = (edges_s[:-1] < self._first[0]) | (edges_s[1:] > self._last[0])
        return np.where(outside, np.nan, self._bins.energy_j[1:-1] / np.diff(edges_s))

    def _interpolate(self, time_s: Floats, power_w: Floats) -> None:
        """Interpolate the power at the edges between these readings and the previous one."""
        if self._count:
            time_s = np.append(self._last[0], time_s)
            power_w = np.append(self._last[1], power_w)
        begin = int(np.searchsorted(self._edges_s, time_s[0], side="left"))
        end = int(np.searchsorted(self._edges_s, time_s[-1], side="right"))
        self._values_w[begin:end] = np.interp(self._edges_s[begin:end], time_s, power_w)

    def _between_j(self, start_s: float, end_s: float) -> float:
        """Return the energy between two knots. Outside the trace, its outermost reading counts."""
        early_s, late_s = max(0.0, self._first[0] - start_s), max(0.0, end_s - self._last[0])
        joules = self._inside_j(start_s, end_s)
        joules += early_s * self._first[1] if early_s else 0.0
        return joules + (late_s * self._last[1] if late_s else 0.0)

    def _inside_j(self, start_s: float, end_s: float) -> float:
        begin, end = np.searchsorted(self._slots.knots_s, (start_s, end_s)) + 1
        parts_j = self._slots.energy_j[begin:end]
        if not np.isfinite(parts_j).all():
            raise flawed("the span holds a reading without a value")
        return math.fsum(parts_j)

    def _clock_j(self, energy_j: float, start_s: float, end_s: float) -> float:
        """Return the energy that a span gains or loses by errors of the clock's offset and drift.

        Both errors come from one fit and may have any sign, so their effects add.
        """
        if self._clock is None:
            return 0.0
        shift_s = self._clock.offset_error_s
        moved_j = [self._between_j(start_s + by_s, end_s + by_s) for by_s in (-shift_s, shift_s)]
        drift_j = 1e-6 * self._clock.drift_error_ppm * energy_j
        return max(abs(joules - energy_j) for joules in moved_j) + drift_j

    def _refuse_uncovered(self, nth: int) -> None:
        """Raise FsgreenError if more than 1 % of a span is outside the trace."""
        start_s, end_s = self._spans[nth]
        if not end_s > start_s:
            raise flawed(f"the span from {start_s} s to {end_s} s has no length")
        self._refuse_disorder()
        outside_s = max(0.0, self._first[0] - start_s) + max(0.0, end_s - self._last[0])
        if outside_s > MAX_UNCOVERED * (end_s - start_s):
            raise flawed(f"{outside_s:.3g} s of {end_s - start_s:.3g} s lie outside the trace")

    def _refuse_disorder(self) -> None:
        if not self._rising or self._count < 2:
            raise flawed("the trace needs two readings or more with rising times")


def reduce_power(
    file: Path,
    infos: Mapping[str, MeterInfo],
    spans: Spans,
    edges_s: ArrayLike = (),
    bins_s: Mapping[str, ArrayLike] = {},
) -> dict[str, MeterTrace]:
    """Return the reduced trace of each meter of `infos` in a `power.parquet`.

    `edges_s`, and `bins_s` of each meter by its name, are those of `MeterTrace`. Meters are reduced
    in parallel. The memory is limited by the row groups of the file for each span, for any length
    of the file. Raises FsgreenError if the file cannot be read. A meter without readings has no
    energy: its methods raise FsgreenError.
    """

    def reduced(name: str) -> MeterTrace:
        trace = MeterTrace(infos[name], spans, edges_s, bins_s.get(name, ()))
        with PowerFile(file) as power:
            for piece in power.pieces(name):
                trace.feed(piece)
        return trace

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(zip(infos, pool.map(reduced, infos), strict=True))
