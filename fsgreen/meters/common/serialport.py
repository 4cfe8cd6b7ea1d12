"""A serial port that is opened exclusively. Every error has a next step."""

from __future__ import annotations

import errno
import os
import termios
import time
from collections.abc import Callable
from pathlib import Path

import serial
from serial.tools import list_ports

from fsgreen.errors import FsgreenError
from fsgreen.meters.common.live import Streamed
from fsgreen.meters.core.base import Chunk

PORTS = "ls -l /dev/serial/by-id"
_MISSING = ("is missing", f"plug the meter in, then: {PORTS}")
_BUSY = ("is busy: another program has it open", "find and end that program: fuser -v {port}")
FAULTS = {
    errno.ENOENT: _MISSING,
    errno.ENODEV: _MISSING,
    errno.ENXIO: _MISSING,
    errno.EIO: _MISSING,
    errno.EBUSY: _BUSY,
    errno.EAGAIN: _BUSY,
    errno.EACCES: (
        "may not be opened by you",
        'sudo usermod -aG dialout "$USER", then log in anew',
    ),
}


class SerialPort:
    """An open port, 8N1. `burst_s` is the time of the longest message on the line.

    Raises FsgreenError if the port cannot be opened. Any method does if the meter is gone.
    """

    def __init__(self, path: str, baud: int, burst_s: float, write_timeout_s: float = 2.0) -> None:
        self.path = path
        self._burst_s = burst_s
        try:
            self._line = serial.Serial(
                path, baud, timeout=write_timeout_s, write_timeout=write_timeout_s, exclusive=True
            )
        except serial.SerialException as error:
            what, next_step = FAULTS.get(
                error.errno or 0, ("is no serial port that can be opened", PORTS)
            )
            raise FsgreenError(
                f"the meter's port {what}", where=path, next_step=next_step.format(port=path)
            ) from error

    @property
    def is_open(self) -> bool:
        """Whether the port is open. A port that has failed is not."""
        return bool(self._line.is_open)

    def read(self, timeout_s: float) -> Chunk | None:
        """Return a burst, with the arrival time of its first byte; None after `timeout_s`."""
        try:
            if self._line.timeout != timeout_s:
                self._line.timeout = timeout_s
            data = self._line.read(1)
            time_s = time.monotonic()
            if not data:
                return None
            time.sleep(self._burst_s)
            return Chunk(time_s, data + self._line.read(self._line.in_waiting))
        except (OSError, termios.error) as error:
            raise self._vanished() from error

    def until(self, whole: Callable[[bytes], bool], limit_s: float) -> bytes:
        """Return the bytes up to the end of a reply; fewer if it is not complete in `limit_s`."""
        data = b""
        deadline_s = time.monotonic() + limit_s
        while not whole(data) and (left_s := deadline_s - time.monotonic()) > 0:
            if (piece := self.read(left_s)) is None:
                break
            data += piece.data
        return data

    def write(self, data: bytes) -> None:
        """Send `data`."""
        try:
            self._line.write(data)
        except (OSError, termios.error) as error:
            raise self._vanished() from error

    def close(self) -> None:
        """Release the port; harmless when repeated."""
        self._line.close()

    def error(self, what: str, next_step: str) -> FsgreenError:
        """Return an error about the meter on this port."""
        return FsgreenError(what, where=self.path, next_step=next_step)

    def unanswered(
        self, command: str, limit_s: float, *, heard: object, hint: str = ""
    ) -> FsgreenError:
        """Return the error that no reply came; `heard` says whether other bytes came."""
        if heard:
            return self.error(
                f"the port sends garbage: no reply to {command}",
                f"check that this is the meter's port: {PORTS}{hint}",
            )
        return self.error(
            f"the meter is silent: no reply to {command} within {limit_s:g} s",
            "check that the meter is on; unplug and replug its USB cable",
        )

    def _vanished(self) -> FsgreenError:
        self.close()
        return self.error(
            "the meter vanished from its port", f"plug its USB cable in again, then: {PORTS}"
        )


class SerialMeter(Streamed):
    """A meter that sends over a serial port."""

    _line: SerialPort

    @property
    def is_open(self) -> bool:
        """Whether the port is open. A port that has failed is not."""
        return self._line.is_open

    def read(self, timeout_s: float) -> Chunk | None:
        """Return the next bytes, with the arrival time of the first; None after `timeout_s`."""
        return self._line.read(timeout_s)

    def close(self) -> None:
        """Release the port; harmless when repeated."""
        self._line.close()


def usb_serial(path: str) -> str | None:
    """Return the serial number of the USB adapter behind a port; None if there is none."""
    device = os.path.realpath(path)
    return next((p.serial_number for p in list_ports.comports() if p.device == device), None)


def usb_ports() -> list[str]:
    """Return the ports of USB serial adapters, by names that do not depend on the socket."""
    folder = Path("/dev/serial/by-id")
    named = sorted(map(str, folder.iterdir())) if folder.is_dir() else []
    return named or sorted(port.device for port in list_ports.comports() if port.vid is not None)
