"""The bytes of a PowerSensor3: its settings, and the samples of its stream.

A sample has 18 bytes: a stamp, then the levels of eight sensors, two bytes each. Byte 1 has bit 7
set, then three bits of the sensor's number and the upper four of the value's ten bits. Byte 2 has
bit 7 clear, then a marker, then the lower six bits. The stamp has sensor number 7 and the marker
set; it counts microseconds, and is taken at the end of the six conversions that a sample averages.

Source: firmware and host library 1.6.1, github.com/nlesc-recruit/PowerSensor3 (files
device/PowerSensor/PowerSensor.ino, host/src/PowerSensor.cc, host/src/sensors.cc,
host/include/PowerSensor.hpp).
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fsgreen.meters.common.timing import SampleClock
from fsgreen.meters.core.base import Chunk
from fsgreen.meters.core.readings import Floats, Mask, Readings, flags_of
from fsgreen.trace import MeterInfo

SENSORS = 8
LEVELS = 1024
TOP = LEVELS - 1
ADC_V = 3.3
STAMP_US = 1024
"""The stamp restarts at 0 after this many microseconds."""

RECORD = struct.Struct("<16s16sff?")
"""The settings of one sensor: type, name of its pair, zero in volts, volts per unit, in use."""

STOPPED = b"\xff\x3f\xff\x3f"
"""The end of a stream."""

EMULATED = "emulated"
"""If a firmware version ends so, the meter is no instrument."""

SAMPLE_B = 2 * (SENSORS + 1)
_FIXED = np.array([0xF0, 0xC0, 0xF0, 0x80] + [0xF0, 0xC0] * (SENSORS - 1), dtype=np.uint8)
_WANTED = np.array(
    [0xF0, 0x40] + [byte for nth in range(SENSORS) for byte in (0x80 | nth << 4, 0)], dtype=np.uint8
)
"""The bits that are the same in every sample; the marker of sensor 0 may have any value."""

EARLIEST = 0.65
"""Stamps may be some microseconds late. If a stamp is nearer than this to the previous one, a turn
of the stamp lies between them, for example after 20 lost samples of 50 us."""

WINDOW_S = 1.0
LATE_S = 1.5e-6 * STAMP_US
"""If samples are later than this, and stay late, samples were lost before them."""

Samples = NDArray[np.uint8]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sensor:
    """The settings of a sensor: a level stands for (its voltage - `zero_v`) / `sensitivity`.

    `sensitivity` is in V/A for a current sensor, V/V for a voltage sensor.
    """

    kind: str
    pair: str
    zero_v: float
    sensitivity: float
    in_use: bool

    @classmethod
    def of(cls, record: bytes) -> Sensor:
        """Read the record of one sensor, `RECORD.size` bytes."""
        kind, pair, zero_v, sensitivity, in_use = RECORD.unpack(record)
        return cls(_text(kind), _text(pair), zero_v, sensitivity, in_use)

    @property
    def sound(self) -> bool:
        """Whether its levels can be converted."""
        return math.isfinite(self.zero_v) and math.isfinite(self.sensitivity or math.nan)

    def values(self) -> Floats:
        """Return the value of every level, in A or V."""
        return (ADC_V * np.arange(LEVELS) / TOP - self.zero_v) / self.sensitivity


def _text(field: bytes) -> str:
    return field.split(b"\0")[0].decode("ascii", "replace")


def samples_of(data: bytes) -> tuple[Samples, bytes]:
    """Return the whole samples in some bytes, one in each row, and the bytes of an unfinished one.

    Bytes that fit no sample are skipped, for example a stop mark (FF 3F) between samples.
    """
    row = np.frombuffer(data, dtype=np.uint8)
    starts = np.flatnonzero((row[:-1] >= 0xF0) & ((row[1:] & 0xC0) == 0x40))
    under_way = starts[starts > len(row) - SAMPLE_B]
    starts = starts[: len(starts) - len(under_way)]
    rest = data[-1:] if data[-1:] >= b"\xf0" else b""
    if len(under_way):
        rest = data[under_way[0] :]
    if not len(starts):
        return np.empty((0, SAMPLE_B), dtype=np.uint8), rest
    windows = np.lib.stride_tricks.sliding_window_view(row, SAMPLE_B)[starts]
    return windows[((windows & _FIXED) == _WANTED).all(axis=1)], rest


def values_of(samples: Samples, place: int) -> Numbers:
    """Return the ten-bit values at a place of each sample: 0 is the stamp, then the sensors."""
    upper = samples[:, 2 * place].astype(np.int64) & 0x0F
    return upper << 6 | samples[:, 2 * place + 1] & 0x3F


def interval_us(stamps: Numbers) -> float:
    """Return the mean interval of samples by their stamps, without gaps; NaN if there is none."""
    steps_us = np.diff(stamps) % STAMP_US
    if not len(steps_us):
        return math.nan
    usual_us = float(np.median(steps_us))
    return float(steps_us[abs(steps_us - usual_us) <= usual_us / 2].mean())


def counts_of(stamps: Numbers, before: int, interval_us: float) -> Numbers:
    """Return the distance of each sample from its predecessor, in samples.

    Whole turns of the stamp are not seen. `before` is the stamp before the first sample.
    """
    steps_us = np.diff(stamps, prepend=before) % STAMP_US
    steps_us[steps_us < EARLIEST * interval_us] += STAMP_US
    return np.rint(steps_us / interval_us).astype(np.int64)


class PowerSensor3Parser:
    """Readings from the chunks of one capture: the sum of all pairs of sensors.

    Volts and amperes are given if only one pair is in use. Times are even: samples are counted by
    their stamps, and the count is tied to the host's clock by the arrival of the chunks. Stamps
    tell a loss except for multiples of 1024 us, which the arrival tells.

    Flags: lost (samples are missing before this one), clipped (a level at the top, or a current
    at the bottom), underflow (a voltage at the bottom), negative (by more than the constant
    error).
    """

    def __init__(self, info: MeterInfo) -> None:
        sensors = [Sensor(*fields) for fields in info.options["sensors"]]
        self._pairs = [
            (nth, current.values(), nth + 1, voltage.values())
            for nth, current, voltage in zip(
                range(0, SENSORS, 2), sensors[::2], sensors[1::2], strict=True
            )
            if current.in_use and voltage.in_use
        ]
        self._floor_w = -info.constant_error_w
        self._interval_us = 1e6 / info.rate_hz
        self._clock = SampleClock(1 / info.rate_hz, WINDOW_S)
        self._held = b""
        self._number = 0
        self._stamp: int | None = None

    def feed(self, chunk: Chunk) -> Readings:
        """Return the readings that `chunk` completes; its time is the time of its last byte."""
        samples, self._held = samples_of(self._held + chunk.data)
        if not len(samples):
            return Readings(np.empty(0), np.empty(0))
        numbers, lost = self._counted(values_of(samples, 0), chunk.time_s)
        time_s = self._clock.times_s(numbers, chunk.time_s)
        power_w = np.zeros(len(samples))
        current_a = voltage_v = np.empty(0)
        clipped, underflow = np.zeros((2, len(samples)), dtype=bool)
        for current, amperes, voltage, volts in self._pairs:
            current_level, voltage_level = (
                values_of(samples, 1 + sensor) for sensor in (current, voltage)
            )
            current_a, voltage_v = amperes[current_level], volts[voltage_level]
            power_w += current_a * voltage_v
            clipped |= (current_level == 0) | (np.maximum(current_level, voltage_level) == TOP)
            underflow |= voltage_level == 0
        single = len(self._pairs) == 1
        return Readings(
            time_s,
            power_w,
            voltage_v if single else None,
            current_a if single else None,
            flags=flags_of(
                {
                    "lost": lost,
                    "clipped": clipped,
                    "underflow": underflow,
                    "negative": power_w < self._floor_w,
                }
            ),
        )

    def _counted(self, stamps: Numbers, arrived_s: float) -> tuple[Numbers, Mask]:
        """Return the numbers of samples, and which of them come after lost samples."""
        if self._stamp is None:
            self._stamp = int(stamps[0] - round(self._interval_us))
        counts = counts_of(stamps, self._stamp, self._interval_us)
        self._stamp = int(stamps[-1])
        numbers = self._number + np.cumsum(counts)
        lost = counts > 1
        place = int(lost.argmax())
        late_s = self._clock.late_s
        if lost[place]:
            late_s = max(late_s, self._clock.lateness_s(int(numbers[-1]), arrived_s))
        if late_s > LATE_S:
            turns = round(1e6 * late_s / STAMP_US)
            numbers[place:] += round(turns * STAMP_US / self._interval_us)
            lost[place] = True
            self._clock.forget()
        self._number = int(numbers[-1])
        return numbers, lost
