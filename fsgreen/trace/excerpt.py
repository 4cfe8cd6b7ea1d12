"""The readings around the two edges of a span, and what its energy counter did between them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fsgreen.trace.powerfile import Floats, Piece


class Excerpt:
    """Taken while the readings of a trace pass by, in pieces with rising times.

    Kept are, for each edge, the last reading before it and those after it up to the first that
    lies wholly beyond it: what a step of power across it, or a value at it, is found from.
    """

    def __init__(self, start_s: float, end_s: float, interval_s: float) -> None:
        self._start_s, self._end_s = start_s, end_s
        self._edges = [_Edge(edge_s, edge_s + interval_s) for edge_s in (start_s, end_s)]
        self._last: tuple[float, float] | None = None
        self.counter_missing = False
        self.counter_went_back = False

    def feed(self, piece: Piece) -> None:
        """Take the next readings."""
        energy_wh = piece.energy_wh
        if not self.counter_missing:
            self._watch_counter(piece.time_s, energy_wh)
        if energy_wh is None:
            energy_wh = np.broadcast_to(np.float64("nan"), piece.time_s.shape)
        for edge in self._edges:
            edge.feed(piece.time_s, piece.power_w, energy_wh)
        self._last = (float(piece.time_s[-1]), float(energy_wh[-1]))

    def readings(self) -> pd.DataFrame:
        """Return the readings around the edges: `time_s`, `power_w` and `energy_wh`."""
        rows = np.hstack([edge.rows() for edge in self._edges])
        _, places = np.unique(rows[0], return_index=True)
        time_s, power_w, energy_wh = rows[:, places]
        return pd.DataFrame({"time_s": time_s, "power_w": power_w, "energy_wh": energy_wh})

    def _watch_counter(self, time_s: Floats, energy_wh: Floats | None) -> None:
        """Look at the counter from the last reading before the span to the first after it."""
        begin_s = time_s[0] if self._last is None else self._last[0]
        if time_s[-1] <= self._start_s or begin_s >= self._end_s:
            return
        if energy_wh is None:
            self.counter_missing = True
            return
        if self._last is not None:
            time_s = np.concatenate(([self._last[0]], time_s))
            energy_wh = np.concatenate(([self._last[1]], energy_wh))
        first = max(0, int(np.searchsorted(time_s, self._start_s, side="right")) - 1)
        last = int(np.searchsorted(time_s, self._end_s, side="left"))
        inside_wh = energy_wh[first : last + 1]
        self.counter_missing = bool(np.isnan(inside_wh).any())
        self.counter_went_back |= bool((np.diff(inside_wh) < 0).any())


class _Edge:
    """The readings from the last one at or before `edge_s` to the first at or after `beyond_s`."""

    def __init__(self, edge_s: float, beyond_s: float) -> None:
        self._edge_s, self._beyond_s = edge_s, beyond_s
        self._kept: list[np.ndarray] = []
        self._begun = self._done = False

    def feed(self, *columns: Floats) -> None:
        time_s = columns[0]
        if self._done:
            return
        after = int(np.searchsorted(time_s, self._edge_s, side="right"))
        beyond = int(np.searchsorted(time_s, self._beyond_s, side="left"))
        if after > 0:
            self._kept = []
        self._kept.append(np.stack([column[max(0, after - 1) : beyond + 1] for column in columns]))
        self._done = beyond < len(time_s)

    def rows(self) -> np.ndarray:
        return np.hstack(self._kept)
