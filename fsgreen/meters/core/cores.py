"""What the kernel tells of each core beyond its busy time: idle states and clock, from sysfs.

Neither is there on every machine (virtual ones have none); what is not readable is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fsgreen.meters.core.readings import NAN

CORES = Path("/sys/devices/system/cpu")
US = 1e-6
KHZ = 1e3

COLUMNS = ("cpu_shallow_idle_s", "cpu_cycles_count")


class Cores:
    """Cumulative counters over all cores; `COLUMNS`.

    `cpu_shallow_idle_s`: core-seconds in any idle state but a core's deepest (cpuidle).
    `cpu_cycles_count`: clock cycles of the time that the cores worked, since the first sample:
    busy time of each core times its clock, which is the mean since the sample before
    (`cpufreq/stats/time_in_state`) or, where the kernel does not keep that, the clock at the
    sample (`scaling_cur_freq`).
    """

    def __init__(self, root: Path = CORES) -> None:
        cores = sorted(root.glob("cpu[0-9]*"))
        self._idling = any((core / "cpuidle").is_dir() for core in cores)
        self._shallow = [file for core in cores for file in _shallow_states(core)]
        self._clocks = {core.name: clock for core in cores if (clock := _clock(core)) is not None}
        self._busy: dict[str, float] = {}
        self._cycles = 0.0

    def sample(self, busy: dict[str, float]) -> dict[str, float]:
        """Return the counters; `busy` is the cumulative working time of each core in seconds."""
        return dict(zip(COLUMNS, (self._shallow_idle_s(), self._count_cycles(busy)), strict=True))

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
    """Return what gives a core's clock in hertz at each call, None where nothing tells it."""
    kept, now = core / "cpufreq/stats/time_in_state", core / "cpufreq/scaling_cur_freq"
    if kept.is_file():
        return _MeanClock(kept)
    if now.is_file():
        return lambda: int(now.read_text()) * KHZ
    return None


class _MeanClock:
    """The mean clock in hertz since the call before, the first time since the machine started.

    A line of the file is a clock in kHz and the time at it, in a unit that cancels.
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
