"""A sender of the power of a simulated disk: 10,000 samples a second, none of them measured.

Each sample is the mean power of its interval, and what rounding leaves of it goes to the next
sample. So the sum of any samples is the energy of the disk's own account, to within one step. While
the disk's server does not answer, samples are marked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from fsgreen.errors import FsgreenError
from fsgreen.meters.blocks.emulator import LocalSender
from fsgreen.meters.blocks.format import Channel, Samples
from fsgreen.meters.blocks.sender import Link, Timed
from fsgreen.simdisk.power import PowerSince, PowerTrace

CHANNEL = Channel("disk", "W", 2**-10, 31.25)
"""0 to 63 W, in steps of about a milliwatt. The lowest sample, which is marked `clipped`, is below
that."""

INTERVAL_NS = 100_000
STEP_FJ = 97_656_250
"""The energy of one step of the channel during an interval."""

MAX_COUNT = 50_000
"""Samples that are made at once: five seconds, whose femtojoules fit into 64 bits."""

LATE_S = 1.0
"""After this time without an answer, samples are sent without a value: a meter that is silent for
three seconds fails, and a server takes longer to bring an SSD into its steady state."""


class Sampler:
    """Turns the power of a disk into samples without a gap; `end_ns` is the end of the last one."""

    def __init__(self, begin_ns: int) -> None:
        self.end_ns = begin_ns
        self._left_fj = 0

    def samples(self, trace: PowerTrace) -> Samples:
        """Return the samples from `end_ns` on that a trace covers, at most `MAX_COUNT` of them.

        The trace begins at `end_ns` or before.
        """
        count = self._count(trace.until_ns)
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

    def unknown(self, until_ns: int) -> Samples:
        """Return samples without a value from `end_ns` on until a time, at most `MAX_COUNT`."""
        count = self._count(until_ns)
        self.end_ns += count * INTERVAL_NS
        return np.full((count, 1), CHANNEL.low, dtype=np.int16)

    def _count(self, until_ns: int) -> int:
        return min(MAX_COUNT, max(0, until_ns - self.end_ns) // INTERVAL_NS)


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
        asked: Future[PowerTrace] | None = None
        pause_s = self.every_s
        with ThreadPoolExecutor(1) as asking:
            while not self.stopping.wait(pause_s):
                begin_ns = sampler.end_ns
                asked = asked or asking.submit(self._power_since, begin_ns)
                samples = _answered(sampler, asked)
                if asked.done():
                    asked = None
                if len(samples):
                    yield begin_ns + INTERVAL_NS // 2, samples
                behind_s = (time.monotonic_ns() - sampler.end_ns) * 1e-9
                pause_s = max(0.0, self.every_s - behind_s)


def _answered(sampler: Sampler, asked: Future[PowerTrace]) -> Samples:
    """Return the samples of an answer; without one, samples without a value until now."""
    try:
        return sampler.samples(asked.result(LATE_S))
    except (TimeoutError, FsgreenError):
        return sampler.unknown(time.monotonic_ns())
