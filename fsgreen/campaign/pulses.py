"""Load pulses, to fit the clock of a meter to the host's (rule 17): one burner process per CPU."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import count
from statistics import mean, pstdev

from fsgreen.errors import FsgreenError
from fsgreen.trace import pulse_edges, pulse_runs

LEAD_S = 0.2
"""Time from the start command to the first edge, so that every burner has received it."""

CHIP_S = 4.0
"""Length of the shortest run. It has four readings of a 1 Hz meter, enough to locate the edges."""

EVERY_S = 3600.0
"""Time between patterns. More than two patterns tell a clock that was set from one that drifts.
They take two minutes an hour."""

MAX_SPREAD = 0.25
"""Largest standard deviation of an edge over all burners, as a share of the shortest run."""

BURNER = """
import os, select, sys, time

def ended(limit_s):
    return bool(select.select([sys.stdin], [], [], max(0.0, limit_s))[0])

os.sched_setaffinity(0, {int(sys.argv[1])})
print("ready", flush=True)
edges = [float(word) for word in sys.stdin.readline().split()]
for on_s, off_s in zip(edges[::2], edges[1::2]):
    if ended(on_s - time.monotonic()):
        break
    begin_s = now_s = time.monotonic()
    while now_s < off_s and not ended(0):
        sum(range(2000))
        now_s = time.monotonic()
    print(begin_s, now_s, flush=True)
"""
"""A burner reads a line of edges in host monotonic seconds and follows it. It ends when its input
ends, even if the process that wrote to it was killed."""


class LoadPulses:
    """The patterns of load pulses of one start of a campaign. Each differs from the one before.

    `note` is called after each pattern with its edges, in host seconds since 1970 UTC.
    """

    def __init__(self, note: Callable[[Sequence[float]], object]) -> None:
        self._note = note
        self._seeds = count(time.time_ns())
        self._runs: Sequence[float] = ()
        self._made_s = time.monotonic()

    @property
    def due(self) -> bool:
        """Whether the last pattern was made more than `EVERY_S` ago."""
        return time.monotonic() - self._made_s > EVERY_S

    def make(self) -> None:
        """Make the next pattern. Raises FsgreenError as `make_pulses` does."""
        patterns = (pulse_runs(seed, CHIP_S) for seed in self._seeds)
        self._runs = next(runs for runs in patterns if runs != self._runs)
        print(f"load pulses for meters with a clock of their own: {sum(self._runs):.0f} s")
        ahead_s = time.time() - time.monotonic()
        self._note([edge_s + ahead_s for edge_s in make_pulses(self._runs)])
        self._made_s = time.monotonic()


def make_pulses(runs: Sequence[float]) -> tuple[float, ...]:
    """Switch the load of all CPUs on and off; return the edges in host monotonic seconds.

    It takes as long as the runs and about a second more. No burner outlives it, however it ends.

    `runs` are the lengths of on, off, ... on, in seconds, from `fsgreen.trace.pulse_runs`. An edge
    is the mean over all burners; there are `len(runs) + 1` of them. Raises FsgreenError if a burner
    does not start or ends early, or if the machine is too busy for clear edges.
    """
    with ExitStack() as stack:
        burners = [stack.enter_context(_Burner(cpu)) for cpu in sorted(os.sched_getaffinity(0))]
        for burner in burners:
            burner.hear()
        planned_s = pulse_edges(time.monotonic() + LEAD_S, runs)
        for burner in burners:
            burner.begin(planned_s)
        seen_s = [
            [edge_s for _ in planned_s[::2] for edge_s in map(float, burner.hear().split())]
            for burner in burners
        ]
    edges_s = tuple(mean(edge) for edge in zip(*seen_s, strict=True))
    spread_s = max(pstdev(edge) for edge in zip(*seen_s, strict=True))
    late_s = max(abs(edge_s - due_s) for edge_s, due_s in zip(edges_s, planned_s, strict=True))
    if max(spread_s, late_s) > MAX_SPREAD * min(runs):
        raise FsgreenError(
            f"the load pulses have no clear edges: {spread_s:.3g} s apart, {late_s:.3g} s late",
            where="load pulses",
            next_step="stop what else runs on this machine (top), then measure again",
        )
    return edges_s


class _Burner:
    """A burner process on one CPU. It ends with the context."""

    def __init__(self, cpu: int) -> None:
        self._cpu = cpu

    def __enter__(self) -> _Burner:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", BURNER, str(self._cpu)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,  # Ctrl-C goes only to the harness, which ends the burners
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def begin(self, edges_s: Sequence[float]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(" ".join(f"{edge_s:.9f}" for edge_s in edges_s) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise self._ended() from error

    def hear(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        return line

    def _ended(self) -> FsgreenError:
        return FsgreenError(
            f"the load on CPU {self._cpu} ended of itself",
            where="load pulses",
            next_step="check whether the kernel killed it (dmesg), then measure again",
        )
