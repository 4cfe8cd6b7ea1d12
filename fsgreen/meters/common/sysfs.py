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


def attribute(path: Path) -> str:
    """Return what an attribute holds, without blanks around it; empty where it cannot be read."""
    try:
        return path.read_text("latin-1").strip()
    except OSError:
        return ""


def gather(paths: Mapping[str, Path], remedy: str) -> bytes:
    """Return attributes as they are, by name, as one JSON object; null for one that is busy now.

    Raises FsgreenError where one is gone, or may not be read: `remedy` tells how to get the right.
    """
    return json.dumps({name: _text(path, remedy) for name, path in paths.items()}).encode()


def _text(path: Path, remedy: str) -> str | None:
    try:
        return path.read_text("latin-1")
    except OSError as error:
        if error.errno in BUSY:
            return None
        refused = isinstance(error, PermissionError)
        raise FsgreenError(
            f"{path.name} is not readable: {error.strerror}",
            where=path,
            next_step=remedy
            if refused
            else f"see whether its part is still there: ls {path.parent}",
        ) from error
