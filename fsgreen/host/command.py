"""A command that ends with the process that has changed the settings for it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Sequence

from fsgreen.errors import FsgreenError

_LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1  # prctl(2)


def run(command: Sequence[str]) -> int:
    """Run a command to its end, inside of a block of `applied`; return its exit status.

    Ctrl-C in a terminal reaches the command itself, and SIGTERM is passed on to it. If this process
    is killed, the kernel sends the command SIGTERM: nothing should go on measuring while its
    settings are put back.

    Returns
    -------
    int
        The command's status, 128 and the signal's number where a signal ended it.

    Raises
    ------
    FsgreenError
        If there is no such command.
    """
    holder = os.getpid()

    def end_with_holder() -> None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != holder:
            os._exit(128 + signal.SIGTERM)

    try:
        process = subprocess.Popen(command, preexec_fn=end_with_holder)
    except OSError as error:
        raise FsgreenError(
            f"cannot be started: {error.strerror}",
            where=command[0],
            next_step="give a program and its arguments after --",
        ) from error
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: process.terminate()),
    }
    try:
        status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return status if status >= 0 else 128 - status
