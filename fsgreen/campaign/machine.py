"""One campaign at a time on a machine, as two would disturb each other.

The process that measures binds the name of an abstract socket (unix(7)). The kernel releases the
name when the process ends, however it ends. No file is needed that every user may write. Containers
with a network namespace of their own have names of their own. Campaigns with different values of
the variable FSGREEN_MACHINE may run side by side; tests use this.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

POLL_S = 0.5

_bound: socket.socket | None = None


@contextmanager
def machine_alone() -> Iterator[None]:
    """Wait until no other process measures, then keep others waiting. May be nested."""
    global _bound
    if _bound is not None:
        yield
        return
    with socket.socket(socket.AF_UNIX) as mine:
        told = False
        while not _bind(mine):
            if not told:
                print(
                    "another campaign measures on this machine: waiting for it to end (Ctrl-C "
                    "stops waiting)",
                    flush=True,
                )
            told = True
            time.sleep(POLL_S)
        _bound = mine
        try:
            yield
        finally:
            _bound = None


def _bind(mine: socket.socket) -> bool:
    try:
        mine.bind(f"\0fsgreen-measures-{os.environ.get('FSGREEN_MACHINE', '')}")
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        raise
    return True
