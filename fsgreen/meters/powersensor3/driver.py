"""PowerSensor3 over USB serial: up to four pairs of current and voltage at 20 kHz.

Only commands that change nothing are sent: X stop, V version, R settings, S start.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import astuple, replace

import numpy as np

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.serialport import SerialMeter, SerialPort, usb_ports, usb_serial
from fsgreen.meters.core.base import Chunk, Driver
from fsgreen.meters.core.settings import Accuracy, MeterSettings, Texts
from fsgreen.meters.powersensor3.packets import (
    EMULATED,
    RECORD,
    SENSORS,
    STOPPED,
    PowerSensor3Parser,
    Sensor,
    interval_us,
    samples_of,
    values_of,
)
from fsgreen.trace import MeterInfo

REPLY_S = 2.0
BURST_S = 0.005  # the kernel keeps 4095 bytes for a reader: 11 ms of the stream
FULL_B = 4095
CHUNK_S = 0.1
TRIAL_S = 0.2  # of stream, to find the rate


class PowerSensor3Settings(MeterSettings, Accuracy):
    """The settings of a PowerSensor3."""

    port: str
    """The serial port, best by its name in /dev/serial/by-id."""
    covers: Texts = ("disk",)


class PowerSensor3(SerialMeter):
    """One meter on a serial port; opening asks for its settings and finds its rate.

    Raises FsgreenError if the port is missing, busy or silent, if another device answers, or if the
    settings of a sensor cannot be used.
    """

    def __init__(self, settings: PowerSensor3Settings) -> None:
        self.port = settings.port
        self._settings = settings
        self._info = self._identified()

    def read(self, timeout_s: float) -> Chunk | None:
        """Return the bytes of about `CHUNK_S`, with the time of the last; None after `timeout_s`.

        A chunk ends when nothing is left to read, so that its time is that of its last sample.
        """
        began_s = time.monotonic()
        pieces: list[bytes] = []
        time_s = began_s
        while (piece := self._line.read(timeout_s)) is not None:
            time_s = time.monotonic()
            pieces.append(piece.data)
            if time_s - began_s > CHUNK_S and len(piece.data) < FULL_B:
                break
        return Chunk(time_s, b"".join(pieces)) if pieces else None

    def _open(self) -> None:
        self._line = SerialPort(self.port, 115200, BURST_S, write_timeout_s=REPLY_S)

    def _identify(self) -> MeterInfo:
        self._end()
        version = self._ask(b"V", lambda data: data.endswith(b"\n"))
        records = self._records()
        return self._described(version.decode("ascii", "replace").strip(), records)

    def _begin(self) -> None:
        self._line.write(b"S")

    def _records(self) -> list[bytes]:
        """Ask for the settings of each sensor; any byte asks for the next, and D ends them."""
        records = [self._ask(b"R", lambda data: len(data) >= RECORD.size)]
        for _ in range(SENSORS - 1):
            records.append(self._ask(b"s", lambda data: len(data) >= RECORD.size))
        end = self._ask(b"s", lambda data: len(data) >= 1)
        if end != b"D" or any(len(record) != RECORD.size for record in records):
            raise self._line.unanswered("R", REPLY_S, heard=True)
        return records

    def _described(self, version: str, records: Sequence[bytes]) -> MeterInfo:
        sensors = [Sensor.of(record) for record in records]
        pairs = [
            (current, voltage)
            for nth, (current, voltage) in enumerate(zip(sensors[::2], sensors[1::2], strict=True))
            if self._in_use(nth, current, voltage)
        ]
        if not pairs:
            raise self._settings_error("no pair of sensors is in use")
        rate_hz = self._rate_hz()
        volts = [self._settings.volts or float(max(abs(pair[1].values()))) for pair in pairs]
        amperes = [pair[0].values() for pair in pairs]
        steps_a = [float(abs(values[1] - values[0])) for values in amperes]
        tops_a = [float(values.max()) for values in amperes]
        names = ", ".join(f"{current.pair} ({current.kind})" for current, _ in pairs)
        return self._settings.info(
            model=f"PowerSensor3, firmware {version}, {names}",
            serial=usb_serial(self.port) or f"settings {zlib.crc32(b''.join(records)):08x}",
            boundary="modelled"
            if version.endswith(EMULATED)
            else self._settings.boundary or "dc-rail",
            rate_hz=rate_hz,
            range_w=float(np.dot(tops_a, volts)),
            resolution_w=float(np.dot(steps_a, volts)),
            options={"sensors": [list(astuple(_recorded(sensor))) for sensor in sensors]},
        )

    def _in_use(self, nth: int, current: Sensor, voltage: Sensor) -> bool:
        if not (current.in_use or voltage.in_use):
            return False
        if not (current.in_use and voltage.in_use):
            raise self._settings_error(f"of pair {nth} only one sensor is in use")
        if not (current.sound and voltage.sound):
            raise self._settings_error(f"pair {nth} has a sensitivity or zero that is no number")
        return True

    def _rate_hz(self) -> float:
        """Find the rate from the stamps of a short stream, to 10 Hz (17.5 kHz on an F401)."""
        self._line.write(b"S")
        data = b""
        end_s = time.monotonic() + REPLY_S
        while (now_s := time.monotonic()) < end_s:
            piece = self._line.read(TRIAL_S)
            if piece is not None:
                end_s = end_s if data else now_s + TRIAL_S
                data += piece.data
            elif data:
                break
        self._end()
        interval = interval_us(values_of(samples_of(data)[0], 0))
        if not interval > 0:
            raise self._line.error(
                "the meter answers but sends no samples",
                "unplug and replug its USB cable; if it stays so, load its firmware anew",
            )
        return float(round(1e6 / interval, -1))

    def _ask(self, command: bytes, whole: Callable[[bytes], bool]) -> bytes:
        """Send a command and return its reply."""
        self._line.write(command)
        data = self._line.until(whole, REPLY_S)
        if not whole(data):
            raise self._line.unanswered(command.decode(), REPLY_S, heard=data)
        return data

    def _end(self) -> None:
        """Stop the stream, and throw away all bytes up to its stop mark."""
        self._ask(b"X", lambda data: data.endswith(STOPPED))

    def _settings_error(self, what: str) -> FsgreenError:
        return self._line.error(
            what, f"set it right: psconfig -d {self.port} -p shows its settings"
        )


def _recorded(sensor: Sensor) -> Sensor:
    """Return a sensor for the description, with zeros if it is unused: its numbers may be NaN."""
    return sensor if sensor.in_use else replace(sensor, zero_v=0.0, sensitivity=0.0)


def _found() -> list[str]:
    return [f'port = "{path}"' for path in usb_ports() if "STM" in path or "ttyACM" in path]


DRIVER = Driver(
    name="powersensor3",
    kind="stream",
    summary="PowerSensor3 over USB serial, up to four pairs of current and voltage at 20 kHz",
    settings=PowerSensor3Settings,
    open=lambda settings, _: PowerSensor3(settings),
    parser=PowerSensor3Parser,
    find=_found,
    emulator="fsgreen.meters.powersensor3.emulator:of_power",
)
