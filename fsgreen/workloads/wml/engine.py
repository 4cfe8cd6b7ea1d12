"""The program `fsgreen-wml`, called for its report."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.workloads import process

PROGRAM = "fsgreen-wml"

NEXT = "\n  next:  "
"""Begins the line in which the program says how to mend an error."""

AGAIN = "run it again; dmesg says whether memory was short"
"""What to do where the program could not say it."""

PROGRESS = " left"
"""Ends a line about progress."""

REPORTED = (0, 3, 4)
"""Exit statuses with a report: done, ended early, and too many failures or no work."""


def require() -> str:
    """Return the path of the program. Raises FsgreenError if it is not installed."""
    program = paths.program(PROGRAM)
    if program is None:
        raise FsgreenError("the workload engine is not installed", next_step=paths.BUILD)
    return program


def call(arguments: Sequence[str], stop: threading.Event | None = None) -> dict[str, Any]:
    """Run the program and return its report; `stop`, once it is set, ends it early.

    Raises FsgreenError if the program fails, with its own words, or has to be killed.
    """
    command = [require(), *arguments, "--die-with-parent"]
    done = process.run(command, stop, hear=show_progress)
    return report_of(done.output, done.errors, done.status)


def report_of(output: str, errors: str, status: int) -> dict[str, Any]:
    """Return the report of a program that has ended; a status below 0 is the signal that did it.

    Raises FsgreenError if it failed, with its own words, or was killed.
    """
    if status in REPORTED:
        report: dict[str, Any] = json.loads(output)
        return report
    if status < 0:
        raise FsgreenError(
            f"the workload engine was ended by {signal.Signals(-status).name}", next_step=AGAIN
        )
    what, remedy = complaint(errors)
    said = what.removeprefix(f"{PROGRAM}: ")
    raise FsgreenError(said or f"the workload engine failed with status {status}", next_step=remedy)


def complaint(errors: str) -> tuple[str, str]:
    """Return what one of our programs says went wrong, and what to do about it."""
    what, _, remedy = errors.strip().rpartition(NEXT)
    return (what.strip(), remedy.strip()) if what else (remedy, AGAIN)


def show_progress(line: str) -> None:
    """Pass a line on if it tells of progress."""
    if line.endswith(PROGRESS):
        print(line, file=sys.stderr)
