"""A window of time in columns, each with its least and greatest value: no spike is lost."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.core.readings import Floats

LOWEST, HIGHEST, FLAGGED = range(3)
"""The layers of a window: least value, greatest value, number of flagged readings."""


class Window:
    """So many columns of `width_s` seconds for each of several series.

    Column k holds the values of times from `start_s + k * width_s` to the next. A column without a
    value is NaN. What it costs to add readings does not depend on the size of the window.
    """

    def __init__(self, series: int, columns: int, start_s: float, width_s: float) -> None:
        self._origin_s = start_s
        self.width_s = width_s
        self.columns = columns
        self._last = columns - 1
        # A ring: column number k, counted from the origin, is at place k modulo the columns.
        self._ring = np.empty((3, series, columns), dtype="<f4")
        self._clear(slice(None))

    @property
    def start_s(self) -> float:
        """Where the first column begins."""
        return self._origin_s + (self._last + 1 - self.columns) * self.width_s

    @property
    def end_s(self) -> float:
        """Where the last column ends."""
        return self._origin_s + (self._last + 1) * self.width_s

    def move(self, until_s: float) -> None:
        """Let the window end with the column that holds `until_s`; it never goes back."""
        last = int((until_s - self._origin_s) // self.width_s)
        if last > self._last:
            first = max(self._last + 1, last + 1 - self.columns)
            self._clear(np.arange(first, last + 1) % self.columns)
            self._last = last

    def add(self, nth: int, time_s: Floats, values: Floats, flagged: Sequence[int] = ()) -> None:
        """Add values of the series `nth`, and which of them are flagged; the rest is ignored.

        A value outside the window, or without a finite time, leaves no trace in it.
        """
        if time_s.size == 1 and not flagged:
            self._add_one(nth, float(time_s[0]), float(values[0]))
            return
        if not time_s.size:
            return
        column = np.floor((time_s - self._origin_s) / self.width_s)
        oldest = self._last + 1 - self.columns
        if flagged:
            marked = column[flagged]
            marked = marked[(marked >= oldest) & (marked <= self._last)].astype(np.int64)
            np.add.at(self._ring[FLAGGED, nth], marked % self.columns, 1)
        if not (column.min() >= oldest and column.max() <= self._last):
            inside = (column >= oldest) & (column <= self._last)
            column, values = column[inside], values[inside]
            if not values.size:
                return
        numbers = column.astype(np.int64)
        starts = np.concatenate(([0], np.flatnonzero(np.diff(numbers)) + 1))
        places = numbers[starts] % self.columns
        # A column can begin more than once where times do not rise.
        with np.errstate(over="ignore"):
            for layer, extreme in ((LOWEST, np.fmin), (HIGHEST, np.fmax)):
                extreme.at(self._ring[layer, nth], places, extreme.reduceat(values, starts))

    def layers(self) -> NDArray[np.float32]:
        """Return (3, series, columns) in order of time: lowest, highest, flagged."""
        first = (self._last + 1) % self.columns
        return np.concatenate((self._ring[:, :, first:], self._ring[:, :, :first]), axis=2)

    def _add_one(self, nth: int, time_s: float, value: float) -> None:
        """Add a value as `add` does; a slow meter has one a frame, and arrays of one cost most."""
        column = (time_s - self._origin_s) / self.width_s
        if not self._last + 1 - self.columns <= column < self._last + 1:
            return
        place = math.floor(column) % self.columns
        with np.errstate(over="ignore"):
            for layer, extreme in ((LOWEST, np.fmin), (HIGHEST, np.fmax)):
                self._ring[layer, nth, place] = extreme(self._ring[layer, nth, place], value)

    def _clear(self, places: slice | NDArray[np.int64]) -> None:
        self._ring[:FLAGGED, :, places] = np.nan
        self._ring[FLAGGED, :, places] = 0
