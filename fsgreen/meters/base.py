"""What every meter driver is: a source of raw chunks, and a parser that turns them into readings.

Three kinds of source fit: a stream (the meter sends), a counter (`read` polls it and returns the
text it read) and an import (`read` hands out a file piece by piece). The raw bytes and their
arrival times are stored before anything is parsed, so a better parser can run again later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fsgreen.trace import MeterInfo

NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes as they came from a meter, and the host's monotonic time when they did."""

    time_s: float
    data: bytes


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading; a value the meter did not give is NaN. `quality`: "ok", or flags by `|`."""

    time_s: float
    power_w: float
    voltage_v: float = NAN
    current_a: float = NAN
    energy_wh: float = NAN
    quality: str = "ok"


class Parser(Protocol):
    """Turns the chunks of one capture into readings; holds what a cut chunk left over."""

    def feed(self, chunk: Chunk) -> list[Reading]:
        """Return the readings that this chunk completes; never raises on any bytes."""
        ...


class Meter(Protocol):
    """A power meter. Stays open over a campaign; is started and stopped for every trial.

    Every method may raise FsgreenError: no such port, busy, silent, garbage, vanished, replaced.
    """

    def describe(self) -> MeterInfo:
        """Return what the meter is, as identified when it was opened."""
        ...

    def start(self) -> None:
        """Begin to deliver; a meter that was lost is opened again and must be the same."""
        ...

    def read(self, timeout_s: float) -> Chunk | None:
        """Return the next bytes, or None if there are none within `timeout_s`."""
        ...

    def stop(self) -> None:
        """Cease to deliver; harmless on a stopped or lost meter."""
        ...

    def close(self) -> None:
        """Release the port; harmless when repeated."""
        ...
