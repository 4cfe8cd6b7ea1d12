"""Counters of the requests that reach the disk of a guest, from QEMU.

They come from QEMU's monitor (QMP, `query-blockstats`). So nothing runs in the guest for that, and
the ports of its programs are not used.
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
"""QEMU's name of the guest's drive."""

WITHIN_S = 0.5
"""Limit for an answer of QEMU, which usually takes less than a millisecond. A later answer is no
valid sample."""

OF_QEMU = {
    "disk_read_b": ("rd_bytes",),
    "disk_write_b": ("wr_bytes",),
    "disk_reads_count": ("rd_operations", "rd_merged"),
    "disk_writes_count": ("wr_operations", "wr_merged"),
    "disk_discards_count": ("unmap_operations", "unmap_merged"),
}
"""QEMU's names of cumulative counters, by columns of `host.parquet`: the guest's requests, and how
many of them were merged into others before the disk got them. QEMU counts no busy time."""


class DiskCounters:
    """The counters of the disk of the guest in a folder. They are gone when the guest ends."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._connection: int | None = None

    def read(self) -> dict[str, float]:
        """Return the counters, from any thread; NaN if QEMU does not answer. Never raises."""
        with self._lock:
            try:
                said = self._ask("query-blockstats")
                stats = next(each["stats"] for each in said if each["device"] == DISK)
                return {
                    name: float(stats[of]) - sum(stats[merged] for merged in several)
                    for name, (of, *several) in OF_QEMU.items()
                }
            except (Ended, OSError, LookupError, TypeError, ValueError, StopIteration):
                self._drop()  # a late answer would be taken for the next one
                return dict.fromkeys(OF_QEMU, math.nan)

    def close(self) -> None:
        """Close the connection to QEMU. It may be repeated."""
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
        """Return the next answer with this key. Other messages, such as events, are skipped."""
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
