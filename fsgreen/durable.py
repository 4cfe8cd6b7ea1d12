"""What must outlive a loss of power."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def sync(path: Path) -> None:
    """Return once the bytes of a file, or the entries of a folder, are on their device."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def whole(file: Path) -> Iterator[Path]:
    """Give a path to write to: `file` is there once that is complete, or not at all."""
    partial = file.with_name(f".{file.name}.partial")
    try:
        yield partial
        sync(partial)
        partial.rename(file)
    finally:
        partial.unlink(missing_ok=True)
