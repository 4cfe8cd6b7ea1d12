"""What the disk of a guest was asked for, as QEMU counts the requests that reach it.

QEMU is asked by its own monitor (QMP, `query-blockstats`): nothing in the guest runs for that, and
no port is used on which its programs speak.
"""

from __future__ import annotations

import math
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from fsgreen.devices.vm.launch import connected
from fsgreen.devices.vm.wire import Channel, Ended

MONITOR = "fsgreen.monitor"
"""The socket of the monitor, in the folder of the guest."""

DISK = "disk"
"""How QEMU calls the drive of the guest."""

WITHIN_S = 0.5
"""QEMU answers in less than a millisecond; what takes as long as this is no sample any more."""

OF_QEMU = {
    "disk_read_b": "rd_bytes",
    "disk_write_b": "wr_bytes",
    "disk_reads_count": "rd_operations",
    "disk_writes_count": "wr_operations",
    "disk_discards_count": "unmap_operations",
}
"""Cumulative counters under the names of /proc/diskstats' here. QEMU counts no busy time."""


class DiskCounters:
    """The counters of the disk of the guest in a folder; a guest that ends takes them with it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._connection: int | None = None

    def read(self) -> dict[str, float]:
        """Return them, from any thread; NaN where QEMU does not answer. Never raises."""
        with self._lock:
            try:
                said = self._ask("query-blockstats")
                stats = next(each["stats"] for each in said if each["device"] == DISK)
                return {name: float(stats[of]) for name, of in OF_QEMU.items()}
            except (Ended, OSError, LookupError, TypeError, ValueError, StopIteration):
                self._drop()  # an answer that comes late would be taken for the next one
                return dict.fromkeys(OF_QEMU, math.nan)

    def close(self) -> None:
        """Leave QEMU; harmless when repeated."""
        with self._lock:
            self._drop()

    def _ask(self, command: str) -> Any:
        if self._connection is None:
            with connected(self._folder, MONITOR) as connection:
                self._connection = connection.detach()
            self._channel = Channel(self._connection)
            self._answer("QMP")
            self._channel.send(execute="qmp_capabilities")
            self._answer("return")
        self._channel.send(execute=command)
        return self._answer("return")

    def _answer(self, key: str) -> Any:
        """Return what is said under a key; what is not asked for, as events, goes by."""
        while True:
            said = self._channel.receive(WITHIN_S)
            if key in said:
                return said[key]
            if "error" in said:
                raise ValueError(said["error"])

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(OSError):
                os.close(self._connection)
            self._connection = None
