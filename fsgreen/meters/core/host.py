"""The kernel's counters of processors and of the disk, read once a second.

Besides busy times, sysfs has idle states and a clock for each core, but not on every machine, and
not on virtual ones. A counter that cannot be read is NaN.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from fsgreen.errors import FsgreenError
from fsgreen.meters.core.readings import NAN
from fsgreen.meters.core.workingtime import ProcessorTime, ServerShare, TickExcess
from fsgreen.processes import TICK_S
from fsgreen.units import SECTOR_B

CORES = Path("/sys/devices/system/cpu")
US = 1e-6
KHZ = 1e3

CORE_COLUMNS = ("cpu_shallow_idle_s", "cpu_cycles_count")

STAT = Path("/proc/stat")
DISKSTATS = Path("/proc/diskstats")
SYS_BLOCK = Path("/sys/class/block")

CPU_COLUMNS = ("cpu_user_s", "cpu_system_s", "cpu_iowait_s", "cpu_idle_s", "cpu_steal_s")
DISK_COLUMNS = (
    "disk_read_b",
    "disk_write_b",
    "disk_reads_count",
    "disk_writes_count",
    "disk_busy_s",
    "disk_discards_count",
)
SSD_COLUMNS = ("host_written_b", "flash_programmed_b")
"""What a simulated SSD counts: bytes that were written to it, and bytes that it programmed into its
flash, those included that it copied."""
COLUMNS = (
    *("time_s", *CPU_COLUMNS, *DISK_COLUMNS, *SSD_COLUMNS),
    *("disk_standby_s", *CORE_COLUMNS),
)
"""The columns of `host.parquet`. `time_s` is monotonic; every other column is a cumulative counter,
NaN if nothing has it."""


class Cores:
    """Cumulative counters over all cores (`CORE_COLUMNS`).

    `cpu_shallow_idle_s` has core-seconds in any idle state except a core's deepest (cpuidle).

    `cpu_cycles_count` has the clock cycles in which cores worked since the first sample: the busy
    time of each core times its clock. The clock is the mean since the previous sample
    (`cpufreq/stats/time_in_state`). If the kernel does not keep that, it is the clock at the time
    of the sample (`scaling_cur_freq`).
    """

    def __init__(self, root: Path = CORES) -> None:
        cores = sorted(root.glob("cpu[0-9]*"))
        self._idling = any((core / "cpuidle").is_dir() for core in cores)
        self._shallow = [file for core in cores for file in _shallow_states(core)]
        self._clocks = {core.name: clock for core in cores if (clock := _clock(core)) is not None}
        self._busy: dict[str, float] = {}
        self._cycles = 0.0

    def sample(self, busy: dict[str, float]) -> dict[str, float]:
        """Return the counters. `busy` is the cumulative busy time of each core in seconds."""
        return dict(
            zip(CORE_COLUMNS, (self._shallow_idle_s(), self._count_cycles(busy)), strict=True)
        )

    def _shallow_idle_s(self) -> float:
        if not self._idling:
            return NAN
        try:
            return sum(int(file.read_text()) for file in self._shallow) * US
        except (OSError, ValueError):  # a core has just been taken offline
            return NAN

    def _count_cycles(self, busy: dict[str, float]) -> float:
        before, self._busy = self._busy, busy
        for name, clock in self._clocks.items():
            try:
                clock_hz = clock()
            except (OSError, ValueError):
                return NAN
            if name in before and name in busy:
                self._cycles += max(0.0, busy[name] - before[name]) * clock_hz
        return self._cycles if self._clocks else NAN


def _shallow_states(core: Path) -> list[Path]:
    states = sorted(core.glob("cpuidle/state*/time"), key=lambda file: int(file.parent.name[5:]))
    return states[:-1]


def _clock(core: Path) -> Callable[[], float] | None:
    """Return a function that returns a core's clock in hertz; None if the kernel does not tell."""
    kept, now = core / "cpufreq/stats/time_in_state", core / "cpufreq/scaling_cur_freq"
    if kept.is_file():
        return _MeanClock(kept)
    if now.is_file():
        return lambda: int(now.read_text()) * KHZ
    return None


class _MeanClock:
    """The mean clock in hertz since the previous call; at the first call, since the machine booted.

    A line of the file has a clock in kHz and the time at that clock. The unit of time cancels.
    """

    def __init__(self, time_in_state: Path) -> None:
        self._file = time_in_state
        self._before: dict[int, int] = {}
        self._mean_hz = 0.0

    def __call__(self) -> float:
        lines = (line.split() for line in self._file.read_text().splitlines())
        now = {int(khz): int(ticks) for khz, ticks in lines}
        spent = {khz: ticks - self._before.get(khz, 0) for khz, ticks in now.items()}
        self._before = now
        whole = sum(spent.values())
        if whole > 0:
            self._mean_hz = sum(khz * ticks for khz, ticks in spent.items()) / whole * KHZ
        return self._mean_hz


