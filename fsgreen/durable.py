"""What must outlive a loss of power, and the hash by which it is known again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


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


def write_json(file: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file whole or not at all."""
    with whole(file) as partial:
        partial.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n")


def sha256_of(file: Path) -> str:
    """Return the hash of a file's bytes, as records hold it."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
