"""Running a program so that it never outlives what started it."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fsgreen import elsewhere
from fsgreen.workloads import groups

POLL_S = 0.05
MARK = "FSGREEN_COMMAND"
"""Variable in the environment of a program and of all that comes of it."""

GUARD = ("setpriv", "--pdeathsig", "TERM", "--")
"""Has a command ended by the kernel when the harness is killed (util-linux)."""

GRACE_S = 10.0
"""How long a program may take to write partial results before it is killed. Seconds."""


@dataclass(frozen=True)
class Finished:
    """A program that has ended."""

    status: int
    """Its exit status; below 0, the signal that ended it."""
    output: str
    errors: str
    """What it wrote to its standard output, and to its standard error."""
    start_s: float
    end_s: float
    """When it began and ended, in host monotonic seconds."""
    usage: resource.struct_rusage
    """What it, and those that it waited for, took of the machine."""
    stopped: bool
    """Whether it was asked to end."""

    @property
    def signal_name(self) -> str | None:
        """Return the name of the signal that ended it, None where it ended itself."""
        return signal.Signals(-self.status).name if self.status < 0 else None


def run(
    command: Sequence[str],
    stop: threading.Event | None = None,
    *,
    limit_s: float = float("inf"),
    directory: Path | None = None,
    hear: Callable[[str], object] | None = None,
) -> Finished:
    """Run a program to its end; whatever happens, nothing of its process group is left.

    `stop` asks it to end early (SIGTERM) once it is set, as does `limit_s`; it is killed `GRACE_S`
    later. `hear` is called with each whole line that it writes to its standard error meanwhile.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        lines = _Lines(errors, hear)
        start_s = time.monotonic()
        with started(command, output, errors, directory) as process:
            usage, stopped = _wait(process, stop or threading.Event(), start_s + limit_s, lines)
            end_s = time.monotonic()
        lines.pass_on()
        output.seek(0)
        errors.seek(0)
        said, complained = (file.read().decode(errors="replace") for file in (output, errors))
        return Finished(process.returncode, said, complained, start_s, end_s, usage, stopped)


@contextlib.contextmanager
def started(
    command: Sequence[str],
    output: IO[bytes] | int,
    errors: IO[bytes],
    directory: Path | None = None,
    *,
    stdin: int = subprocess.DEVNULL,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process group; whatever happens, nothing that came of it is left.

    `output` and `stdin` may be `subprocess.PIPE`.

    Jobs of fio leave the group (setsid), and those of a fio that was killed have no parent: they
    are known by a mark in their environment.
    """
    mark = f"{MARK}={uuid.uuid4().hex}"
    command = elsewhere.named(command)
    if directory is not None and elsewhere.place() is not None:
        command, directory = ["env", f"--chdir={directory}", *command], None
    process = subprocess.Popen(
        elsewhere.launched(groups.joined(command)),
        stdin=stdin,
        stdout=output,
        stderr=errors,
        cwd=directory,
        env={**os.environ, MARK: mark.removeprefix(f"{MARK}=")},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        for pid in _marked(mark.encode()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if process.returncode is None:
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


def _marked(mark: bytes) -> Iterator[int]:
    """Yield the processes that have a mark in their environment."""
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in environment.read_bytes().split(b"\0"):
                yield int(environment.parent.name)


def _wait(
    process: subprocess.Popen[bytes], stop: threading.Event, limit_s: float, lines: _Lines
) -> tuple[resource.struct_rusage, bool]:
    """Wait for the end; once it is time, ask for it, and kill after the grace period."""
    deadline_s: float | None = None
    ended = threading.Event()
    threading.Thread(target=_note_end, args=(process.pid, ended), daemon=True).start()
    while True:
        lines.pass_on()
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage, deadline_s is not None
        if deadline_s is None and (stop.is_set() or time.monotonic() > limit_s):
            os.kill(process.pid, signal.SIGTERM)  # not reaped yet, so it is still this process
            deadline_s = time.monotonic() + GRACE_S
        elif deadline_s is not None and time.monotonic() > deadline_s:
            os.killpg(process.pid, signal.SIGKILL)
        ended.wait(POLL_S)


def _note_end(pid: int, ended: threading.Event) -> None:
    """Tell at once that a process has ended, and leave it to be waited for."""
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    ended.set()


class _Lines:
    """Passes on the lines of a file that grows."""

    def __init__(self, file: IO[bytes], hear: Callable[[str], object] | None) -> None:
        self._file, self._hear = file, hear
        self._done_b = 0

    def pass_on(self) -> None:
        if self._hear is None:
            return
        said = os.pread(self._file.fileno(), 1 << 16, self._done_b)
        whole = said[: said.rfind(b"\n") + 1]
        for line in whole.decode(errors="replace").splitlines():
            self._hear(line)
        self._done_b += len(whole)
