"""The state that a trial was in, by its own counters: caches, memory, device, what mkfs made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from fsgreen.design.columns import GEOMETRY, OF_SSD, OF_WINDOW
from fsgreen.meters.core.host import SSD_COLUMNS
from fsgreen.simdisk.ssdstates import STATES
from fsgreen.trace import Span, time_above_s
from fsgreen.trial import TrialRecord

DISK = "disk"
"""The meter of a simulated disk, and its name in the record."""

UNLOADED = ("unloaded", "standby", "spin-up", "spin-down")
"""States of a disk that rests at another power."""

FINE_HZ = 1000.0
"""From this rate on, readings tell when an SSD works."""


def device_served(
    host: pd.DataFrame, record: TrialRecord, asked_b: Mapping[str, float], power: Path
) -> dict[str, float]:
    """Return what the device served, for each byte of the workload too, and how long it was busy.

    Of writes those of the flush as well, which brings there what the workload had written. Empty
    where no counter of the kernel is the device's own, or nothing was asked of it. The disk of a
    guest has no counter of time. A simulated disk that turns tells it by its account of energy; the
    time for a request is then a lower bound, as that disk's count has those of the warm-up and the
    flush, too. Of a simulated SSD, its trace in `power` tells, and there is no time for a request.
    """
    measured_s = [phase.span_s for phase in record.measured]
    moved_b = {
        way: counted(host, f"disk_{way}_b", spans_s)
        for way, spans_s in {"read": measured_s, "write": _written_s(record)}.items()
    }
    names = ("disk_busy_s", "disk_reads_count", "disk_writes_count")
    busy_s, reads, writes = (counted(host, name, measured_s) for name in names)
    requests = reads + writes
    if math.isnan(busy_s):
        timing = (record.simulated or {}).get("timing", {})
        busy_s, requests = busy_by_account(record), timing.get("requests", math.nan)
    if math.isnan(busy_s):
        busy_s, requests = busy_by_power(record, power), math.nan
    return {
        **{f"device_{way}_b": bytes_b for way, bytes_b in moved_b.items()},
        **{
            f"device_{way}_percent": _over(100 * bytes_b, asked_b[way])
            for way, bytes_b in moved_b.items()
        },
        "device_request_s": _over(busy_s, requests),
        "device_busy_percent": _over(
            100 * busy_s, sum(end_s - start_s for start_s, end_s in measured_s)
        ),
    }


def flash_served(host: pd.DataFrame, record: TrialRecord) -> dict[str, float]:
    """Return the bytes written to a simulated SSD, and those that it programmed into its flash.

    Those of the flush as well, as for the device. Nothing at all where no SSD counted them.
    """
    written_b, programmed_b = (counted(host, name, _written_s(record)) for name in SSD_COLUMNS)
    if math.isnan(written_b):
        return {}
    percent = _over(100 * programmed_b, written_b)
    return dict(zip(OF_SSD, (written_b, programmed_b, percent), strict=True))


def busy_by_account(record: TrialRecord) -> float:
    """Return how long a simulated disk that turns did not rest, by its own account of energy.

    At any moment it is in one of its states, so it rested as long as its power at rest takes for
    the energy of that state. The idle phases tell that power: the lower one, as a request may fall
    into the other. NaN without such an account, where a head was unloaded, or after an event, which
    may have cut the disk's power.
    """
    energy = record.energy.get(DISK)
    parts_j = (record.simulated or {}).get("parts_j", {}).get(DISK, {})
    if energy is None or record.events or "seek" not in parts_j:
        return math.nan
    rest_w = np.fmin(energy.idle_power_before_w, energy.idle_power_after_w)
    if not rest_w > 0 or any(parts_j.get(name) for name in UNLOADED):
        return math.nan
    return max(0.0, energy.duration_s - parts_j["idle"] / float(rest_w))


def busy_by_power(record: TrialRecord, power: Path) -> float:
    """Return for how long a simulated SSD drew more power than at rest, by its trace.

    It then works for the host, or writes what it had taken into its cache. An operation counts for
    the whole of each reading that it touches. NaN for other disks, and for meters that are slower
    than the operations of an SSD.
    """
    info, energy = record.meters.get(DISK), record.energy.get(DISK)
    is_ssd = (record.mount.get("state") or {}).get("left") in STATES.values()
    if info is None or energy is None or not is_ssd or info.rate_hz < FINE_HZ:
        return math.nan
    rest_w = np.fmin(energy.idle_power_before_w, energy.idle_power_after_w)
    limit_w = float(rest_w) + 2 * info.resolution_w
    return sum(time_above_s(power, DISK, *phase.span_s, limit_w) for phase in record.measured)


def made(record: TrialRecord) -> dict[str, float]:
    """Return what mkfs made, as it was read back; empty where a file system has no such thing."""
    geometry = record.mount.get("geometry") or {}
    return {column: geometry.get(name, math.nan) for name, column in GEOMETRY.items()}


def state_of(record: TrialRecord) -> dict[str, float]:
    """Return what was found of the files, the memory for them, the cache and dirty pages.

    Older records do not say it. Memory is empty where all of the machine's may be used. Events are
    those of the profile, such as a cable that was pulled.
    """
    share, flush = record.resident_share, record.flush
    files_b = math.nan if record.files_b is None else record.files_b
    limit_b = math.nan if record.memory is None else record.memory.limit_b
    return {
        "resident_percent": math.nan if share is None else 100 * share,
        "files_b": files_b,
        "memory_limit_b": limit_b,
        "data_over_memory_x": files_b / limit_b,
        "events_count": len(record.events),
        "dirty_before_flush_b": math.nan if flush is None else flush.dirty_before_b,
        "dirty_after_flush_b": math.nan if flush is None else flush.dirty_after_b,
    }


def workload_cpu_s(record: TrialRecord) -> float:
    """Return what a workload took of the processors while it was measured; NaN if not recorded."""
    cost = record.work.cost
    return cost.user_s + cost.system_s or math.nan


def windows_of(record: TrialRecord, host: pd.DataFrame) -> dict[str, Sequence[float]]:
    """Return the columns of each window beside its rates: its place in its round, its length, and
    how fast and how much disturbed the machine was: covariates of its rate (rule 47).

    `core_clock_hz` is the mean over the time in which the cores worked; empty where the kernel
    does not tell. Nothing at all of a trial without windows.
    """
    if record.beside is None:
        return {}
    spans_s = [phase.span_s for phase in record.measured]

    def grown(column: str) -> np.ndarray:
        return np.array([counted(host, column, [span]) for span in spans_s])

    work_s = grown("cpu_user_s") + grown("cpu_system_s")
    steal_s = grown("cpu_steal_s")
    all_s = work_s + steal_s + grown("cpu_iowait_s") + grown("cpu_idle_s")
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = (
            record.beside.order,
            [phase.duration_s for phase in record.measured],
            work_s,
            100 * steal_s / all_s,
            grown("cpu_cycles_count") / work_s,
        )
    return dict(zip(OF_WINDOW, columns, strict=True))


def counted(host: pd.DataFrame, column: str, spans_s: Iterable[Span]) -> float:
    """Return by how much a counter of the host grew in several spans; NaN if it was not kept."""
    if column not in host:
        return math.nan
    return sum(float(np.diff(np.interp(span, host["time_s"], host[column]))[0]) for span in spans_s)


def _written_s(record: TrialRecord) -> list[Span]:
    """Return what was measured, each with the flush behind it."""
    phases = zip(record.measured, record.flushes, strict=True)
    return [(phase.start_s, flush.end_s) for phase, flush in phases]


def _over(above: float, below: float) -> float:
    return above / below if below > 0 else math.nan
