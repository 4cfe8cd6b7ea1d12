"""An emulated PowerSensor3: it sends the bytes of firmware 1.6.1 on a real pseudo-terminal."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from fsgreen.meters.common.emulators import TerminalEmulator
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
MLX50 = Sensor("MLX50", "12V", 1.65, 0.0264, True)
"""For up to 62 A, the end of a 3.3 V converter: 750 W at 12 V."""


def record_of(sensor: Sensor) -> bytes:
    """Return the record in which the device sends the settings of a sensor."""
    kind, pair = sensor.kind.encode("ascii"), sensor.pair.encode("ascii")
    return RECORD.pack(kind, pair, sensor.zero_v, sensor.sensitivity, sensor.in_use)


def levels_of(values: Floats, sensor: Sensor) -> np.ndarray:
    """Return the levels that a sensor shows for values in A or V; it clips at its ends."""
    levels = np.rint((values * sensor.sensitivity + sensor.zero_v) * TOP / ADC_V)
    return np.clip(levels, 0, TOP).astype(np.uint16)


def stream_of(levels: np.ndarray, stamps_us: np.ndarray) -> bytes:
    """Return the bytes of samples, each with a stamp and a row of eight levels."""
    rows = np.empty((len(levels), SAMPLE_B), dtype=np.uint8)
    stamps = np.asarray(stamps_us, dtype=np.int64) % STAMP_US
    rows[:, 0], rows[:, 1] = 0xF0 | stamps >> 6, 0x40 | stamps & 0x3F
    sensors = np.arange(SENSORS, dtype=np.uint8) << 4
    rows[:, 2::2] = 0x80 | sensors | (levels >> 6).astype(np.uint8)
    rows[:, 3::2] = levels & 0x3F
    return rows.tobytes()


class Emulator(TerminalEmulator):
    """One emulated meter with one rail of `volts`.

    `load_a` gives the amperes at times in seconds since the start. `sensors` are those of the
    rail's current and voltage.
    """

    version = f"F411-1.6.1-{EMULATED}"
    volts = 12.0
    rate_hz = 20000.0

    def __init__(
        self, load_a: Callable[[Floats], Floats], sensors: Sequence[Sensor] = (MLX10, DIVIDER)
    ) -> None:
        super().__init__()
        self.sensors = sensors
        self.streaming = False
        self._load_a = load_a
        self._began_s = time.monotonic()
        self._sent_count = 0
        self._records: deque[bytes] = deque()

    def hear(self, data: bytes) -> None:
        """Answer each byte; while it sends settings, any byte asks for the next record."""
        for byte in data:
            self.obey(bytes([byte]))

    def wait_s(self) -> float | None:
        """Return the time between bursts of the stream."""
        return PAUSE_S if self.streaming else None

    def speak(self) -> None:
        """Send the due samples; while bytes wait, they are lost, as in the firmware."""
        if self.streaming:
            taken_count = self.taken_count()
            numbers = np.arange(self._sent_count, taken_count)
            self._sent_count = taken_count
            if len(numbers) and not self.unsent:
                self.write(self.stream(numbers))

    def obey(self, byte: bytes) -> None:
        """Answer one byte."""
        if self._records:
            self.write(self._records.popleft())
        elif byte == b"R":
            sensors = [*self.sensors, *[OFF] * (SENSORS - len(self.sensors))]
            self._records.extend([*map(record_of, sensors), b"D"])
            self.write(self._records.popleft())
        elif byte == b"S":
            self.streaming = True
            self._sent_count = self.taken_count()
        elif byte == b"X":
            self.streaming = False
            self.write(STOPPED)
        elif byte == b"V":
            self.write(f"{self.version}\r\n".encode("ascii"))

    def taken_count(self) -> int:
        """Return how many samples were taken so far."""
        return int((time.monotonic() - self._began_s) * self.rate_hz)

    def stream(self, numbers: np.ndarray) -> bytes:
        """Return the bytes of samples."""
        levels = np.zeros((len(numbers), SENSORS), dtype=np.uint16)
        current_a = np.broadcast_to(self._load_a(numbers / self.rate_hz), numbers.shape)
        for nth, sensor in enumerate(self.sensors):
            values = np.full(len(numbers), self.volts) if nth % 2 else current_a
            levels[:, nth] = levels_of(values, sensor)
        return stream_of(levels, np.rint(numbers * 1e6 / self.rate_hz))


def of_power(power_w: Callable[[], float], _: str) -> Emulator:
    """Return a meter with one rail of 12 V that has this power; it has no serial number."""
    return Emulator(lambda _: np.asarray(power_w() / 12.0), (MLX50, DIVIDER))
