"""The energy between knots in time, summed while readings come in pieces."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np

from fsgreen.trace.powerfile import Floats
from fsgreen.trace.table import Array

ROW = 128
"""Number of segments that are summed at once if there is no knot among them."""

BLOCK = 256 * ROW
"""Number of segments that are handled at once, so that their columns stay in the cache of a core
(128 KiB each)."""


@dataclass(frozen=True, slots=True)
class Segments:
    """The segments between successive readings.

    `least_s` and `most_s` are the shortest and the longest segment; both are NaN if a time is
    missing. `rows_js` has twice the energy of each whole row of `ROW` segments, from the first on.
    """

    least_s: float
    most_s: float
    rows_js: Floats

    @classmethod
    def between(cls, time_s: Floats, power_w: Floats) -> Segments:
        """Return the segments between readings. Their times need not rise."""
        count = len(time_s) - 1
        rows_js = np.empty(count // ROW)
        scratch_s = np.empty(min(count, BLOCK))
        least_s, most_s = [np.inf], [-np.inf]
        with np.errstate(invalid="ignore"):  # a reading without a value makes its row NaN
            for begin in range(0, count, BLOCK):
                end = min(begin + BLOCK, count)
                steps_s = scratch_s[: end - begin]
                np.subtract(time_s[begin + 1 : end + 1], time_s[begin:end], out=steps_s)
                least_s.append(steps_s.min())
                most_s.append(steps_s.max())
                rows = len(steps_s) // ROW
                by_row = (rows, ROW)
                of_rows_s = steps_s[: rows * ROW].reshape(by_row)
                before_w = power_w[begin : begin + rows * ROW].reshape(by_row)
                after_w = power_w[begin + 1 : begin + 1 + rows * ROW].reshape(by_row)
                sums_js = np.vecdot(of_rows_s, before_w)
                sums_js += np.vecdot(of_rows_s, after_w)
                rows_js[begin // ROW : begin // ROW + rows] = sums_js
        return cls(float(np.min(least_s)), float(np.max(most_s)), rows_js)


class Slots:
    """The energy of each slot. Slot k is between the knots k - 1 and k, which rise.

    For n knots, `energy_j` has the shape (n + 1,). A segment over a knot is divided between the
    slots. A reading without a value makes its slots NaN.
    """

    def __init__(self, knots_s: Floats) -> None:
        self.knots_s = knots_s
        self._knots = knots_s.tolist()  # single look-ups are faster in a list
        self.energy_j = np.zeros(len(knots_s) + 1)

    def add_segment(self, before: tuple[float, float], after: tuple[float, float]) -> None:
        """Add the energy between two readings, each a time and a power."""
        (begin_s, before_w), (end_s, after_w) = before, after
        first, last = bisect_right(self._knots, begin_s), bisect_left(self._knots, end_s)
        if first == last:
            self.energy_j[first] += 0.5 * (before_w + after_w) * (end_s - begin_s)
        else:
            self._add(np.array([begin_s, end_s]), np.array([before_w, after_w]), np.empty(0))

    def add(self, time_s: Floats, power_w: Floats, segments: Segments) -> None:
        """Add the energy between the first and the last reading. Their times must rise."""
        if len(time_s) > 1:
            self._add(time_s, power_w, segments.rows_js)

    def _add(self, time_s: Floats, power_w: Floats, rows_js: Floats) -> None:
        first = bisect_right(self._knots, time_s[0])
        last = bisect_left(self._knots, time_s[-1])
        knots_s = self.knots_s[first:last]
        segment = np.searchsorted(time_s, knots_s, side="right") - 1
        since_s = knots_s - time_s[segment]
        with np.errstate(invalid="ignore"):
            sums_j = 0.5 * _between(time_s, power_w, rows_js, segment)
            # The part of a segment before a knot belongs to the previous slot.
            rise_w = power_w[segment + 1] - power_w[segment]
            slope = rise_w / (time_s[segment + 1] - time_s[segment])
            before_j = since_s * (power_w[segment] + 0.5 * slope * since_s)
            before_j[since_s == 0] = 0.0
            sums_j[:-1] += before_j
            sums_j[1:] -= before_j
            self.energy_j[first : last + 1] += sums_j


def _between(time_s: Floats, power_w: Floats, rows_js: Floats, places: Array) -> Floats:
    """Return twice the energy before, between and after segments at some places, which rise.

    A row with such a place is summed segment by segment, and so is the last, incomplete row.
    """
    count, rows = len(time_s) - 1, len(rows_js)
    fine = np.zeros(rows + 1, dtype=bool)
    fine[places // ROW] = fine[rows] = True
    segment = (np.flatnonzero(fine)[:, None] * ROW + np.arange(ROW)).ravel()
    segment = segment[: np.searchsorted(segment, count)]
    lengths = np.where(fine, ROW, 1)
    lengths[rows] = count - rows * ROW
    parts_js = np.repeat(np.append(rows_js, 0.0), lengths)
    parts_js[np.repeat(fine, lengths)] = (time_s[segment + 1] - time_s[segment]) * (
        power_w[segment + 1] + power_w[segment]
    )
    begins = np.cumsum(lengths) - lengths
    cuts = np.append(0, begins[places // ROW] + places % ROW)
    sums_js: Floats = np.add.reduceat(parts_js, cuts)
    sums_js[:-1][np.diff(cuts) == 0] = 0.0
    return sums_js


class MeanSlots(Slots):
    """Slots for readings that are means since the previous one: their energy is a sum of rows.

    An interval over a knot is divided between the slots in proportion to its parts.
    """

    def add_segment(self, before: tuple[float, float], after: tuple[float, float]) -> None:
        """Add the energy between two readings, each a time and a power."""
        (begin_s, _), (end_s, mean_w) = before, after
        self._add(np.array([begin_s, end_s]), np.array([np.nan, mean_w]), np.empty(0))

    def _add(self, time_s: Floats, power_w: Floats, rows_js: Floats) -> None:
        first = bisect_right(self._knots, time_s[0])
        last = bisect_left(self._knots, time_s[-1])
        ends_s = np.union1d(time_s[1:], self.knots_s[first:last])
        parts_s = np.diff(ends_s, prepend=time_s[0])
        parts_j = power_w[np.searchsorted(time_s, ends_s)] * parts_s
        np.add.at(self.energy_j, np.searchsorted(self.knots_s, ends_s), parts_j)
