"""The server and the client of `fsgreen-nfs`, which report in lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from typing import IO, Any

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.workloads import process
from fsgreen.workloads.base import WorkloadFailed
from fsgreen.workloads.wml import engine

PROGRAM = "fsgreen-nfs"
GUARD = ("setpriv", "--pdeathsig", "TERM", "--")
"""Has a program ended by the kernel when the harness is killed (util-linux)."""


class Program:
    """One that runs: what it reports, and what it took of the processors once it has ended."""

    def __init__(self, running: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self._running, self._errors = running, errors

    @property
    def pid(self) -> int:
        """Return the number of its process."""
        return self._running.pid

    def report(
        self, limit_s: float = float("inf"), stop: threading.Event | None = None
    ) -> dict[str, Any]:
        """Return its next report, as soon as it is there.

        Parameters
        ----------
        limit_s : float
            How long it may take.
        stop : threading.Event, optional
            Ends the wait once it is set.

        Raises
        ------
        WorkloadFailed
            If there is none: in the words of the program if it ended.
        """
        assert self._running.stdout is not None
        deadline_s = time.monotonic() + limit_s
        while not select.select([self._running.stdout], [], [], process.POLL_S)[0]:
            if stop is not None and stop.is_set():
                raise WorkloadFailed("it was stopped", next_step="start it again")
            if time.monotonic() > deadline_s:
                raise WorkloadFailed(
                    f"not all was read within {limit_s:g} s", next_step="raise measure_s"
                )
        line = self._running.stdout.readline()
        if not line.endswith(b"\n"):  # it was killed before, or while, it said something
            raise self._failure()
        said: dict[str, Any] = json.loads(line)
        return said

    def end(self) -> None:
        """Ask it to end; it reports once more."""
        self._running.send_signal(signal.SIGTERM)

    def usage(self) -> resource.struct_rusage:
        """Wait until it has ended, and return what it took."""
        _, status, usage = os.wait4(self._running.pid, 0)
        self._running.returncode = os.waitstatus_to_exitcode(status)
        return usage

    def _failure(self) -> WorkloadFailed:
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip()
        what, _, remedy = said.rpartition(engine.NEXT)
        what = (what or remedy).removeprefix(f"{PROGRAM}: ") or "it ended without a word"
        return WorkloadFailed(
            f"{PROGRAM} failed: {what}", next_step=remedy.strip() if what else None
        )


@contextlib.contextmanager
def started(arguments: Sequence[str], inside: Sequence[str] = ()) -> Iterator[Program]:
    """Start the program; nothing of it is left behind.

    Parameters
    ----------
    arguments : sequence of str
        Its own.
    inside : sequence of str
        What a command begins with that is to run in a network: see `network.Network`.

    Raises
    ------
    FsgreenError
        If it is not installed.
    """
    command = [*GUARD, *inside, require(), *arguments]
    with (
        tempfile.TemporaryFile() as errors,
        process.started(command, subprocess.PIPE, errors) as running,
    ):
        yield Program(running, errors)


def require() -> str:
    """Return the path of the program; raises FsgreenError where it is not installed."""
    found = paths.program(PROGRAM)
    if found is None:
        raise FsgreenError("the NFS server is not installed", next_step=engine.BUILD)
    if paths.program(GUARD[0]) is None:
        raise FsgreenError(
            f"the program {GUARD[0]} is not installed", next_step="apt-get install util-linux"
        )
    return found
