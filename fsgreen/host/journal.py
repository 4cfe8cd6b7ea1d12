"""What was before: written to disk before anything is changed, and removed once it is put back.

Each change has a journal of its own, never edited while it matters; together they are a stack. A
journal is held (by flock) by those who will put it back themselves: a run and its guardian.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

from fsgreen.audit.tree import HERE, Tree
from fsgreen.durable import sync
from fsgreen.errors import FsgreenError

FOLDER = "var/lib/fsgreen/host"
"""One for the machine, whoever changes it, and one that survives a power cut."""

BOOT_ID = "proc/sys/kernel/random/boot_id"
SCHEMA = 1
RESTORE = "fsgreen host restore"
LATEST_UNIX_S = 2**37  # the year 6325; a calendar ends somewhere


@dataclass(frozen=True)
class Entry:
    """One value that was replaced by another; all texts are those of `Setting`."""

    setting: str
    target: str
    identity: str
    before: str
    applied: str


@dataclass(frozen=True)
class Journal:
    """What one change found.

    Attributes
    ----------
    file : Path
        Where it is kept.
    boot_id : str
        The boot in which the values were found: no other boot gets them back.
    written_unix_s : float
        When it was written.
    for_run : bool
        Whether a run puts it back at its end, or the user with `fsgreen host restore`.
    entries : tuple of Entry
        In the order of the changes.
    """

    file: Path
    boot_id: str
    written_unix_s: float
    for_run: bool
    entries: tuple[Entry, ...]

    def of_this_boot(self, tree: Tree) -> bool:
        """Return whether the machine has not been booted since."""
        return self.boot_id == tree.text(BOOT_ID)

    def held(self) -> bool:
        """Return whether a run or its guardian lives that will put it back."""
        try:
            descriptor = os.open(self.file, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)

    def keep_only(self, entries: Sequence[Entry]) -> None:
        """Write the journal anew with what is still to be put back; with nothing, remove it."""
        if entries:
            os.close(_write(replace(self, entries=tuple(entries))))
        else:
            self.file.unlink()
            sync(self.file.parent)


@contextlib.contextmanager
def alone(tree: Tree) -> Iterator[int]:
    """Hold the folder of journals while settings are changed; yield the lock's descriptor.

    Programs that change something inherit it, so that nobody puts a setting back while a tool of
    a killed process is still changing it.
    """
    folder = tree.path(FOLDER)
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def begin(tree: Tree, entries: Sequence[Entry], *, for_run: bool) -> tuple[Journal, int]:
    """Write a journal to the disk itself; return it and the descriptor that holds it.

    Raises FsgreenError if this boot cannot be told from others, or the disk is full.
    """
    boot_id = tree.text(BOOT_ID)
    if boot_id is None:
        raise FsgreenError(
            "nothing is changed: this boot has no number, so nobody could tell after a reboot "
            "what belongs to it",
            where=tree.path(BOOT_ID),
            next_step="run it where /proc is mounted",
        )
    numbers = [int(file.stem) for file in _files(tree)]
    file = tree.path(FOLDER) / f"{max(numbers, default=0) + 1:06d}.json"
    journal = Journal(file, boot_id, time.time(), for_run, tuple(entries))
    return journal, _write(journal)


def journals(tree: Tree) -> list[Journal]:
    """Return all journals, the newest first. Raises FsgreenError if one is damaged."""
    return [read(file) for file in reversed(_files(tree))]


def read(file: Path) -> Journal:
    """Read one journal. Raises `FsgreenError` if the file holds something else."""
    try:
        record = json.loads(file.read_text("utf-8"))
        if record["schema"] != SCHEMA:
            raise ValueError(f"its schema is {record['schema']}, not {SCHEMA}")
        entries = tuple(Entry(**entry) for entry in record["entries"])
        values = [value for entry in entries for value in asdict(entry).values()]
        if not all(isinstance(value, str) for value in [*values, record["boot_id"]]):
            raise ValueError("a value is no text")
        written_unix_s = float(record["written_unix_s"])
        if not 0 <= written_unix_s < LATEST_UNIX_S:
            raise ValueError(f"{written_unix_s} is no time")
        return Journal(file, record["boot_id"], written_unix_s, bool(record["for_run"]), entries)
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise FsgreenError(
            f"not a journal of settings: {error!r}",
            where=file,
            next_step="read it, restore the settings in it by hand, then delete it",
        ) from error


def refuse_beside_others(tree: Tree) -> None:
    """Raise unless a change can be put back independently of those before it."""
    for journal in journals(tree):
        if journal.held():
            raise FsgreenError(
                "a run holds settings of this machine, and restores them at its end",
                where=journal.file,
                next_step="wait for it, or name all settings when you start it",
            )
        if journal.for_run or not journal.of_this_boot(tree):
            raise FsgreenError(_told(journal, tree), where=journal.file, next_step=RESTORE)


class Waiting(NamedTuple):
    """A journal that waits for `fsgreen host restore`, told in a sentence.

    `asked_for` is set where somebody wanted the settings to stay until then.
    """

    sentence: str
    asked_for: bool


def pending(tree: Tree = HERE) -> list[Waiting]:
    """Return the journals that wait, the newest first; those held by a run do not.

    Needs no root, and never fails: a damaged journal waits too.
    """
    waiting = []
    for file in reversed(_files(tree)):
        try:
            journal = read(file)
            if not journal.held():
                asked_for = journal.of_this_boot(tree) and not journal.for_run
                waiting.append(Waiting(_told(journal, tree), asked_for))
        except (FsgreenError, OSError) as error:
            if file.exists():  # or a guardian has just put it back
                waiting.append(Waiting(f"{file}: {error}".splitlines()[0], False))
    return waiting


def _told(journal: Journal, tree: Tree) -> str:
    names = ", ".join(dict.fromkeys(entry.setting for entry in journal.entries))
    since = time.strftime("%Y-%m-%d %H:%M", time.localtime(journal.written_unix_s))
    if not journal.of_this_boot(tree):
        return f"{names}: changed {since}, before the machine was booted, and never put back"
    if journal.for_run:
        return f"{names}: changed {since} by a run that ended without putting them back"
    return f"{names}: changed {since} by `fsgreen host apply`"


def _files(tree: Tree) -> list[Path]:
    journals = tree.path(FOLDER).glob("*.json")
    return sorted(file for file in journals if re.fullmatch(r"[0-9]{6}", file.stem))


def _write(journal: Journal) -> int:
    """Write a journal whole or not at all; return a descriptor that shares its lock."""
    record = {
        "schema": SCHEMA,
        "boot_id": journal.boot_id,
        "written_unix_s": journal.written_unix_s,
        "for_run": journal.for_run,
        "entries": [asdict(entry) for entry in journal.entries],
    }
    partial = journal.file.with_name(f".{journal.file.name}.partial")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    descriptor = os.open(partial, flags, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        with open(descriptor, "w", encoding="utf-8", closefd=False) as stream:
            json.dump(record, stream, indent=1)
        os.fsync(descriptor)
        partial.rename(journal.file)
        sync(journal.file.parent)
    except OSError as error:
        os.close(descriptor)
        raise FsgreenError(
            f"nothing is changed: what was before cannot be kept: {error.strerror}",
            where=journal.file,
            next_step=f"free some space below {journal.file.parent}",
        ) from error
    return descriptor
