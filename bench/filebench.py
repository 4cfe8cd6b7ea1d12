"""Running Filebench 1.5-alpha3, the generator of the published numbers, where it is installed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.processes import Used, run
from bench.programs import Work
from fsgreen.errors import FsgreenError

SUMMARY = re.compile(r"IO Summary:\s*(\d+) ops\s+([\d.]+) ops/s")
POOLS = "filebench-shm-*"
PATIENCE_S = 300
"""More than its start, its tree and its end take; some texts hang it for ever. Seconds."""


def is_installed() -> bool:
    """Return whether it is on the path."""
    return shutil.which("filebench") is not None


def require() -> None:
    """Raise `FsgreenError` if it is not installed, with where to get it."""
    if not is_installed():
        raise FsgreenError(
            "filebench is not installed, so there is nothing to compare with",
            next_step="build 1.5-alpha3 from https://github.com/filebench/filebench (it needs "
            "autoconf, automake, libtool, flex and bison) and put it on PATH",
        )


def by_filebench(text: str, file: Path, seconds: int) -> Work | None:
    """Run a text that defines a workload; None if it gave no result.

    The trees are made and written back first, and what that used is taken off: it is measured with
    the same text that only makes them.

    Parameters
    ----------
    text : str
        The definitions, without a run command.
    file : Path
        Where the text is written.
    seconds : int
        Duration of the run.
    """
    created = _run(text + 'create files\nsystem "sync"\nquit\n', file, seconds)
    used = _run(text + f'create files\nsystem "sync"\nrun {seconds}\n', file, seconds)
    return work(used, created)


def work(used: Used, created: Used) -> Work | None:
    """Return what a run did without the creation of its trees; None if it printed no summary."""
    found = SUMMARY.search(used.output)
    if found is None:
        return None
    operations, throughput_ops_s = int(found[1]), float(found[2])
    return Work(
        operations,
        operations / throughput_ops_s,
        used.user_s - created.user_s,
        used.system_s - created.system_s,
    )


def _run(text: str, file: Path, seconds: int) -> Used:
    """Run a text with fixed addresses: its processes exchange function pointers."""
    file.write_text(text)
    limit = ["timeout", "--kill-after=5", str(seconds + PATIENCE_S)]
    with _no_pools_left():
        return run([*limit, "setarch", "-R", "filebench", "-f", str(file)])


@contextmanager
def _no_pools_left() -> Iterator[None]:
    """Remove the files of shared memory, 180 MB each, that it leaves when it does not end well."""
    before = set(Path("/tmp").glob(POOLS))
    try:
        yield
    finally:
        for pool in set(Path("/tmp").glob(POOLS)) - before:
            pool.unlink()
