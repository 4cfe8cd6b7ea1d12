"""Running the program `fsgreen-wml` so that it never outlives what started it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from typing import IO, Any

from fsgreen import paths
from fsgreen.errors import FsgreenError

PROGRAM = "fsgreen-wml"
BUILD = "./run engine"

POLL_S = 0.05
GRACE_S = 10.0
"""How long the program may take to write partial results before it is killed. Seconds."""

NEXT = "\n  next:  "
"""Begins the line in which the program says how to mend an error."""

PROGRESS = " left"
"""Ends a line about progress."""

PARTIAL = 3
"""Exit status of a run that ended early."""


def require() -> str:
    """Return the path of the program.

    Raises
    ------
    FsgreenError
        If it is not installed.
    """
    program = paths.program(PROGRAM)
    if program is None:
        raise FsgreenError("the workload engine is not installed", next_step=BUILD)
    return program


def call(arguments: Sequence[str], stop: threading.Event | None = None) -> dict[str, Any]:
    """Run the program and return its report.

    Parameters
    ----------
    arguments : sequence of str
        The command and its arguments.
    stop : threading.Event, optional
        Ends the program early once it is set.

    Raises
    ------
    FsgreenError
        If the program fails, with its own words, or has to be killed.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with _process([require(), *arguments, "--die-with-parent"], output, errors) as process:
            _wait(process, stop, errors)
        output.seek(0)
        errors.seek(0)
        return _report(process.returncode, output.read(), errors.read().decode(errors="replace"))


@contextlib.contextmanager
def _process(
    command: Sequence[str], output: IO[bytes], errors: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process group; whatever happens, nothing of it is left."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=errors,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            _signal_group(process, signal.SIGKILL)
            process.wait()


def _wait(
    process: subprocess.Popen[bytes], stop: threading.Event | None, errors: IO[bytes]
) -> None:
    """Wait for the end; once `stop` is set, ask for it, and leave after the grace period."""
    never = threading.Event()
    deadline_s: float | None = None
    shown_b = 0
    while process.poll() is None:
        shown_b = _show_progress(errors, shown_b)
        if deadline_s is not None:
            if time.monotonic() > deadline_s:
                return
            never.wait(POLL_S)
        elif (stop or never).wait(POLL_S):
            process.terminate()
            deadline_s = time.monotonic() + GRACE_S
    _show_progress(errors, shown_b)


def _show_progress(errors: IO[bytes], shown_b: int) -> int:
    """Pass on what the program says of its progress; return the bytes that are done with."""
    said = os.pread(errors.fileno(), 1 << 16, shown_b)
    whole = said[: said.rfind(b"\n") + 1]
    for line in whole.decode(errors="replace").splitlines():
        if line.endswith(PROGRESS):
            print(line, file=sys.stderr)
    return shown_b + len(whole)


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _report(status: int, output: bytes, errors: str) -> dict[str, Any]:
    if status in (0, PARTIAL):
        report: dict[str, Any] = json.loads(output)
        return report
    if status < 0:
        name = signal.Signals(-status).name
        raise FsgreenError(
            f"the workload engine was ended by {name}",
            next_step="run it again; dmesg says whether memory was short",
        )
    what, _, remedy = errors.strip().rpartition(NEXT)
    said = (what or remedy).strip().removeprefix(f"{PROGRAM}: ")
    raise FsgreenError(
        said or f"the workload engine failed with status {status}",
        next_step=remedy.strip() if what else None,
    )
