"""What the live view looks at: meters, work and phases that may still be going on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fsgreen.meters import Readings
from fsgreen.meters.core.readings import Floats
from fsgreen.trace import MeterInfo
from fsgreen.trial import Phase


@dataclass(frozen=True)
class Work:
    """Rates of work in operations per second, each of the interval that ends at its time."""

    time_s: Floats
    throughput_ops_s: Floats


class Source(Protocol):
    """Something to look at. All times are on one clock, in seconds."""

    @property
    def meters(self) -> Mapping[str, MeterInfo]:
        """What the meters are, by name."""
        ...

    def running(self) -> bool:
        """Whether there may be more to come."""
        ...

    def now_s(self) -> float:
        """Return the time; once nothing more comes, that of the end."""
        ...

    def since(self, meter: str, time_s: float) -> Readings:
        """Return the readings of a meter that are later than `time_s`."""
        ...

    def work(self, time_s: float) -> Work:
        """Return the rates of work that are later than `time_s`; none where nobody tells."""
        ...

    def phases(self) -> Sequence[Phase]:
        """Return the phases so far; one that goes on ends at infinity."""
        ...
