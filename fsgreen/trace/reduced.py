"""The meters of a `power.parquet`, each reduced: in memory, or in one pass where it is large."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fsgreen.trace.budget import ErrorBudget, error_budget
from fsgreen.trace.checks import check_trace
from fsgreen.trace.energy import energy_j
from fsgreen.trace.flaw import Flaw
from fsgreen.trace.meter import MeterInfo
from fsgreen.trace.powerfile import Floats, Piece, PowerFile
from fsgreen.trace.stream import Streamed

LARGE_COUNT = 1_000_000
"""Readings beyond which a file is not held in memory: ten days of a reading a second."""

FAST_HZ = 2.0
"""A meter of this rate or more has several readings in a second of a series: their mean counts."""

Spans = Sequence[tuple[float, float]]


class Reduced(Protocol):
    """What is asked of one meter's trace; `nth` is the place of a span."""

    def energy_j(self, nth: int = 0) -> float:
        """Return the energy of a span, as `trace.energy_j`."""
        ...

    def covered_energy_j(self, nth: int = 0) -> tuple[float, float]:
        """Return the energy of that part of a span which the trace covers, and its duration."""
        ...

    def error_budget(self, nth: int = 0) -> ErrorBudget:
        """Return the error budget of a span, as `trace.error_budget`."""
        ...

    def flaws(self, nth: int = 0) -> list[Flaw]:
        """Return what makes the trace unfit for a span, as `trace.check_trace`."""
        ...

    def series_w(self) -> Floats:
        """Return the power of each interval between the edges: its mean, or that at its end."""
        ...


class Held:
    """One meter's trace in memory: a data frame with the columns of `power.parquet`."""

    def __init__(
        self, readings: pd.DataFrame, info: MeterInfo, spans: Spans, edges_s: ArrayLike = ()
    ) -> None:
        self._readings = readings.drop(columns="meter")
        self._power = readings[["time_s", "power_w", "quality"]]
        self._info, self._spans = info, spans
        self._edges_s = np.asarray(edges_s, dtype=float)

    def energy_j(self, nth: int = 0) -> float:
        """Return the energy of a span."""
        return energy_j(self._power, *self._spans[nth])

    def covered_energy_j(self, nth: int = 0) -> tuple[float, float]:
        """Return the energy of that part of a span which the trace covers, and its duration."""
        (start_s, end_s), time_s = self._spans[nth], self._readings["time_s"]
        start_s, end_s = max(start_s, time_s.iloc[0]), min(end_s, time_s.iloc[-1])
        if not end_s > start_s:
            return 0.0, 0.0
        return energy_j(self._power, start_s, end_s), end_s - start_s

    def error_budget(self, nth: int = 0) -> ErrorBudget:
        """Return the error budget of a span."""
        return error_budget(self._power, *self._spans[nth], self._info)

    def flaws(self, nth: int = 0) -> list[Flaw]:
        """Return what makes the trace unfit for a span."""
        info = self._info
        return check_trace(self._readings, *self._spans[nth], info.rate_hz, info=info)

    def series_w(self) -> Floats:
        """Return the mean of each interval; of a slow meter, whose readings are means, its end."""
        if self._info.rate_hz >= FAST_HZ:
            streamed = Streamed(self._info, (), self._edges_s)
            streamed.feed(
                Piece(*(self._readings[name].to_numpy(float) for name in ("time_s", "power_w")))
            )
            return streamed.series_w()
        return np.interp(self._edges_s[1:], self._readings["time_s"], self._readings["power_w"])


def reduce_power(
    file: Path, infos: Mapping[str, MeterInfo], spans: Spans, edges_s: ArrayLike = ()
) -> dict[str, Reduced]:
    """Reduce the trace of each meter of `infos`, several at once.

    Memory is bounded by the row groups of the file, whatever its length. Raises FsgreenError
    where the file cannot be read; a meter without readings has no energy, which raises then.
    """

    with PowerFile(file) as power:
        large = power.readings_count > LARGE_COUNT
        held: dict[str, Reduced] = {
            name: Held(power.frame(name), info, spans, edges_s)
            for name, info in infos.items()
            if not large or info.rate_hz < FAST_HZ
        }

    def streamed(name: str) -> Streamed:
        passing = Streamed(infos[name], spans, edges_s)
        with PowerFile(file) as power:
            for piece in power.pieces(name):
                passing.feed(piece)
        return passing

    fast = [name for name in infos if name not in held]
    if not fast:
        return held
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        passed = dict(zip(fast, pool.map(streamed, fast), strict=True))
    return {name: held[name] if name in held else passed[name] for name in infos}