def parse_stat(text: str) -> dict[str, float]:
    """Return the cumulative processor seconds over all cores from `/proc/stat` (`CPU_COLUMNS`).

    user includes nice, and system includes interrupts. Raises FsgreenError if the line of totals
    is missing or cannot be read.
    """
    for line in text.splitlines():
        fields = line.split()
        if fields[:1] == ["cpu"]:
            return dict(zip(CPU_COLUMNS, _shares_s(fields, line), strict=True))
    raise _unreadable(STAT, text[:80])


def parse_cores(text: str) -> dict[str, float]:
    """Return the cumulative busy seconds (user and system) of each core from `/proc/stat`.

    The keys are names such as `cpu3`. Raises FsgreenError if the line of a core cannot be read.
    """
    busy_s = {}
    for line in text.splitlines():
        name, *_ = fields = line.split() or [""]
        if name.startswith("cpu") and name[3:].isdecimal():
            user_s, system_s, *_ = _shares_s(fields, line)
            busy_s[name] = user_s + system_s
    return busy_s


def parse_diskstats(text: str, device: str | None) -> dict[str, float]:
    """Return the cumulative counters of one device from `/proc/diskstats` (`DISK_COLUMNS`).

    `disk_busy_s` is the time with a request in flight (io_ticks). Kernels before 4.18 do not count
    discards. All counters are NaN if `device` is None or is not listed, because it is just being
    attached or removed. Raises FsgreenError if the line of the device cannot be read.
    """
    for line in text.splitlines() if device is not None else ():
        fields = line.split()
        if fields[2:3] == [device]:
            try:
                reads, _, read_sectors, _, writes, _, write_sectors, _, _, busy_ms = (
                    int(field) for field in fields[3:13]
                )
                discards = int(fields[14]) if len(fields) > 14 else NAN
            except ValueError as error:
                raise _unreadable(DISKSTATS, line) from error
            values = (
                read_sectors * SECTOR_B,
                write_sectors * SECTOR_B,
                reads,
                writes,
                busy_ms / 1000,
                discards,
            )
            return {name: float(v) for name, v in zip(DISK_COLUMNS, values, strict=True)}
    return dict.fromkeys(DISK_COLUMNS, NAN)


def standby_s(device: str) -> float:
    """Return the cumulative seconds for which the kernel has suspended a disk.

    That is runtime power management. NaN if the kernel does not manage the power of the disk. A
    drive that spins down by its own timer (`hdparm -S`) does not tell the kernel.
    """
    power = SYS_BLOCK / device / "device" / "power"
    try:
        if (power / "runtime_status").read_text().strip() == "unsupported":
            return NAN
        return int((power / "runtime_suspended_time").read_text()) / 1000
    except (OSError, ValueError):
        return NAN


class Sampler(Protocol):
    """Samples the counters of the host. A capture calls it once a second."""

    def sample(self) -> dict[str, float]:
        """Return one row of `host.parquet`: `COLUMNS`."""


class HostSampler:
    """Reads the kernel's counters of the machine and of the device that `device_of` names.

    A device that the kernel does not know may have its own `counters`, some of `DISK_COLUMNS`. A
    simulated SSD has `SSD_COLUMNS`.

    The processor time of `server`, a process that emulates a device, counts as idle time. So does
    busy time that the kernel's tick counted although its clock did not (`TickExcess`).
    """

    def __init__(
        self,
        device_of: Callable[[], str | None],
        server: ProcessorTime | None = None,
        counters: Callable[[], Mapping[str, float] | None] = lambda: None,
    ) -> None:
        self._device_of = device_of
        self._counters = counters
        self._cores = Cores()
        self._excess = TickExcess()
        self._server = None if server is None else ServerShare(server)

    def sample(self) -> dict[str, float]:
        """Return one row of `host.parquet`: `COLUMNS`."""
        device = self._device_of()
        now_s, stat = time.monotonic(), STAT.read_text()
        busy_s = parse_cores(stat)
        processors = self._excess.leave_out(parse_stat(stat), now_s, len(busy_s))
        disks = "" if device is None else DISKSTATS.read_text()
        return {
            "time_s": now_s,
            **self._without_server(processors),
            **parse_diskstats(disks, device),
            **dict.fromkeys(SSD_COLUMNS, NAN),
            **(self._counters() or {}),
            "disk_standby_s": NAN if device is None else standby_s(device),
            **self._cores.sample(busy_s),
        }

    def _without_server(self, row: dict[str, float]) -> dict[str, float]:
        return row if self._server is None else self._server.leave_out(row)


def _shares_s(fields: list[str], line: str) -> tuple[float, ...]:
    """Return the values of `CPU_COLUMNS` in seconds from a line of `/proc/stat`."""
    try:
        ticks = [int(field) for field in fields[1:9]]
        user, nice, system, idle, iowait, irq, softirq, steal = ticks
    except ValueError as error:
        raise _unreadable(STAT, line) from error
    return tuple(
        share * TICK_S for share in (user + nice, system + irq + softirq, iowait, idle, steal)
    )


def _unreadable(path: Path, line: str) -> FsgreenError:
    return FsgreenError(
        f"the kernel's counters cannot be read: {line.strip()!r}",
        where=path,
        next_step=f"head -3 {path}",
    )
