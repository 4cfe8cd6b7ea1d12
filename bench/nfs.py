"""The NFS server and its client, started and ended."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fsgreen.workloads.nfs import started


@contextlib.contextmanager
def serving(folder: Path, words: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Serve a folder; yield the address, and a summary that is filled in at the end."""
    summary: dict[str, Any] = {}
    with started(["serve", str(folder), "--listen", "127.0.0.1:0", *words]) as server:
        address = server.report()["address"]
        try:
            yield address, summary
        finally:
            server.end()
            summary |= server.report()


def read(address: str, files: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
    """Read files of a server and return what the client reports."""
    with started(["read", address, *files, *words]) as client:
        return client.report()
