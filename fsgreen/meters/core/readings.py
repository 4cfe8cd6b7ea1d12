"""Readings of a meter, single or in columns, and the newest ones for live views."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from fsgreen.trace import REMARKS

NAN = float("nan")

Floats = NDArray[np.float64]

KEPT = 1_000_000
"""Most readings that are kept: 50 s at 20 kHz, or 40 MB with four quantities."""
KEPT_CHUNKS = 10_000
"""Most chunks that are kept, for slow meters with one reading per chunk: almost 3 h at 1 Hz."""

Mask = NDArray[np.bool_]

AGREEMENT = 0.10
"""Largest relative difference between values of one reading of a sound meter that give the same
power, such as W and V * I * power factor."""

LEAST_VA = 10.0
"""Apparent power below which volts and amperes are not checked: meters for plugs sense no current
below some watts. A Watts Up shows 0 A below 5 W, a power factor of 1, and the watts as VA."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading. A value that the meter did not give is NaN.

    `quality` is "ok", or the flags, joined by `|`.
    """

    time_s: float
    power_w: float
    voltage_v: float = NAN
    current_a: float = NAN
    energy_wh: float = NAN
    quality: str = "ok"


QUANTITIES = tuple(f.name for f in fields(Reading) if f.name != "quality")


@dataclass(frozen=True, slots=True, eq=False)
class Readings(Sequence[Reading]):
    """Readings in columns of equal length, shape (readings,), as fast meters need.

    A quantity that the meter does not give is None, which reads as NaN. `flags` has the quality of
    each reading that is not "ok", by its place. Two objects are equal only if they are the same.
    """

    time_s: Floats
    power_w: Floats
    voltage_v: Floats | None = None
    current_a: Floats | None = None
    energy_wh: Floats | None = None
    flags: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, readings: Iterable[Reading]) -> Self:
        """Return single readings in columns. Readings in columns are returned unchanged."""
        if isinstance(readings, cls):
            return readings
        rows = list(readings)
        table = np.array([[getattr(row, name) for row in rows] for name in QUANTITIES], float)
        columns = dict(zip(QUANTITIES, table, strict=True))
        flags = {nth: row.quality for nth, row in enumerate(rows) if row.quality != "ok"}
        return cls(**columns, flags=flags)

    @classmethod
    def joined(cls, several: Iterable[Readings]) -> Self:
        """Return several pieces of readings as one, in their order."""
        parts = list(several) or [Readings(np.empty(0), np.empty(0))]
        columns: dict[str, Floats] = {}
        for name in QUANTITIES:
            given = [getattr(part, name) for part in parts]
            if any(column is not None for column in given):
                columns[name] = np.concatenate(
                    [
                        np.full(len(part), NAN) if column is None else column
                        for part, column in zip(parts, given, strict=True)
                    ]
                )
        flags: dict[int, str] = {}
        begin = 0
        for part in parts:
            flags |= {begin + place: quality for place, quality in part.flags.items()}
            begin += len(part)
        return cls(**columns, flags=flags)

    def part(self, begin: int, end: int | None = None) -> Readings:
        """Return the readings from place `begin` up to `end`, in columns."""
        first, last, _ = slice(begin, end).indices(len(self))
        columns: dict[str, Any] = {}
        for name in QUANTITIES:
            column = getattr(self, name)
            columns[name] = None if column is None else column[first:last]
        return Readings(
            **columns,
            flags={p - first: quality for p, quality in self.flags.items() if first <= p < last},
        )

    def newest_sound(self) -> int | None:
        """Return the place of the last reading with a valid power; None if there is none."""
        for place in range(len(self) - 1, -1, -1):
            if place not in self.flags or set(self.flags[place].split("|")) <= REMARKS:
                return place
        return None

    def __len__(self) -> int:
        return len(self.time_s)

    @overload
    def __getitem__(self, nth: int) -> Reading: ...
    @overload
    def __getitem__(self, nth: slice) -> list[Reading]: ...
    def __getitem__(self, nth: int | slice) -> Reading | list[Reading]:
        if isinstance(nth, slice):
            return [self[place] for place in range(*nth.indices(len(self)))]
        place = range(len(self))[nth]
        values: dict[str, Any] = {"quality": self.flags.get(place, "ok")}
        for name in QUANTITIES:
            column = getattr(self, name)
            values[name] = NAN if column is None else float(column[place])
        return Reading(**values)


class Newest:
    """The newest readings of a meter. One thread writes them, and any thread may read them.

    The time of both does not grow with the number of readings that are kept.
    """

    def __init__(self) -> None:
        self._chunks: deque[Readings] = deque()
        self._kept = 0
        self._lock = threading.Lock()
        self._sound = (float("-inf"), float("nan"))

    def add(self, readings: Readings) -> None:
        """Append the readings of one chunk, and drop the oldest beyond `KEPT`."""
        if len(readings) == 0:
            return
        place = readings.newest_sound()
        with self._lock:
            if place is not None:
                self._sound = (float(readings.time_s[place]), float(readings.power_w[place]))
            self._chunks.append(readings)
            self._kept += len(readings)
            while len(self._chunks) > 1 and (self._kept > KEPT or len(self._chunks) > KEPT_CHUNKS):
                self._kept -= len(self._chunks.popleft())

    def latest_w(self, since_s: float) -> float | None:
        """Return the newest sound power since `since_s`, in watts; None if there is none."""
        time_s, power_w = self._sound
        return power_w if time_s >= since_s and power_w == power_w else None

    def since(self, time_s: float) -> Readings:
        """Return the kept readings that are later than `time_s`, in columns."""
        later: list[Readings] = []
        with self._lock:
            for chunk in reversed(self._chunks):
                if not chunk.time_s[-1] > time_s:
                    break
                later.append(chunk)
        if later:
            later[-1] = later[-1].part(int(np.searchsorted(later[-1].time_s, time_s, "right")))
        return Readings.joined(reversed(later))


def flags_of(masks: Mapping[str, Mask]) -> dict[int, str]:
    """Return the flags of each place that some mask marks, joined by `|` in the order of `masks`.

    Each mask has the shape (readings,).
    """
    names = list(masks)
    if not names:
        return {}
    code = np.zeros(len(masks[names[0]]), dtype=np.intp)
    for nth, mask in enumerate(masks.values()):
        code |= mask.astype(np.intp) << nth
    places = np.flatnonzero(code)
    if not len(places):
        return {}
    texts = np.array(
        ["|".join(n for i, n in enumerate(names) if c >> i & 1) for c in range(1 << len(names))],
        dtype=object,
    )
    return dict(zip(places.tolist(), texts[code[places]].tolist(), strict=True))
