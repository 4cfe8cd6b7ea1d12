"""What every meter driver is: a source of raw chunks, and a parser that turns them into readings.

A driver is live or reads files. Live ones are streams (the meter sends) or counters (the meter
answers when asked; an answer is a chunk). The raw bytes and their arrival times are stored before
anything is parsed, so a better parser can run again later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

from fsgreen.meters.core.readings import Reading, Readings
from fsgreen.meters.core.settings import MeterSettings, Settings
from fsgreen.trace import MeterInfo

DeviceOf = Callable[[], str | None]
"""Names the block device under test at this moment, None where there is none."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes as they came from a meter, and the host's monotonic time when they did."""

    time_s: float
    data: bytes


class Parser(Protocol):
    """Turns the chunks of one capture into readings; holds what a cut chunk left over."""

    def feed(self, chunk: Chunk) -> Sequence[Reading]:
        """Return the readings that this chunk completes; never raises on any bytes.

        A parser of more than some readings a second returns them as `Readings`.
        """
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


class Emulator(Protocol):
    """A meter in software that speaks the real one's bytes, from entry to exit of its context."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """The settings by which its driver reaches it."""
        ...


EmulatorOf = Callable[[Callable[[], float], str], Emulator]
"""Makes an emulator from the power in watts that it shows, which it may ask for at any time, and
the serial number that it tells where its bytes hold one."""


@dataclass(frozen=True)
class Driver:
    """What the entry point of a live driver names.

    `settings` declares what it may be told; `open` gets such settings and raises FsgreenError.
    `parser` needs nothing but the meter's description, as it stands in a stored trace. `means`
    tells by that, too, whether a power is the mean since the reading before, as the difference of a
    counter is. `missing` returns why the driver cannot work here and the command that mends it, or
    None. `find` returns what is plugged in, each as the lines of a testbed file that choose it; it
    is quick, changes nothing, sends nothing to a meter and never raises. `emulator` is where an
    `EmulatorOf` is that `emulate = true` imports, as in `package.module:name`; None where there is
    none.
    """

    name: str
    kind: Literal["stream", "counter"]
    summary: str
    settings: type[MeterSettings]
    open: Callable[[Any, DeviceOf], Meter]
    parser: Callable[[MeterInfo], Parser]
    missing: Callable[[], str | None] = lambda: None
    find: Callable[[], Sequence[str]] = tuple
    emulator: str | None = None
    means: Callable[[MeterInfo], bool] = lambda _: False


@dataclass(frozen=True)
class Imported:
    """What a file of readings holds.

    The times of `readings` are of the meter's own clock: seconds since 1970 UTC where the file
    says so, else since its first reading. `decisions` are sentences on what the reader had to
    decide about the file, and what it left out. `means`: the power of each reading is the mean
    since the reading before, so that the energy of all is their sum.
    """

    info: MeterInfo
    readings: Readings
    decisions: tuple[str, ...]
    means: bool = False


@dataclass(frozen=True)
class Importer:
    """What the entry point of a driver for files names.

    `settings` declares what it may be told, where the name is that of the file; `read` raises
    FsgreenError on a file that it cannot trust. `columns` returns the names of what a file holds,
    for who has to choose among them; a reader that knows its files has none.
    """

    name: str
    summary: str
    settings: type[Settings]
    read: Callable[[bytes, Any], Imported]
    columns: Callable[[bytes], Sequence[str]] | None = None
