"""A PowerSensor3 in software: firmware 1.6.1's bytes on a real pseudo-terminal."""

from __future__ import annotations

import os
import select
import threading
import time
import tty
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from fsgreen.meters.core.readings import Floats
from fsgreen.meters.powersensor3.packets import (
    ADC_V,
    EMULATED,
    RECORD,
    SAMPLE_B,
    SENSORS,
    STAMP_US,
    STOPPED,
    TOP,
    Sensor,
)

PAUSE_S = 0.005
OFF = Sensor("NA", "NA", 0.0, 0.0, False)
MLX10 = Sensor("MLX10", "12V", 1.65, 0.12, True)
"""A current sensor with the sensitivity that psconfig gives it."""

DIVIDER = Sensor("voltage", "12V", 0.0, 0.0877, True)
RAIL_12V = (MLX10, DIVIDER)
MLX50 = Sensor("MLX50", "12V", 1.65, 0.0264, True)
"""For up to 62 A, where a converter of 3.3 V ends: 750 W at 12 V."""


def record_of(sensor: Sensor) -> bytes:
    """Return the settings of a sensor as the device sends them."""
    kind, pair = sensor.kind.encode("ascii"), sensor.pair.encode("ascii")
    return RECORD.pack(kind, pair, sensor.zero_v, sensor.sensitivity, sensor.in_use)


def levels_of(values: Floats, sensor: Sensor) -> np.ndarray:
    """Return the levels that a sensor shows for values in A or V; beyond its ends it clips."""
    levels = np.rint((values * sensor.sensitivity + sensor.zero_v) * TOP / ADC_V)
    return np.clip(levels, 0, TOP).astype(np.uint16)


def stream_of(levels: np.ndarray, stamps_us: np.ndarray) -> bytes:
    """Return the bytes of samples: a row of eight levels, and the stamp, for each."""
    rows = np.empty((len(levels), SAMPLE_B), dtype=np.uint8)
    stamps = np.asarray(stamps_us, dtype=np.int64) % STAMP_US
    rows[:, 0], rows[:, 1] = 0xF0 | stamps >> 6, 0x40 | stamps & 0x3F
    sensors = np.arange(SENSORS, dtype=np.uint8) << 4
    rows[:, 2::2] = 0x80 | sensors | (levels >> 6).astype(np.uint8)
    rows[:, 3::2] = levels & 0x3F
    return rows.tobytes()


@dataclass
class Faults:
    """What goes wrong: each is done once to the stream, at the next samples, and then cleared.

    `drop_b` bytes are left out; for `stall_s` nothing is sent and the samples are lost, as when
    the host does not read; `noise` is put between two samples.
    """

    drop_b: int = 0
    stall_s: float = 0.0
    noise: bytes = b""


@dataclass
class Emulator:
    """One emulated meter; `port` is the path that a driver opens, from entry to exit.

    `load_a`: amperes at times in seconds since entry; the rails have `volts`. `drift_ppm`: how
    much faster than the host's its clock runs. `version`: as the firmware tells it.
    """

    load_a: Callable[[Floats], Floats]
    sensors: Sequence[Sensor] = RAIL_12V
    volts: float = 12.0
    rate_hz: float = 20000.0
    drift_ppm: float = 0.0
    version: str = f"F411-1.6.1-{EMULATED}"
    faults: Faults = field(default_factory=Faults)

    def __enter__(self) -> Self:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self._wake = os.eventfd(0)
        self.port = os.ttyname(self._slave)
        self.began_s = time.monotonic()
        self._sent = 0
        self._streaming = False
        self._records: deque[bytes] = deque()
        self._marks = 0
        self._unsent = b""
        self._thread = threading.Thread(target=self._serve, name="emulated PowerSensor3")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.unplug()

    @property
    def reached_by(self) -> Mapping[str, Any]:
        """The port."""
        return {"port": self.port}

    def unplug(self) -> None:
        """Take the port away, as a pulled cable does; harmless when repeated."""
        if self._wake >= 0:
            os.eventfd_write(self._wake, 1)
            self._thread.join()
            os.close(self._wake)
            self._wake = -1

    def restart(self, sensors: Sequence[Sensor]) -> None:
        """Become a meter with other settings that streams nothing."""
        self._streaming = False
        self.sensors = sensors

    def _serve(self) -> None:
        try:
            while True:
                wait_s = PAUSE_S if self._streaming or self._unsent else None
                ready, _, _ = select.select([self._master, self._wake], [], [], wait_s)
                if self._wake in ready:
                    return
                if self._master in ready:
                    for byte in os.read(self._master, 4096):
                        self._obey(bytes([byte]))
                self._write(self._due() if self._streaming else b"")
        finally:
            os.close(self._master)
            os.close(self._slave)

    def _obey(self, byte: bytes) -> None:
        """Answer one byte; during settings any byte draws the next record."""
        if self._records:
            self._write(self._records.popleft())
        elif byte == b"R":
            sensors = [*self.sensors, *[OFF] * (SENSORS - len(self.sensors))]
            self._records.extend([*map(record_of, sensors), b"D"])
            self._write(self._records.popleft())
        elif byte == b"S":
            self._streaming = True
            self._sent = self._taken()
        elif byte == b"X":
            self._streaming = False
            self._write(STOPPED)
        elif byte == b"M":
            self._marks += 1
        elif byte == b"V":
            self._write(f"{self.version}\r\n".encode("ascii"))

    def _taken(self) -> int:
        """How many samples there have been."""
        elapsed_s = time.monotonic() - self.began_s
        return int(elapsed_s * self.rate_hz * (1 + self.drift_ppm * 1e-6))

    def _due(self) -> bytes:
        """Take the samples that are due; while bytes wait, they are lost as in the firmware."""
        taken = self._taken()
        numbers = np.arange(self._sent, taken)
        if self.faults.stall_s:
            stalled = self.faults.stall_s > (taken - self._sent) / self.rate_hz
            if stalled:
                return b""
            self.faults.stall_s = 0.0
            numbers = numbers[-1:]
        self._sent = taken
        if self._unsent or not len(numbers):
            return b""
        data = stream_of(self._levels(numbers), np.rint(numbers * 1e6 / self.rate_hz))
        if self._marks:
            self._marks -= 1
            data = data[:3] + bytes([data[3] | 0x40]) + data[4:]
        data = data[self.faults.drop_b :] + self.faults.noise
        self.faults.drop_b, self.faults.noise = 0, b""
        return data

    def _levels(self, numbers: np.ndarray) -> np.ndarray:
        levels = np.zeros((len(numbers), SENSORS), dtype=np.uint16)
        current_a = np.broadcast_to(self.load_a(numbers / self.rate_hz), numbers.shape)
        for nth, sensor in enumerate(self.sensors):
            values = np.full(len(numbers), self.volts) if nth % 2 else current_a
            levels[:, nth] = levels_of(values, sensor)
        return levels

    def _write(self, data: bytes) -> None:
        self._unsent += data
        with suppress(BlockingIOError):
            self._unsent = self._unsent[os.write(self._master, self._unsent) :]


def of_power(power_w: Callable[[], float], _: str) -> Emulator:
    """Return a meter whose one rail of 12 V has this power; it tells no serial number."""
    return Emulator(lambda _: np.asarray(power_w() / 12.0), (MLX50, DIVIDER))
