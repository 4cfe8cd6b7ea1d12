"""The interface of meter drivers: a source of raw chunks, and a parser that makes readings of them.

A driver is live or reads files. A live driver is a stream (the meter sends by itself) or a counter
(the meter answers a request; each answer is a chunk). The raw bytes and their arrival times are
stored before they are parsed, so a better parser can run again later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Self

from fsgreen.meters.core.readings import Reading, Readings
from fsgreen.meters.core.settings import MeterSettings, Settings
from fsgreen.simdisk.power import PowerSince
from fsgreen.trace import MeterInfo

DeviceOf = Callable[[], str | None]
"""Returns the kernel's name of the present device under test; None if there is none."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Raw bytes from a meter, and the host's monotonic time of their arrival."""

    time_s: float
    data: bytes


class Parser(Protocol):
    """Turns the chunks of one capture into readings. It keeps the rest of an incomplete message."""

    def feed(self, chunk: Chunk) -> Sequence[Reading]:
        """Return the readings that this chunk completes. It never raises, on any bytes.

        A parser for many readings per second returns them as `Readings`.
        """


class Meter(Protocol):
    """A power meter. It stays open during a campaign, and is started and stopped for every trial.

    Every method may raise FsgreenError: the port is missing or busy; the meter is silent, sends
    garbage, has vanished, or was replaced.
    """

    def describe(self) -> MeterInfo:
        """Return the description of the meter, as identified when it was opened."""

    def start(self) -> None:
        """Begin to deliver bytes. A lost meter is opened again, and must be the same one."""

    def read(self, timeout_s: float) -> Chunk | None:
        """Return the next bytes; None if there are none within `timeout_s`."""

    def stop(self) -> None:
        """Stop delivering bytes. It may be called on a stopped or lost meter."""

    def close(self) -> None:
        """Release the port. It may be repeated."""


class Emulator(Protocol):
    """A meter in software that sends the bytes of the real one while its context lasts."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """The settings with which the driver connects to it."""


EmulatorOf = Callable[[Callable[[], float], str], Emulator]
"""Makes an emulator. The arguments are a function that returns its present power in watts, which
may be called at any time, and its serial number, if its bytes hold one."""

DiskEmulatorOf = Callable[[PowerSince, str], Emulator]
"""The same for a simulated disk, of which the function returns the power over time."""


@dataclass(frozen=True)
class Driver:
    """A live driver: the object that its entry point names."""

    name: str
    """The name of the driver, the same as that of the entry point."""
    kind: Literal["stream", "counter"]
    """Whether the meter sends by itself, or answers requests."""
    summary: str
    """What it measures, in a few words."""
    settings: type[MeterSettings]
    """Declares the settings of the driver."""
    open: Callable[[Any, DeviceOf], Meter]
    """Opens a meter with such settings. It may raise FsgreenError."""
    parser: Callable[[MeterInfo], Parser]
    """Makes a parser from nothing but the meter's description, which a stored trace has."""
    missing: Callable[[], str | None] = lambda: None
    """Returns why the driver cannot work here and the command that mends it; None if it can."""
    find: Callable[[], Sequence[str]] = tuple
    """Returns the connected meters, each as lines of a testbed file that choose it. It is quick,
    changes nothing, sends nothing to a meter, and never raises."""
    emulator: str | None = None
    """The place of an `EmulatorOf`, as `package.module:name`, that `emulate = true` imports."""
    disk_emulator: str | None = None
    """The place of a `DiskEmulatorOf`, which `profile = "simdisk"` imports instead."""
    means: Callable[[MeterInfo], bool] = lambda _: False
    """Returns, given the description, whether a power is the mean since the previous reading, as
    for the difference of a counter."""


@dataclass(frozen=True)
class Imported:
    """The content of a file of readings.

    The times of `readings` are those of the meter's own clock: seconds since 1970 UTC if the file
    has them, else since its first reading. `decisions` are sentences on what the importer had to
    decide about the file, and on what it left out. `means` says that the power of each reading is
    the mean since the previous reading, so that the total energy is their sum.
    """

    info: MeterInfo
    readings: Readings
    decisions: tuple[str, ...]
    means: bool = False


@dataclass(frozen=True)
class Importer:
    """A driver for files: the object that its entry point names.

    `settings` declares its settings, whose `name` is that of the file. `read` parses the content of
    a file, and raises FsgreenError if it cannot trust it. `columns` returns the names of the
    columns of a file, if a person must choose among them; None if the importer knows its files.
    """

    name: str
    summary: str
    settings: type[Settings]
    read: Callable[[bytes, Any], Imported]
    columns: Callable[[bytes], Sequence[str]] | None = None
