"""Processes of this machine, as /proc/PID/stat tells of them (proc(5))."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """A process at a moment.

    `start_ticks` is when it began, in clock ticks since the machine did; it names the process for
    good, with its number.
    """

    pid: int
    name: str
    state: str
    parent: int
    user_s: float
    system_s: float
    start_ticks: int

    @property
    def ended(self) -> bool:
        """Return whether it only waits to be taken note of."""
        return self.state in "ZX"

    @property
    def processor_s(self) -> float:
        """Return the seconds that it has had of the processors."""
        return self.user_s + self.system_s


def of(pid: int) -> Process:
    """Return a process; raise OSError where there is none, or its system hides it."""
    before, _, after = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")
    fields = after.split()
    user_s, system_s = (int(ticks) * TICK_S for ticks in fields[11:13])
    name, parent, start_ticks = before.partition("(")[2], int(fields[1]), int(fields[19])
    return Process(pid, name, fields[0], parent, user_s, system_s, start_ticks)


def others() -> Iterator[Process]:
    """Yield every process that is seen from here, but this one and those that it started."""
    seen = [*_seen()]
    own = {os.getpid()}
    while more := {one.pid for one in seen if one.parent in own} - own:
        own |= more
    yield from (one for one in seen if one.pid not in own)


def _seen() -> Iterator[Process]:
    for entry in os.listdir(PROC):
        if entry.isdecimal():
            with suppress(OSError):
                yield of(int(entry))


def busiest(before: Iterable[Process], after: Iterable[Process]) -> str:
    """Return who took most of the processors since, as `rustc (process 105)`; empty if nobody."""
    had_s = {(one.pid, one.start_ticks): one.processor_s for one in before}
    took_s = [(one.processor_s - had_s.get((one.pid, one.start_ticks), 0.0), one) for one in after]
    most_s, most = max(took_s, default=(0.0, None))
    return f"{most.name} (process {most.pid})" if most is not None and most_s > 0 else ""
