"""Who does what in a fleet: `fleet.json`, which home writes and `fsgreen status` reads."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import ValidationError

from fsgreen import paths, trial
from fsgreen.errors import FsgreenError
from fsgreen.schema import Strict

FILE = "fleet.json"

Doing: TypeAlias = Literal["waits", "measures", "brings", "lost", "refused", "done"]


class Post(Strict):
    """What a testbed does, and since when; `rested_s` is what its rests took between trials."""

    doing: Doing = "waits"
    since_unix_s: float = 0.0
    told: str = ""
    rests_count: int = 0
    rested_s: float = 0.0


class Record(Strict):
    """What a fleet measures, and what each testbed does."""

    study: str
    profile: str
    posts: dict[str, Post]


def file_of(campaign: str) -> Path:
    """Return where the record of a campaign of a fleet is, or would be."""
    return paths.raw(campaign) / FILE


class Board:
    """Keeps the record of a fleet that measures.

    Parameters
    ----------
    campaign : str
        Its name at home.
    record : Record
        What it begins with.
    """

    def __init__(self, campaign: str, record: Record) -> None:
        self._file = file_of(campaign)
        self._record = record
        self._write()

    def note(self, testbed: str, doing: Doing, told: str = "", *, rested_s: float = 0.0) -> None:
        """Note what a testbed does from now on, and what a rest took that has ended."""
        post = self._record.posts[testbed]
        self._record.posts[testbed] = Post(
            doing=doing,
            since_unix_s=time.time(),
            told=told,
            rests_count=post.rests_count + (rested_s > 0),
            rested_s=post.rested_s + rested_s,
        )
        self._write()

    def _write(self) -> None:
        with trial.full_disk_explained(self._file):
            trial.write_json(self._file, self._record.model_dump())


def read(campaign: str) -> Record:
    """Return what a fleet does; raises FsgreenError where its record is damaged."""
    file = file_of(campaign)
    try:
        return Record.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise FsgreenError(
            f"not the record of a fleet: {error}",
            where=file,
            next_step="remove it: the next start of the same command writes another",
        ) from error
