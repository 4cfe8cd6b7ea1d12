"""Attributes of the kernel's sysfs: small files that hold one value each."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from pathlib import Path

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
"""What a sensor that sleeps or is not answering now gives; it may answer at the next question."""


def attribute(path: Path, default: str = "") -> str:
    """Return what an attribute holds, without blanks around it; `default` where it cannot be."""
    try:
        return path.read_text("latin-1").strip()
    except OSError:
        return default


def gather(paths: Mapping[str, Path], next_step: str) -> bytes:
    """Return attributes as they are, by name, as one JSON object; null for one that is busy now.

    Raises FsgreenError, with `next_step`, where one is gone or may not be read.
    """
    return json.dumps({name: _text(path, next_step) for name, path in paths.items()}).encode()


def _text(path: Path, next_step: str) -> str | None:
    try:
        return path.read_text("latin-1")
    except OSError as error:
        if error.errno in BUSY:
            return None
        raise FsgreenError(
            f"{path.name} is not readable: {error.strerror}", where=path, next_step=next_step
        ) from error
