"""Running a program to its end, with what it and all that it started used."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fsgreen.errors import FsgreenError

POLL_S = 0.02
PR_SET_CHILD_SUBREAPER = 36
"""From linux/prctl.h; the standard library has no name for it."""


@dataclass(frozen=True)
class Used:
    """What a program printed and used, all processes that it started included.

    The kernel knows the sum of user and system time to the nanosecond; how it divides into the two
    is sampled at each clock tick, unless the kernel accounts at every entry (getrusage(2)).
    """

    output: str
    wall_s: float
    user_s: float
    system_s: float


def adopt_orphans() -> None:
    """Become the parent of processes that outlive theirs, so that what they used is counted too."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(command: Sequence[str], watch: Callable[[int], None] | None = None) -> Used:
    """Run a program to its end; whatever happens, nothing that it started is left.

    Raises FsgreenError if it ends with a status other than 0.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    watch : callable, optional
        Called with the number of the process every `POLL_S` seconds while it runs.
    """
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start_s = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        try:
            if watch:
                _watch(process.pid, watch)
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wall_s = time.perf_counter() - start_s
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            user_s, system_s = _reap(process)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            raise FsgreenError(
                f"{command[0]} ended with status {process.returncode}: {errors.read().strip()}",
                where=" ".join(command),
            )
        return Used(output.read(), wall_s, user_s, system_s)


def _watch(pid: int, watch: Callable[[int], None]) -> None:
    ended = os.WEXITED | os.WNOWAIT | os.WNOHANG
    while os.waitid(os.P_PID, pid, ended) is None:
        watch(pid)
        time.sleep(POLL_S)


def _reap(process: subprocess.Popen[bytes]) -> tuple[float, float]:
    """Wait for all of a process group; return the user and system time of all of it in seconds."""
    user_s = system_s = 0.0
    while True:
        try:
            pid, status, usage = os.wait4(-process.pid, 0)
        except ChildProcessError:
            return user_s, system_s
        user_s += usage.ru_utime
        system_s += usage.ru_stime
        if pid == process.pid:
            process.returncode = os.waitstatus_to_exitcode(status)
