"""A sensor that sends blocks, in software: the sender of `block_sender`, with faults."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from fsgreen.meters.blocks.format import Channel, Samples
from fsgreen.meters.blocks.sender import Link, Sender
from fsgreen.meters.blocks.sources import converted
from fsgreen.meters.core.readings import Floats

RAIL_5V = (
    Channel("5V", "A", 0.001, -2.0, 0, 4095),
    Channel("5V", "V", 0.002, 0.0, 0, 4095),
)
"""A 12-bit converter behind a Hall sensor of +-2 A and a voltage divider."""

STRONG_5V = (Channel("5V", "A", 0.02, -2.0, 0, 4095), RAIL_5V[1])
"""The same for up to 79 A."""


@dataclass
class Faults:
    """What goes wrong; each but `stall` is done once, with the next blocks, and then cleared.

    `drop` and `duplicate` blocks, `reorder`: blocks of a batch in another order, `corrupt`: a byte
    of a block is another. While `stall`, samples are taken and counted, and not sent.
    """

    drop: int = 0
    duplicate: int = 0
    reorder: bool = False
    corrupt: bool = False
    stall: bool = False


class FaultyLink:
    """A link whose blocks are tampered with as `faults` says."""

    def __init__(self, link: Link, faults: Faults) -> None:
        self._link = link
        self._faults = faults
        self.datagrams = link.datagrams

    def put(self, pieces: Sequence[bytes]) -> None:
        """Send what the faults leave."""
        faults = self._faults
        if faults.stall:
            return
        left = [*pieces[: faults.duplicate], *pieces[faults.drop :]]
        faults.drop = faults.duplicate = 0
        if faults.reorder and len(left) > 1:
            random.Random(1).shuffle(left)
            faults.reorder = False
        if faults.corrupt:
            middle = len(left[0]) // 2
            left[0] = left[0][:middle] + bytes([left[0][middle] ^ 1]) + left[0][middle + 1 :]
            faults.corrupt = False
        self._link.put(left)


@dataclass
class Emulator:
    """A sender that runs from entry to exit, every `every_s`.

    `load_a`: amperes at times in seconds of its clock, which runs `drift_ppm` faster than the
    host's; where the load is beyond the converter's ends, it clips. `link` is closed at exit.
    """

    link: Link
    load_a: Callable[[Floats], Floats]
    channels: Sequence[Channel] = RAIL_5V
    volts: float = 5.0
    rate_hz: float = 10000.0
    every_s: float = 0.05
    drift_ppm: float = 0.0
    serial: str = "emulated"
    modelled: bool = True
    faults: Faults = field(default_factory=Faults)

    def __enter__(self) -> Self:
        self._began_ns = time.monotonic_ns()
        self._taken = 0
        self._sending = threading.Lock()
        self._stop = threading.Event()
        self.restart()
        self._thread = threading.Thread(target=self._run, name="emulated block sender")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self.link.close()

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """Where its link listens."""
        return {"connect": f"127.0.0.1:{self.link.port}"}

    def restart(self, serial: str | None = None) -> None:
        """Begin a new stream, as after a loss of power; with a `serial`, as another sensor."""
        with self._sending:
            self.serial = serial or self.serial
            self._sender = Sender(
                FaultyLink(self.link, self.faults),
                self.channels,
                self.rate_hz,
                self.serial,
                modelled=self.modelled,
                clock_ns=self._clock_ns,
            )

    def _clock_ns(self) -> int:
        elapsed_ns = time.monotonic_ns() - self._began_ns
        return round(elapsed_ns * (1 + self.drift_ppm * 1e-6))

    def _run(self) -> None:
        while not self._stop.wait(self.every_s):
            taken = int(self._clock_ns() * 1e-9 * self.rate_hz)
            numbers = np.arange(self._taken, taken)
            if len(numbers):
                t0_ns = round(self._taken * 1e9 / self.rate_hz)
                self._taken = taken
                samples = self._samples(numbers)
                with self._sending:
                    self._sender.send(t0_ns, samples)

    def _samples(self, numbers: np.ndarray) -> Samples:
        current_a = np.broadcast_to(self.load_a(numbers / self.rate_hz), numbers.shape)
        volts = np.full(len(numbers), self.volts)
        return np.column_stack(
            [converted(current_a if c.unit == "A" else volts, c) for c in self.channels]
        )


def of_power(power_w: Callable[[], float], serial: str) -> Emulator:
    """Return a sender on this machine whose one rail of 5 V has this power."""
    link = Link(("127.0.0.1", 0), listen=True)
    return Emulator(link, lambda _: np.asarray(power_w() / 5.0), STRONG_5V, serial=serial)
