"""An emulated sender of blocks whose clock drifts, which starts anew, and whose network fails."""

import random
import threading
import time
from dataclasses import dataclass

from fsgreen.meters.blocks import emulator
from fsgreen.meters.blocks.sender import Sender


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

    def __init__(self, link, faults):
        self._link = link
        self._faults = faults
        self.datagrams = link.datagrams

    def put(self, pieces):
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


class Emulator(emulator.Emulator):
    """Its clock runs `drift_ppm` faster than the host's."""

    def __init__(self, link, load_a, *, modelled=True, drift_ppm=0.0):
        super().__init__(link, load_a)
        self.faults = Faults()
        self.drift_ppm = drift_ppm
        self.sent_count = 0
        self._began_ns = time.monotonic_ns()
        self._modelled = modelled
        self._serial = "emulated"
        self._sending = threading.Lock()
        self.restart()

    def restart(self, serial=None):
        """Begin a new stream, as after a loss of power; with a `serial`, as another sensor."""
        self._serial = serial or self._serial
        with self._sending:
            self.sender = Sender(
                FaultyLink(self.link, self.faults),
                self.channels,
                self.rate_hz,
                self._serial,
                modelled=self._modelled,
                clock_ns=lambda: self._shown_ns(time.monotonic_ns()),
            )

    def send(self, t0_ns, samples):
        self.sent_count += len(samples)
        with self._sending:
            super().send(self._shown_ns(t0_ns), samples)

    def _shown_ns(self, time_ns):
        return time_ns + round((time_ns - self._began_ns) * self.drift_ppm * 1e-6)
