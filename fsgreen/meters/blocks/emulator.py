"""An emulated sensor that sends blocks: the sender of `sender.py` with a load of its own."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from fsgreen.errors import FsgreenError
from fsgreen.meters.blocks.format import Channel, Samples
from fsgreen.meters.blocks.sender import Link, Sender, Timed, loaded, paced
from fsgreen.meters.core.readings import Floats

RAIL_5V = (
    Channel("5V", "A", 0.001, -2.0, 0, 4095),
    Channel("5V", "V", 0.002, 0.0, 0, 4095),
)
"""A 12-bit converter behind a Hall sensor of +-2 A and a voltage divider."""

STRONG_5V = (Channel("5V", "A", 0.02, -2.0, 0, 4095), RAIL_5V[1])
"""The same, but for up to 79 A."""


class LocalSender(ABC):
    """A sender of modelled samples, which a thread of this process sends in the `with` block.

    `link` listens, and is closed at the end of the block, or when the power of the model is not
    known any more (FsgreenError).
    """

    rate_hz: float

    def __init__(self, link: Link, channels: Sequence[Channel], serial: str) -> None:
        self.link = link
        self.channels = channels
        self.sender = Sender(link, channels, self.rate_hz, serial, modelled=True)
        self.stopping = threading.Event()

    @abstractmethod
    def batches(self) -> Iterator[Timed]:
        """Yield samples when they are due to be sent."""

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, name="emulated block sender")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._thread.join()
        self.link.close()

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """The address at which its link listens."""
        return {"connect": f"127.0.0.1:{self.link.port}"}

    def send(self, t0_ns: int, samples: Samples) -> None:
        """Send samples; the first was taken at `t0_ns`."""
        self.sender.send(t0_ns, samples)

    def _run(self) -> None:
        try:
            for t0_ns, samples in self.batches():
                if self.stopping.is_set():
                    return
                self.send(t0_ns, samples)
        except FsgreenError:  # the meter that reads this sender tells it
            self.link.close()


class Emulator(LocalSender):
    """A sender with the load `load_a`: amperes at times in seconds since the block began.

    Samples clip at the converter's ends.
    """

    volts = 5.0
    rate_hz = 10_000.0
    every_s = 0.05

    def __init__(
        self,
        link: Link,
        load_a: Callable[[Floats], Floats],
        channels: Sequence[Channel] = RAIL_5V,
        serial: str = "emulated",
    ) -> None:
        super().__init__(link, channels, serial)
        self._load_a = load_a

    def batches(self) -> Iterator[Timed]:
        """Yield the samples of the load at the pace of a converter."""
        take = loaded(self.channels, self.rate_hz, self._load_a, self.volts)
        return paced(take, self.rate_hz, self.every_s)


def of_power(power_w: Callable[[], float], serial: str) -> Emulator:
    """Return a sender on this machine with one rail of 5 V that has this power."""
    link = Link(("127.0.0.1", 0), listen=True)
    return Emulator(link, lambda _: np.asarray(power_w() / 5.0), STRONG_5V, serial)
