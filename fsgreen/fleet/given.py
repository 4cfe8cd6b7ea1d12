"""Which testbed has which block of a plan that is shared out: `shares.jsonl`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from fsgreen import paths, trial
from fsgreen.errors import FsgreenError
from fsgreen.schema import Strict

FILE = "shares.jsonl"
"""A line for each block that was given to a testbed; the last one of a block counts."""


class Given(Strict):
    """A block of the plan, and the testbed that it was given to."""

    block: int
    testbed: str


def file_of(campaign: str) -> Path:
    """Return where it stands who has what of a campaign."""
    return paths.raw(campaign) / FILE


def give(campaign: str, block: int, testbed: str) -> None:
    """Note that a testbed has a block from now on; raises FsgreenError if the disk is full."""
    file = file_of(campaign)
    with trial.full_disk_explained(file), file.open("a", encoding="ascii") as lines:
        lines.write(Given(block=block, testbed=testbed).model_dump_json() + "\n")
        lines.flush()
        os.fsync(lines.fileno())


def read(campaign: str) -> list[Given]:
    """Return what was given, in its order; a line that a loss of power cut off is removed.

    Raises FsgreenError if the file is damaged.
    """
    file = file_of(campaign)
    held = file.read_bytes() if file.exists() else b""
    whole = held[: held.rfind(b"\n") + 1]
    if whole != held:
        os.truncate(file, len(whole))
    try:
        return [Given.model_validate_json(line) for line in whole.splitlines()]
    except ValidationError as error:
        raise FsgreenError(
            f"it does not say which testbed has which block: {error}",
            where=file,
            next_step="bring back the file, or begin another campaign with --name",
        ) from error


def owners(campaign: str) -> dict[int, str]:
    """Return the testbed that each block was given to last; raises FsgreenError as `read`."""
    return {line.block: line.testbed for line in read(campaign)}


def in_order(lines: Sequence[Given], testbed: str) -> list[int]:
    """Return the blocks that a testbed was given, in order; one given twice where it was last."""
    blocks = [line.block for line in lines if line.testbed == testbed]
    return [*dict.fromkeys(reversed(blocks))][::-1]
