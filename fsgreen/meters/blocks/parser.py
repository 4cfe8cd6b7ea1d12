"""Turn a stream of blocks into readings: order, loss, clocks, clipping, calibration, power."""

from __future__ import annotations

from collections import deque

import numpy as np

from fsgreen.meters.blocks.format import Block, Channel, blocks_of
from fsgreen.meters.common.timing import SampleClock
from fsgreen.meters.core.base import Chunk
from fsgreen.meters.core.readings import Floats, Mask, Readings, flags_of
from fsgreen.trace import MeterInfo

WINDOW_S = 3.0
"""In this time, the clock sees three arrivals from a sender that sends once a second."""

HELD_BLOCKS = 16
HELD_S = 0.25
"""How many blocks wait, and how long, for an earlier block that may come late."""

T0_SLACK_S = 0.02
T0_DRIFT = 5e-4
"""How far the sender's times may stray from its count of samples: by the delay of a scheduler, and
by the difference between two crystals."""

LATE_S = 0.05
"""Arrivals that stray this far, and keep straying, contradict the rate that the sender states."""

EARLY_S = 1.0
"""If samples come this long before the time that their count gives, the count is wrong."""

MAX_AGE_S = 60.0
"""If a block says that its sender kept it longer, its time is wrong."""

SEQUENCES = 1 << 32
FLAGS = ("lost", "out-of-order", "clipped", "negative", "inconsistent")


