"""Working time that the kernel counts and that nobody is to be charged with."""

from __future__ import annotations

from collections.abc import Callable

from fsgreen.errors import FsgreenError

WORKING = ("cpu_user_s", "cpu_system_s")
RESTING = ("cpu_iowait_s", "cpu_idle_s", "cpu_steal_s")
"""Waiting for a disk is idling to a processor, and stolen time was another machine's."""

ProcessorTime = Callable[[], tuple[float, float]]
"""Gives the seconds in user and in system mode that a process has had; FsgreenError without one."""


class TickExcess:
    """Takes working time that no processor had room for out of the machine's counters.

    The kernel counts idle time by its clock, and working time by its tick: who wakes with the tick
    and sleeps before the next is charged with all of it. An emulated guest does so, and up to
    twice its time was seen. What counts is the excess since the first row: ticks that miss work as
    often as they add some are noise, and taking out each excess alone would make it a bias.
    """

    def __init__(self) -> None:
        self._last: tuple[dict[str, float], float, int] | None = None
        self._due_s = 0.0
        self._left_out_s = dict.fromkeys(WORKING, 0.0)

    def leave_out(self, row: dict[str, float], now_s: float, cores: int) -> dict[str, float]:
        """Return cumulative counters, read `now_s` of so many processors, without the excess."""
        last, last_s, last_cores = self._last or (row, now_s, cores)
        self._last = row, now_s, cores
        if cores == last_cores:  # where one came or went, nobody knows when
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
    """Takes the time of one process out of the machine's, and makes it idle time.

    The kernel counts the time of processes to the nanosecond and that of the machine in ticks: what
    has not shown in the machine's yet is taken out of it later, so that no counter goes back.
    """

    def __init__(self, processor_s: ProcessorTime) -> None:
        self._processor_s = processor_s
        self._before: tuple[float, float] | None = None
        self._row: dict[str, float] = {}
        self._due_s = [0.0, 0.0]
        self._left_out_s = [0.0, 0.0]

    def leave_out(self, row: dict[str, float]) -> dict[str, float]:
        """Return cumulative counters without the process."""
        try:
            now = self._processor_s()
        except FsgreenError:  # it has just ended; another one begins at 0
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
