"""Sources of values on this machine: attributes of sysfs, and programs."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice, takewhile
from pathlib import Path

from fsgreen import paths
from fsgreen.errors import FsgreenError

BUSY = {
    errno.EAGAIN,
    errno.EBUSY,
    errno.EIO,
    errno.ENODATA,
    errno.ENXIO,
    errno.EREMOTEIO,
    errno.ETIMEDOUT,
}
"""Errors of a sensor that sleeps or does not answer now. It may answer the next request."""

MAX_LINES = 3
"""Most lines of a program's error message that are shown."""


def attribute(path: Path) -> str:
    """Return the value of an attribute without surrounding blanks; "" if it cannot be read."""
    try:
        return path.read_text("latin-1").strip()
    except OSError:
        return ""


def gather(paths: Mapping[str, Path], remedy: str) -> bytes:
    """Return the unchanged attributes by name, as one JSON object; null if one is busy now.

    Raises FsgreenError if an attribute is gone, or may not be read. `remedy` is the next step to
    get the permission.
    """
    return json.dumps({name: _text(path, remedy) for name, path in paths.items()}).encode()


def _text(path: Path, remedy: str) -> str | None:
    try:
        return path.read_text("latin-1")
    except OSError as error:
        if error.errno in BUSY:
            return None
        refused = isinstance(error, PermissionError)
        raise FsgreenError(
            f"{path.name} is not readable: {error.strerror}",
            where=path,
            next_step=remedy
            if refused
            else f"see whether the hardware is still there: ls {path.parent}",
        ) from error


def missing(program: str, package: str) -> str | None:
    """Return how to install a program that is missing, in a sentence; None if it is installed."""
    if paths.program(program) is not None:
        return None
    return f"{program} is not installed: apt install {package}"


def answer(
    command: Sequence[str],
    *,
    timeout_s: float,
    next_step: str,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """Run a program; return its output.

    It runs in its own session, so that a Ctrl-C for the harness does not cut its answer short.
    Raises FsgreenError, with `next_step`, if the program is missing, does not end within
    `timeout_s` (it is then killed), or ends with a status other than 0.
    """
    where = " ".join(command)
    path = paths.program(command[0])
    if path is None:
        raise FsgreenError(f"{command[0]} is not installed", where=where, next_step=next_step)
    try:
        with subprocess.Popen(
            [path, *command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "LC_ALL": "C", **(environment or {})},
        ) as process:
            try:
                printed, complaint = process.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired as error:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                raise FsgreenError(
                    f"{command[0]} gave no answer within {timeout_s:g} s",
                    where=where,
                    next_step=next_step,
                ) from error
    except OSError as error:
        raise FsgreenError(
            f"{command[0]} cannot be run: {error.strerror}", where=where, next_step=next_step
        ) from error
    if process.returncode != 0:
        raise FsgreenError(
            f"{command[0]} ended with status {process.returncode}: "
            f"{_complaint(complaint.strip() or printed)}",
            where=where,
            next_step=next_step,
        )
    return printed


def _complaint(said: bytes) -> str:
    """Return the first lines of an error message, without the help that nvme prints in bold.

    The first line alone may not help: ipmitool begins with a list of missing files.
    """
    lines = (line.strip() for line in said.decode("utf-8", "replace").splitlines())
    plain = takewhile(lambda line: "\x1b" not in line, filter(None, lines))
    return "; ".join(islice(plain, MAX_LINES))
