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

SILENT = (
    "the NFS server did not answer",
    "look at dmesg (does the disk hang, was memory short?) and at top (what keeps the machine "
    "busy?), then run it again",
)
"""What it means that a server reports nothing in its time, and what to do."""


class Program:
    """One that runs: what it reports, and what it took of the processors once it has ended."""

    def __init__(self, running: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self._running, self._errors = running, errors

    @property
    def pid(self) -> int:
        """Return the number of its process."""
        return self._running.pid

    def report(
        self,
        limit_s: float = float("inf"),
        stop: threading.Event | None = None,
        late: tuple[str, str] = SILENT,
    ) -> dict[str, Any]:
        """Return its next report, as soon as it is there; `stop`, once it is set, ends the wait.

        Raises WorkloadFailed if there is none: in the words of the program if it ended, in those of
        `late` (what that means, and what to do) if it took longer than `limit_s`.
        """
        assert self._running.stdout is not None
        deadline_s = time.monotonic() + limit_s
        while not select.select([self._running.stdout], [], [], process.POLL_S)[0]:
            if stop is not None and stop.is_set():
                raise WorkloadFailed("it was stopped", next_step="start it again")
            if time.monotonic() > deadline_s:
                what, remedy = late
                raise WorkloadFailed(f"{what} within {limit_s:g} s", next_step=remedy)
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
        what, remedy = engine.complaint(self._errors.read().decode(errors="replace"))
        said = what.removeprefix(f"{PROGRAM}: ") or "it ended without a word"
        return WorkloadFailed(f"{PROGRAM} failed: {said}", next_step=remedy)


@contextlib.contextmanager
def started(arguments: Sequence[str], inside: Sequence[str] = ()) -> Iterator[Program]:
    """Start the program, `inside` of a network (see `network.Network`); nothing of it is left.

    Raises FsgreenError if it is not installed.
    """
    command = [*process.GUARD, *inside, require(), *arguments]
    with (
        tempfile.TemporaryFile() as errors,
        process.started(command, subprocess.PIPE, errors) as running,
    ):
        yield Program(running, errors)


def require() -> str:
    """Return the path of the program; raises FsgreenError where it is not installed."""
    found = paths.program(PROGRAM)
    if found is None:
        raise FsgreenError("the NFS server is not installed", next_step=paths.BUILD)
    guard = process.GUARD[0]
    if paths.program(guard) is None:
        raise FsgreenError(
            f"the program {guard} is not installed", next_step="apt-get install util-linux"
        )
    return found
