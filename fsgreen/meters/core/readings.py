"""Readings of a meter, one by one or in columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from fsgreen.trace import REMARKS

NAN = float("nan")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading; a value the meter did not give is NaN. `quality`: "ok", or flags by `|`."""

    time_s: float
    power_w: float
    voltage_v: float = NAN
    current_a: float = NAN
    energy_wh: float = NAN
    quality: str = "ok"


QUANTITIES = tuple(f.name for f in fields(Reading) if f.name != "quality")


@dataclass(frozen=True, slots=True, eq=False)
class Readings(Sequence[Reading]):
    """Readings in columns of one length, as fast meters need.

    A quantity that the meter does not give is None, which reads as NaN. `flags` holds the quality
    of those readings that are not "ok", by their place. Two are equal if they are the same object.
    """

    time_s: Floats
    power_w: Floats
    voltage_v: Floats | None = None
    current_a: Floats | None = None
    energy_wh: Floats | None = None
    flags: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, readings: Iterable[Reading]) -> Self:
        """Return single readings in columns; those in columns already as they are."""
        if isinstance(readings, cls):
            return readings
        rows = list(readings)
        table = np.array([[getattr(row, name) for row in rows] for name in QUANTITIES], float)
        columns = dict(zip(QUANTITIES, table, strict=True))
        flags = {nth: row.quality for nth, row in enumerate(rows) if row.quality != "ok"}
        return cls(**columns, flags=flags)

    @classmethod
    def joined(cls, several: Iterable[Readings]) -> Self:
        """Return all of several readings, in their order."""
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
        """Return the place of the last reading whose power is valid, None if there is none."""
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
