"""What a machine did in a span of time: rates from two samples of the kernel's counters."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from fsgreen.meters.core.host import WORKING
from fsgreen.meters.core.readings import NAN

RESTING = ("cpu_iowait_s", "cpu_idle_s", "cpu_steal_s")
"""Waiting for a disk is idling to a processor, and stolen time was another machine's."""

RATES = {
    "cpu_user_x": "cpu_user_s",
    "cpu_system_x": "cpu_system_s",
    "cpu_shallow_idle_x": "cpu_shallow_idle_s",
    "disk_busy_x": "disk_busy_s",
    "disk_reads_hz": "disk_reads_count",
    "disk_writes_hz": "disk_writes_count",
    "disk_read_b_s": "disk_read_b",
    "disk_write_b_s": "disk_write_b",
    "disk_discards_hz": "disk_discards_count",
    "disk_standby_x": "disk_standby_s",
}
"""Each rate and the counter (a column of `host.parquet`) that it is the rate of."""


def activity(before: Mapping[str, float], now: Mapping[str, float]) -> dict[str, float]:
    """Return the rates between two rows of `host.parquet`.

    NaN where a counter is not readable, or went back: its device was exchanged.

    Those of `RATES` (cores at work, shares of the disk's time, per second), and

    cpu_busy_x : share of the processors' time in user or system mode.
    cpu_clock_hz : mean clock of the cores while they worked.
    disk_requests_hz : reads and writes per second.
    """
    spent = {name: now[name] - before[name] for name in now}
    working_s = sum(spent[name] for name in WORKING)
    whole_s = working_s + sum(spent[name] for name in RESTING)
    elapsed_s = spent["time_s"]
    rates = {rate: _rate(spent.get(counter, NAN), elapsed_s) for rate, counter in RATES.items()}
    cycles = spent.get("cpu_cycles_count", NAN)
    return rates | {
        "cpu_busy_x": working_s / whole_s if whole_s > 0 else 0.0,
        "cpu_clock_hz": cycles / working_s if working_s > 0 else NAN,
        "disk_requests_hz": rates["disk_reads_hz"] + rates["disk_writes_hz"],
    }


def _rate(spent: float, elapsed_s: float) -> float:
    if spent < 0:
        return NAN
    return spent / elapsed_s if elapsed_s > 0 else 0.0


def disk_states(activity: Mapping[str, float], rate_b_s: float) -> dict[str, float]:
    """Split the time with a request in flight into transfer and the rest, which is seeking.

    `rate_b_s` is the disk's own rate: bytes over it are the time of their transfer, held within
    the time in flight. Where it is NaN, all that time is seeking. Returns shares of the time.
    """
    busy = activity["disk_busy_x"]
    read, write = (
        activity[name] / rate_b_s if isfinite(rate_b_s) else 0.0
        for name in ("disk_read_b_s", "disk_write_b_s")
    )
    transfer = read + write
    factor = busy / transfer if transfer > busy else 1.0
    return {
        "disk_seek_x": busy - factor * transfer,
        "disk_read_x": factor * read,
        "disk_write_x": factor * write,
    }
