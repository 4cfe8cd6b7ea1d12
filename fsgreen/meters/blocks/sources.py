"""Where a sender of blocks has its samples from: a file, a program, or a made-up load."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

import numpy as np

from fsgreen.meters.blocks.format import Channel, Samples

Timed = tuple[int, Samples]
"""The time of the first of some samples in ns, and the samples."""


def paced(take: Callable[[int, int], Samples], rate_hz: float, every_s: float) -> Iterator[Timed]:
    """Yield the samples that `take(first, count)` has, when a converter would have them.

    Ends where `take` has no more.
    """
    began_ns = time.monotonic_ns()
    count = max(1, round(rate_hz * every_s))
    first = 0
    while len(samples := take(first, count)):
        due_ns = began_ns + round((first + len(samples)) * 1e9 / rate_hz)
        time.sleep(max(0, due_ns - time.monotonic_ns()) * 1e-9)
        yield began_ns + round(first * 1e9 / rate_hz), samples
        first += len(samples)


def arriving(source: BinaryIO, channels: int, rate_hz: float, every_s: float) -> Iterator[Timed]:
    """Yield samples as a program delivers them; the last of a batch was taken when it came."""
    count = max(1, round(rate_hz * every_s))
    while len(data := source.read(2 * channels * count)) >= 2 * channels:
        samples = samples_of(data, channels)
        yield time.monotonic_ns() - round((len(samples) - 1) * 1e9 / rate_hz), samples


def samples_of(data: bytes, channels: int) -> Samples:
    """Return the whole samples in some bytes."""
    whole = len(data) - len(data) % (2 * channels)
    return np.frombuffer(data[:whole], dtype="<i2").reshape(-1, channels)


def synthetic(channels: Sequence[Channel], rate_hz: float) -> Callable[[int, int], Samples]:
    """Return a made-up load to `take` from: 0.2 A, and 1.2 A every other second, at 5 V."""

    def take(first: int, count: int) -> Samples:
        time_s = (first + np.arange(count)) / rate_hz
        current_a = 0.2 + (time_s % 2 >= 1)
        values = {"A": current_a, "V": np.full(count, 5.0), "W": 5.0 * current_a}
        return np.column_stack([converted(values[c.unit], c) for c in channels])

    return take


def converted(values: np.ndarray, channel: Channel) -> Samples:
    """Return what a channel's converter makes of values; beyond its ends it clips."""
    steps = np.rint((values - channel.offset) / channel.gain)
    return np.clip(steps, channel.low, channel.high).astype(np.int16)
