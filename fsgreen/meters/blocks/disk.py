"""A sender of the power of a simulated disk: 10,000 samples a second, none of them measured.

Each sample is the mean power of its interval, and what rounding leaves of it goes to the next
sample. So the sum of any samples is the energy of the disk's own account, to within one step.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from fsgreen.meters.blocks.emulator import LocalSender
from fsgreen.meters.blocks.format import Channel, Samples
from fsgreen.meters.blocks.sender import Link, Timed
from fsgreen.simdisk.power import PowerSince, PowerTrace

CHANNEL = Channel("disk", "W", 2**-10, 31.25)
"""0 to 63 W, in steps of about a milliwatt; 0 W is not yet the lowest sample, which is marked."""

INTERVAL_NS = 100_000
STEP_FJ = 97_656_250
"""The energy of one step of the channel during an interval."""

MAX_COUNT = 50_000
"""Samples that are made at once: five seconds, whose femtojoules fit into 64 bits."""


class Sampler:
    """Turns the power of a disk into samples without a gap; `end_ns` is the end of the last one."""

    def __init__(self, begin_ns: int) -> None:
        self.end_ns = begin_ns
        self._left_fj = 0

    def samples(self, trace: PowerTrace) -> Samples:
        """Return the samples from `end_ns` on that a trace covers, at most `MAX_COUNT` of them.

        The trace begins at `end_ns` or before.
        """
        count = min(MAX_COUNT, max(0, trace.until_ns - self.end_ns) // INTERVAL_NS)
        ends_ns = INTERVAL_NS * np.arange(1, count + 1)
        times_ns = np.maximum(np.array(trace.times_ns) - self.end_ns, 0)
        power_uw = np.array(trace.power_uw)
        before_fj = np.append(0, np.cumsum(np.diff(times_ns) * power_uw[:-1]))
        nth = np.searchsorted(times_ns, ends_ns, side="right") - 1
        drawn_fj = before_fj[nth] + (ends_ns - times_ns[nth]) * power_uw[nth]
        steps = (self._left_fj + drawn_fj + STEP_FJ // 2) // STEP_FJ
        if count:
            self._left_fj += int(drawn_fj[-1] - steps[-1] * STEP_FJ)
        self.end_ns += count * INTERVAL_NS
        return CHANNEL.samples(np.diff(steps, prepend=0) * CHANNEL.gain)[:, None]


class DiskSender(LocalSender):
    """A sender on this machine that asks for the power of a disk five times a second."""

    rate_hz = 1e9 / INTERVAL_NS
    every_s = 0.2

    def __init__(self, power_since: PowerSince, serial: str) -> None:
        super().__init__(Link(("127.0.0.1", 0), listen=True), (CHANNEL,), serial)
        self._power_since = power_since

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """The address at which its link listens, and the accuracy of its samples."""
        source = "samples of 0.1 ms, whose rounding leaves out no energy"
        return {**super().reached_by, "gain_error": 0.0, "constant_error_w": 0.0, "source": source}

    def batches(self) -> Iterator[Timed]:
        """Yield the samples since the last ones; the time of a sample is the middle of it."""
        sampler = Sampler(self._power_since(None).until_ns)
        pause_s = self.every_s
        while not self.stopping.wait(pause_s):
            begin_ns = sampler.end_ns
            samples = sampler.samples(self._power_since(begin_ns))
            if len(samples):
                yield begin_ns + INTERVAL_NS // 2, samples
            behind_s = (time.monotonic_ns() - sampler.end_ns) * 1e-9
            pause_s = max(0.0, self.every_s - behind_s)
