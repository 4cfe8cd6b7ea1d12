"""Readings of a meter, one by one or in columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True, slots=True)
class Readings(Sequence[Reading]):
    """Readings in columns of one length, as fast meters need.

    A quantity that the meter does not give is None, which reads as NaN. `flags` holds the quality
    of those readings that are not "ok", by their place.
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
        columns = {
            name: np.array([getattr(row, name) for row in rows], dtype=float) for name in QUANTITIES
        }
        flags = {nth: row.quality for nth, row in enumerate(rows) if row.quality != "ok"}
        return cls(**columns, flags=flags)

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
