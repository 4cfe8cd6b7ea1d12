"""The NFS server and its client, started and ended."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.processes import run
from fsgreen import paths
from fsgreen.errors import FsgreenError

PROGRAM = "fsgreen-nfs"


def program() -> str:
    """Return the path of the program; raises FsgreenError where it is not installed."""
    found = paths.program(PROGRAM)
    if found is None:
        raise FsgreenError("the NFS server is not installed", next_step="./run engine")
    return found


@contextlib.contextmanager
def serving(folder: Path, words: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Serve a folder; yield the address, and a summary that is filled in at the end."""
    command = [program(), "serve", str(folder), "--listen", "127.0.0.1:0", *words]
    summary: dict[str, Any] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                raise FsgreenError("the server did not start: see above")
            yield json.loads(line)["address"], summary
        finally:
            process.terminate()
            summary |= json.loads(process.stdout.readline() or "{}")


def read(address: str, files: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
    """Read files of a server and return what the client reports."""
    report: dict[str, Any] = json.loads(run([program(), "read", address, *files, *words]).output)
    return report