class BlockParser:
    """Readings from the chunks of one capture: the sum of all pairs of channels.

    Volts and amperes are given if there is only one pair. Times come from the count of samples,
    which is tied to the host's clock by the arrival of each block and the age that its sender
    states. Blocks in wrong order are sorted; a block that comes twice counts once.

    Flags: lost (blocks or samples are missing before this one), out-of-order (a lost block came
    too late to be used), clipped (a sample at its converter's end), negative (by more than the
    constant error), inconsistent (the sensor or scale is not that of the opened meter, and there is
    no value; or the sender's time contradicts its count of samples).
    """

    def __init__(self, info: MeterInfo) -> None:
        channels = tuple(Channel(*fields) for fields in info.options["channels"])
        self._identity = (info.serial, info.rate_hz, info.options["modelled"], channels)
        corrections = info.options["corrections"]
        self._gain = np.array([c.gain * k for c, (k, _) in zip(channels, corrections, strict=True)])
        self._offset = np.array(
            [c.offset * k + plus for c, (k, plus) in zip(channels, corrections, strict=True)]
        )
        self._low = np.array([c.low for c in channels])
        self._high = np.array([c.high for c in channels])
        self._pairs: list[tuple[int, int | None, float]] = list(map(tuple, info.options["pairs"]))
        self._watts: list[int] = list(info.options["watts"])
        self._floor_w = -info.constant_error_w
        self._rate_hz = info.rate_hz
        self._held = b""
        self._waiting: dict[int, Block] = {}
        self._waited_since_s = 0.0
        self._missed: set[int] = set()
        self._ended: deque[int] = deque(maxlen=HELD_BLOCKS)
        self._stream: int | None = None
        self._last_s = float("-inf")
        self._marks: set[str] = set()

    def feed(self, chunk: Chunk) -> Readings:
        """Return the readings that `chunk` completes; its time is the time of its last byte."""
        blocks, self._held = blocks_of(self._held + chunk.data)
        parts = []
        for block in blocks:
            if block.stream != self._stream:
                if block.stream in self._ended:
                    continue
                parts += self._released(chunk.time_s)
                self._begin(block)
            ahead = (block.sequence - self._due) % SEQUENCES
            if ahead >= SEQUENCES // 2:
                if block.sequence in self._missed:
                    self._missed.remove(block.sequence)
                    self._marks.add("out-of-order")
            elif ahead == 0:
                parts.append(self._taken(block, chunk.time_s))
                parts += self._following(chunk.time_s)
            else:
                if not self._waiting:
                    self._waited_since_s = chunk.time_s
                self._waiting[block.sequence] = block
                if len(self._waiting) > HELD_BLOCKS:
                    parts += self._released(chunk.time_s)
        if self._waiting and chunk.time_s - self._waited_since_s > HELD_S:
            parts += self._released(chunk.time_s)
        return Readings.joined(parts)

    def _begin(self, block: Block) -> None:
        """Begin a stream; the previous stream has ended."""
        if self._stream is not None:
            self._ended.append(self._stream)
            self._marks.add("lost")
        self._stream = block.stream
        self._due = block.sequence
        self._next = block.first
        self._missed.clear()
        self._begin_times(block)

    def _begin_times(self, block: Block) -> None:
        """Tie the count of samples to the host's clock again, from this block on."""
        self._clock = SampleClock(1 / self._rate_hz, WINDOW_S)
        self._fresh = True
        self._extra = 0
        self._known = block

    def _following(self, time_s: float) -> list[Readings]:
        """Take the blocks that waited for the one just taken, and return their readings."""
        parts = []
        while (block := self._waiting.pop(self._due, None)) is not None:
            parts.append(self._taken(block, time_s, waited=True))
        self._waited_since_s = time_s
        return parts

    def _released(self, time_s: float) -> list[Readings]:
        """Give up missing blocks, and return the readings of those that waited for them."""
        parts = []
        while self._waiting:
            earliest = min(self._waiting, key=lambda sequence: (sequence - self._due) % SEQUENCES)
            gap = (earliest - self._due) % SEQUENCES
            self._missed = {(self._due + nth) % SEQUENCES for nth in range(min(gap, HELD_BLOCKS))}
            self._marks.add("lost")
            self._due = earliest
            parts += self._following(time_s)
        return parts

    def _taken(self, block: Block, now_s: float, *, waited: bool = False) -> Readings:
        """Return the readings of the next block; if it has `waited`, its arrival tells no time."""
        self._due = (block.sequence + 1) % SEQUENCES
        samples = block.samples
        if block.first < self._next:
            samples = samples[self._next - block.first :]
            self._marks.add("inconsistent")
        elif block.first > self._next:
            self._marks.add("lost")
        first = block.first + len(block.samples) - len(samples)
        if not len(samples):
            return Readings.joined([])
        self._next = first + len(samples)
        if self._clock.lateness_s(self._next - 1 + self._extra, now_s) < -EARLY_S:
            self._marks.add("inconsistent")
            self._begin_times(block)
        arrived_s = None
        if self._fresh:  # times rise, also above those of the previous stream
            length_s = len(samples) / self._rate_hz
            arrived_s = max(self._taken_s(block, now_s), self._last_s + length_s)
            self._fresh = False
        elif not waited:
            arrived_s = self._taken_s(block, now_s)
            self._compare_times(block, arrived_s)
        numbers = np.arange(first, self._next) + self._extra
        time_s = self._clock.times_s(numbers, arrived_s)
        self._last_s = float(time_s[-1])
        return self._converted(block, samples, time_s)

    def _taken_s(self, block: Block, arrived_s: float) -> float:
        """Return the time of a block's last sample, by its arrival and its age on arrival."""
        age_s = (block.sent_ns - block.t0_ns) * 1e-9 - (len(block.samples) - 1) / self._rate_hz
        if not -T0_SLACK_S < age_s < MAX_AGE_S:
            self._marks.add("inconsistent")
            return arrived_s
        return arrived_s - age_s

    def _compare_times(self, block: Block, taken_s: float) -> None:
        """Mark a block whose time contradicts the samples counted since an earlier block.

        If more time has passed on both clocks, samples were lost before they were counted.
        """
        last = block.first + len(block.samples) - 1 + self._extra
        late_s = max(self._clock.late_s, self._clock.lateness_s(last, taken_s))
        counted_s = (block.first - self._known.first) / self._rate_hz
        strayed_s = (block.t0_ns - self._known.t0_ns) * 1e-9 - counted_s
        strays = abs(strayed_s) > T0_SLACK_S + T0_DRIFT * abs(counted_s)
        if strays:
            self._known = block
        if strays and late_s > strayed_s / 2 > 0:
            self._lose(strayed_s)
        elif self._clock.late_s > LATE_S:
            self._lose(self._clock.late_s)
        elif strays or self._clock.late_s < -LATE_S:
            self._marks.add("inconsistent")
            self._clock.forget()

    def _lose(self, time_s: float) -> None:
        self._marks.add("lost")
        self._extra += round(time_s * self._rate_hz)
        self._clock.forget()

    def _converted(self, block: Block, samples: np.ndarray, time_s: Floats) -> Readings:
        """Return the volts, amperes and watts of samples, with flags."""
        masks: dict[str, Mask] = {mark: np.zeros(len(samples), dtype=bool) for mark in FLAGS}
        for mark in self._marks:
            masks[mark][0] = True
        self._marks.clear()
        identity = (block.serial, block.rate_hz, block.modelled, block.channels)
        if identity != self._identity:
            masks["inconsistent"][:] = True
            nothing = np.full(len(samples), np.nan)
            return Readings(time_s, nothing, nothing, nothing, flags=flags_of(masks))
        values = samples * self._gain + self._offset
        masks["clipped"] = np.any((samples <= self._low) | (samples >= self._high), axis=1)
        power_w = values[:, self._watts].sum(axis=1)
        current_a = voltage_v = None
        for amperes, volts, nominal_v in self._pairs:
            current_a = values[:, amperes]
            voltage_v = None if volts is None else values[:, volts]
            power_w += current_a * (nominal_v if voltage_v is None else voltage_v)
        masks["negative"] = power_w < self._floor_w
        if len(self._pairs) + len(self._watts) > 1:
            current_a = voltage_v = None
        return Readings(time_s, power_w, voltage_v, current_a, flags=flags_of(masks))
