"""What the machine did: processor time and disk counters of the kernel, once a second."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from fsgreen.errors import FsgreenError
from fsgreen.meters.readings import NAN

STAT = Path("/proc/stat")
DISKSTATS = Path("/proc/diskstats")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
SECTOR_B = 512  # the unit of /proc/diskstats, whatever the device's own (kernel: iostats)

CPU_COLUMNS = ("cpu_user_s", "cpu_system_s", "cpu_iowait_s", "cpu_idle_s", "cpu_steal_s")
DISK_COLUMNS = (
    "disk_read_b",
    "disk_write_b",
    "disk_reads_count",
    "disk_writes_count",
    "disk_busy_s",
)
COLUMNS = ("time_s", *CPU_COLUMNS, *DISK_COLUMNS)


def parse_stat(text: str) -> dict[str, float]:
    """Cumulative processor seconds over all cores from `/proc/stat`.

    user includes nice, system includes interrupts. Raises FsgreenError if there is no line of
    totals that can be read.
    """
    for line in text.splitlines():
        fields = line.split()
        if fields[:1] == ["cpu"]:
            try:
                ticks = [int(field) for field in fields[1:9]]
                user, nice, system, idle, iowait, irq, softirq, steal = ticks
            except ValueError as error:
                raise _unreadable(STAT, line) from error
            shares = (user + nice, system + irq + softirq, iowait, idle, steal)
            return {name: share * TICK_S for name, share in zip(CPU_COLUMNS, shares, strict=True)}
    raise _unreadable(STAT, text[:80])


def parse_diskstats(text: str, device: str | None) -> dict[str, float]:
    """Cumulative counters of one device from `/proc/diskstats`; NaN where there is no device.

    `disk_busy_s` is the time with a request in flight (io_ticks). Raises FsgreenError if the line
    of the device cannot be read; a device that is not listed, because it is just being attached
    or taken away, counts as none.
    """
    for line in text.splitlines() if device is not None else ():
        fields = line.split()
        if fields[2:3] == [device]:
            try:
                reads, _, read_sectors, _, writes, _, write_sectors, _, _, busy_ms = (
                    int(field) for field in fields[3:13]
                )
            except ValueError as error:
                raise _unreadable(DISKSTATS, line) from error
            values = (
                read_sectors * SECTOR_B,
                write_sectors * SECTOR_B,
                reads,
                writes,
                busy_ms / 1000,
            )
            return {name: float(v) for name, v in zip(DISK_COLUMNS, values, strict=True)}
    return dict.fromkeys(DISK_COLUMNS, NAN)


class HostSampler:
    """Reads the kernel's counters for the machine and for the device that `device_of` names now."""

    def __init__(self, device_of: Callable[[], str | None]) -> None:
        self._device_of = device_of

    def sample(self) -> dict[str, float]:
        """Return one row of `host.parquet`: `time_s` and cumulative counters (`COLUMNS`)."""
        device = self._device_of()
        row = {"time_s": time.monotonic(), **parse_stat(STAT.read_text())}
        disks = "" if device is None else DISKSTATS.read_text()
        return row | parse_diskstats(disks, device)


def _unreadable(path: Path, line: str) -> FsgreenError:
    return FsgreenError(
        f"the kernel's counters cannot be read: {line.strip()!r}",
        where=path,
        next_step=f"head -3 {path}",
    )
