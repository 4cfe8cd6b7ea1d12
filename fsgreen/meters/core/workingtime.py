"""Removes busy time from the kernel's counters that no workload should be charged for."""

from __future__ import annotations

from collections.abc import Callable

from fsgreen.errors import FsgreenError

WORKING = ("cpu_user_s", "cpu_system_s")
RESTING = ("cpu_iowait_s", "cpu_idle_s", "cpu_steal_s")
"""Columns without busy time. Waiting for a disk is idle time; stolen time is another machine's."""

ProcessorTime = Callable[[], tuple[float, float]]
"""Returns the user and system time of a process in seconds. Raises FsgreenError if it has ended."""


class TickExcess:
    """Removes busy time from the machine's counters for which there was no time on any processor.

    The kernel counts idle time by its clock, but busy time by its tick. A process that wakes with
    the tick and sleeps before the next one is charged for the whole tick. An emulated guest does
    that: up to twice its real time was observed. Only the excess since the first row counts. Ticks
    that miss work as often as they add some are noise, and removing each single excess would turn
    that noise into a bias.
    """

    def __init__(self) -> None:
        self._last: tuple[dict[str, float], float, int] | None = None
        self._due_s = 0.0
        self._left_out_s = dict.fromkeys(WORKING, 0.0)

    def leave_out(self, row: dict[str, float], now_s: float, cores: int) -> dict[str, float]:
        """Return the cumulative counters of `row` without the excess.

        `row`, at `now_s`, has the columns `WORKING` and `RESTING`, in seconds. `cores` is the
        number of processors.
        """
        last, last_s, last_cores = self._last or (row, now_s, cores)
        self._last = row, now_s, cores
        if cores == last_cores:  # if a core came or went, it is not known when
            self._take_out({name: row[name] - last[name] for name in row}, cores * (now_s - last_s))
        return row | {name: row[name] - self._left_out_s[name] for name in WORKING}

    def _take_out(self, grown_s: dict[str, float], clock_s: float) -> None:
        whole_s = sum(grown_s[name] for name in WORKING)
        room_s = clock_s - sum(grown_s[name] for name in RESTING)
        self._due_s += whole_s - room_s
        taken_s = min(max(0.0, self._due_s), whole_s)
        self._due_s -= taken_s
        for name in WORKING if whole_s else ():
            self._left_out_s[name] += taken_s * grown_s[name] / whole_s


class ServerShare:
    """Removes the time of one process from the machine's busy time, and adds it to the idle time.

    The kernel counts the time of a process in nanoseconds, and that of the machine in ticks. Time
    that the machine's counters do not show yet is removed later, so that no counter goes back.
    """

    def __init__(self, processor_s: ProcessorTime) -> None:
        self._processor_s = processor_s
        self._before: tuple[float, float] | None = None
        self._row: dict[str, float] = {}
        self._due_s = [0.0, 0.0]
        self._left_out_s = [0.0, 0.0]

    def leave_out(self, row: dict[str, float]) -> dict[str, float]:
        """Return the cumulative counters of `row` without the time of the process."""
        try:
            now = self._processor_s()
        except FsgreenError:  # the process has just ended; the next one begins at 0
            now = (0.0, 0.0)
        before, self._before = self._before or now, now
        last, self._row = self._row or row, row
        for nth, column in enumerate(WORKING):
            self._due_s[nth] += max(0.0, now[nth] - before[nth])
            taken_s = min(self._due_s[nth], row[column] - last[column])
            self._due_s[nth] -= taken_s
            self._left_out_s[nth] += taken_s
        user_s, system_s = self._left_out_s
        return row | {
            "cpu_user_s": row["cpu_user_s"] - user_s,
            "cpu_system_s": row["cpu_system_s"] - system_s,
            "cpu_idle_s": row["cpu_idle_s"] + user_s + system_s,
        }
