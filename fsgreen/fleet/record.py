"""Who does what in a fleet: `fleet.json`, which home writes and `fsgreen status` reads."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import ValidationError

from fsgreen import paths, trial
from fsgreen.errors import FsgreenError
from fsgreen.fleet.tally import Count
from fsgreen.schema import Strict

FILE = "fleet.json"

Doing: TypeAlias = Literal["waits", "measures", "brings", "lost", "refused", "done"]


class Post(Strict):
    """What a testbed does, and since when; `rested_s` is what its rests took between trials.

    `here_count` trials of it are at home, of the `due_count` that it owes: 0 where others may have
    them. `to_go_s` is how long it takes for all that is left.
    """

    doing: Doing = "waits"
    since_unix_s: float = 0.0
    told: str = ""
    rests_count: int = 0
    rested_s: float = 0.0
    here_count: int = 0
    due_count: int = 0
    to_go_s: float | None = None


class Record(Strict):
    """What a fleet measures by which design, and what each testbed does."""

    study: str
    profile: str
    design: str = "replicate"
    posts: dict[str, Post]


def file_of(campaign: str) -> Path:
    """Return where the record of a campaign of a fleet is, or would be."""
    return paths.raw(campaign) / FILE


class Board:
    """Keeps the record of a fleet that measures.

    `campaign` is its name at home, and `record` what it begins with.
    """

    def __init__(self, campaign: str, record: Record) -> None:
        self._file = file_of(campaign)
        self._record = record
        self._write()

    def note(self, testbed: str, doing: Doing, told: str = "", *, rested_s: float = 0.0) -> None:
        """Note what a testbed does from now on, and what a rest took that has ended."""
        post = self._record.posts[testbed]
        now = {
            "doing": doing,
            "since_unix_s": time.time(),
            "told": told,
            "rests_count": post.rests_count + (rested_s > 0),
            "rested_s": post.rested_s + rested_s,
        }
        self._record.posts[testbed] = post.model_copy(update=now)
        self._write()

    def count(self, testbed: str, count: Count) -> None:
        """Have the next note say how far a testbed is."""
        now = {"here_count": count.here, "due_count": count.due, "to_go_s": count.to_go_s}
        self._record.posts[testbed] = self._record.posts[testbed].model_copy(update=now)

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
