"""Ways to a folder: as it is, through mergerfs, and through GreenFS without a remote and with."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from bench.processes import run
from fsgreen import greenfs
from fsgreen.errors import FsgreenError

NATIVE, MERGED = "the folder below", "mergerfs"
ALONE, PROTECTED = "greenfs, flash alone", "greenfs, with a remote"
UNMOUNT = ("umount",) if os.geteuid() == 0 else ("fusermount3", "-u")


@dataclass(frozen=True)
class Mounted:
    """Where programs work, who serves it, and how one waits until all of it is done."""

    at: Path
    pid: int | None = None
    wait: Callable[[], object] = lambda: None


Way = Callable[[Path], AbstractContextManager[Mounted]]
"""Mounts a folder somehow."""


@contextmanager
def served(command: Sequence[str], at: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Have a program serve a mount, and end."""
    at.mkdir()
    daemon = subprocess.Popen([*command, str(at)], stdout=subprocess.DEVNULL)
    while not at.is_mount():
        if daemon.poll() is not None:
            raise FsgreenError(f"{command[0]} ended", where=at, next_step="fusermount3 --version")
        time.sleep(0.01)
    try:
        yield daemon
    finally:
        run([*UNMOUNT, str(at)])
        daemon.wait()


@contextmanager
def merged(below: Path) -> Iterator[Mounted]:
    """Mount it by mergerfs."""
    at = below.with_name("mergerfs")
    with served(["mergerfs", "-f", str(below)], at) as daemon:
        yield Mounted(at, daemon.pid)


@contextmanager
def stacked(below: Path, *options: str | Path) -> Iterator[Mounted]:
    """Mount it by GreenFS, with its journal."""
    at = below.with_name("greenfs")
    command = [greenfs.program(), "mount", "--foreground", "--flash", str(below)]

    def wait() -> None:
        while options and "holds all" not in greenfs.ask("status", "--flash", below):
            time.sleep(0.2)

    with served([*command, *map(str, options)], at) as daemon:
        yield Mounted(at, daemon.pid, wait)


def protected(below: Path) -> AbstractContextManager[Mounted]:
    """Mount it by GreenFS with a remote on the same file system."""
    remote = below.with_name("remote")
    remote.mkdir()
    return stacked(below, "--remote", remote)


WAYS: dict[str, Way] = {
    NATIVE: lambda below: nullcontext(Mounted(below)),
    MERGED: merged,
    ALONE: stacked,
    PROTECTED: protected,
}
