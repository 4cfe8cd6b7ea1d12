"""The files of trials: written whole, and known by their hashes."""

from __future__ import annotations

import errno
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fsgreen.durable import whole
from fsgreen.errors import FsgreenError

SMALL: Mapping[str, Any] = {
    "compression": "zstd",
    "compression_level": 9,
    "use_dictionary": False,
    "write_statistics": False,
}
"""How tables of some thousand rows become small files: a campaign ships with all its trials."""


def write_json(file: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file whole or not at all."""
    with whole(file) as partial:
        partial.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n")


def sha256_of(file: Path) -> str:
    """Return the hash of a file's bytes, as records hold it."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def full_disk_explained(path: Path) -> Iterator[None]:
    """Turn the error of a full disk into one that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise FsgreenError(
            "the disk that holds the raw traces is full; the trials so far are whole",
            where=path,
            next_step="free some space, then start the same command again: it resumes",
        ) from error
