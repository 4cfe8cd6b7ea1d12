"""The readings around the two edges of a span, and checks of the energy counter between them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fsgreen.trace.budget import NEIGHBOURS
from fsgreen.trace.powerfile import PIECE, Floats, Piece


class Excerpt:
    """An excerpt of a trace whose readings come in pieces, with rising times.

    It keeps the readings on either side of each edge that an error budget needs.
    """

    def __init__(self, start_s: float, end_s: float) -> None:
        self._start_s, self._end_s = start_s, end_s
        self._edges = [_Edge(edge_s) for edge_s in (start_s, end_s)]
        self._last: tuple[float, float] | None = None
        self.counter_missing = False
        self.counter_went_back = False

    def feed(self, piece: Piece) -> None:
        """Add the next readings."""
        energy_wh = piece.energy_wh
        if not self.counter_missing:
            self._watch_counter(piece.time_s, energy_wh)
        last_wh = float("nan") if energy_wh is None else float(energy_wh[-1])
        self._last = (float(piece.time_s[-1]), last_wh)
        for edge in self._edges:
            edge.feed(piece)

    def readings(self) -> pd.DataFrame:
        """Return the readings around the edges, with the columns of a piece."""
        parts = [part for edge in self._edges for part in edge.parts()]
        columns = {name: np.concatenate([part.column(name) for part in parts]) for name in PIECE}
        _, places = np.unique(columns["time_s"], return_index=True)
        return pd.DataFrame({name: column[places] for name, column in columns.items()})

    def _watch_counter(self, time_s: Floats, energy_wh: Floats | None) -> None:
        """Check the counter from the last reading before the span to the first after it."""
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
    """The last `NEIGHBOURS` readings up to `edge_s`, and the first ones after it."""

    def __init__(self, edge_s: float) -> None:
        self._edge_s = edge_s
        self._before: list[Piece] = []
        self._after: list[Piece] = []
        self._missing = NEIGHBOURS

    def feed(self, piece: Piece) -> None:
        if self._missing == 0:
            return
        after = int(np.searchsorted(piece.time_s, self._edge_s, side="right"))
        if after > 0:
            self._before.append(piece.part(max(0, after - NEIGHBOURS), after))
            while sum(len(part.time_s) for part in self._before[1:]) >= NEIGHBOURS:
                self._before.pop(0)
        if after == len(piece.time_s):
            return
        taken = piece.part(after, after + self._missing)
        self._missing -= len(taken.time_s)
        self._after.append(taken)

    def parts(self) -> list[Piece]:
        return [*self._before, *self._after]
