"""Frames of a source: what is new goes into the columns of a window, and the window is sent."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters import Readings
from fsgreen.meters.core.readings import Floats
from fsgreen.trace import REMARKS
from fsgreen.view.source import Source
from fsgreen.view.window import Window

AHEAD_S = 1.0
"""A reading further ahead of the source's time has a wrong time, and is not shown."""


@dataclass(frozen=True)
class Frame:
    """The state of a window.

    `layers` is (3, series, columns): lowest, highest, flagged; the meters in their order, then the
    work. `about` holds, in seconds since `Frames.zero_s`, `start_s` of the first column, `width_s`
    of each and the `phases` (name, start, end or None); `newest` (the last value of each series or
    None) and `flags` (the words on flagged readings).
    """

    layers: NDArray[np.float32]
    about: dict[str, Any]


@dataclass
class _Series:
    """How far a series was followed."""

    seen_s: float
    newest: float | None = None


@dataclass
class _News:
    """What a series has that was not seen before."""

    time_s: Floats
    values: Floats
    flagged: list[int] = field(default_factory=list)


class Frames:
    """Makes frames of a source: of the last seconds, or of a range that stays.

    Readings are asked for once, after the newest so far. One that arrives after a newer one is not
    shown before the next `follow` or `show`.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._names = tuple(source.meters)
        firsts = [source.since(name, -math.inf).time_s[:1] for name in self._names]
        self.zero_s = float(min([source.now_s(), *np.concatenate([*firsts, []])]))
        """The time that a frame's times are counted from: the first reading's."""
        self.follow(60.0, 1)

    def follow(self, span_s: float, columns: int) -> None:
        """Show the last `span_s` seconds from now on."""
        start_s = max(self.zero_s, self._source.now_s() - span_s)
        self._begin(columns, start_s, span_s / columns, follows=True)

    def show(self, from_s: float, to_s: float, columns: int) -> None:
        """Show a range, in seconds since `zero_s`, and stay there."""
        self._begin(columns, self.zero_s + from_s, (to_s - from_s) / columns, follows=False)

    def next(self) -> Frame:
        """Return the state of now."""
        now_s = self._source.now_s()
        news = self._news(now_s)
        if self._follows:
            ends_s = [series.seen_s for series in self._series]
            self._window.move(max(now_s, *ends_s))
        for nth, new in enumerate(news):
            self._window.add(nth, new.time_s, new.values, new.flagged)
        start_s = self._window.start_s - self.zero_s
        return Frame(
            self._window.layers(),
            {
                "start_s": start_s,
                "width_s": self._window.width_s,
                "phases": self._phases(),
                "newest": [series.newest for series in self._series],
                "flags": sorted(self._flags),
            },
        )

    def _begin(self, columns: int, start_s: float, width_s: float, *, follows: bool) -> None:
        self._follows = follows
        self._window = Window(len(self._names) + 1, columns, start_s, width_s)
        before_s = float(np.nextafter(start_s, -math.inf))
        self._series = [_Series(before_s) for _ in (*self._names, "work")]
        self._flags: set[str] = set()

    def _news(self, now_s: float) -> list[_News]:
        *meters, work = self._series
        news = []
        for name, series in zip(self._names, meters, strict=True):
            readings = self._source.since(name, series.seen_s)
            news.append(_News(readings.time_s, readings.power_w, self._flagged(readings)))
        done = self._source.work(work.seen_s)
        news.append(_News(done.time_s, done.throughput_ops_s))
        for series, new in zip(self._series, news, strict=True):
            time_s, values = new.time_s, new.values
            if not time_s.size:
                continue
            newest_s = float(time_s.max())
            if not newest_s <= now_s + AHEAD_S:
                in_time = time_s <= now_s + AHEAD_S
                time_s, values = time_s[in_time], values[in_time]
                newest_s = float(time_s.max(initial=-math.inf))
            if time_s.size:
                series.seen_s = max(series.seen_s, newest_s)
                series.newest = float(values[-1]) if math.isfinite(values[-1]) else None
        return news

    def _flagged(self, readings: Readings) -> list[int]:
        flagged = []
        for nth, quality in readings.flags.items():
            if flags := set(quality.split("|")) - REMARKS:
                flagged.append(nth)
                self._flags |= flags
        return flagged

    def _phases(self) -> list[tuple[str, float, float | None]]:
        window, zero_s = self._window, self.zero_s
        return [
            (phase.name, phase.start_s - zero_s, _or_none(phase.end_s - zero_s))
            for phase in self._source.phases()
            if phase.start_s < window.end_s and phase.end_s > window.start_s
        ]


def _or_none(end_s: float) -> float | None:
    return None if end_s == math.inf else end_s
