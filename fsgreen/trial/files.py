"""The files of trials: how their tables become small, and what is told where one is wrong."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fsgreen import absence, paths
from fsgreen.errors import FsgreenError

SMALL: Mapping[str, Any] = {
    "compression": "zstd",
    "compression_level": 9,
    "use_dictionary": False,
    "write_statistics": False,
}
"""How tables of some thousand rows become small files: a campaign ships with all its trials."""


def read_of_campaign(campaign: str, name: str) -> dict[str, Any]:
    """Return what a JSON file of a campaign holds, such as `plan.json`.

    Raises FsgreenError if there is no such campaign, or its file is missing or damaged.
    """
    file = paths.raw(campaign) / name
    try:
        value: dict[str, Any] = json.loads(file.read_text())
    except FileNotFoundError:
        if name == paths.PLAN or not (file.parent / paths.PLAN).exists():
            raise absence.unknown_campaign(campaign) from None
        plan = read_of_campaign(campaign, paths.PLAN)
        raise FsgreenError(
            f"the campaign '{campaign}' has a plan, but its first trial has not begun",
            where=file.parent,
            next_step="wait for the fsgreen that measures it, or start it again: fsgreen measure "
            f"{plan['study']} --profile {plan['profile']['name']} --name {campaign}",
        ) from None
    except ValueError as error:
        raise FsgreenError(
            f"not readable JSON: {error}",
            where=file,
            next_step=f"move it away, then fsgreen unpack {campaign} (where it is packed), "
            "or bring back the file",
        ) from error
    return value


class DiskFull(FsgreenError):
    """The disk that holds the raw traces has no room for what is to be kept."""


@contextmanager
def full_disk_explained(path: Path) -> Iterator[None]:
    """Turn the error of a full disk into `DiskFull`, which says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise DiskFull(
            "the disk that holds the raw traces is full; the trials so far are whole",
            where=path,
            next_step="free some space, then start the same command again: it resumes",
        ) from error
