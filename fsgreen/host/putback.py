"""Putting settings back from a journal, each read again afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fsgreen.audit.tree import Tree
from fsgreen.errors import FsgreenError
from fsgreen.host.journal import RESTORE, Entry, Journal
from fsgreen.host.settings import SETTINGS

Result = Literal["put back", "as it was", "gone", "left", "failed"]


@dataclass(frozen=True)
class Outcome:
    """What became of one entry of a journal.

    Attributes
    ----------
    setting, target, before : str
        As in the journal.
    result : str
        `put back`; `as it was` already; `gone`: the disk is not there any more, or another one has
        its name; `left`: the machine was booted since, so the value is nobody's of this boot;
        `failed`.
    detail : str
        For `left` and `failed`: why, and the command that sets it by hand.
    """

    setting: str
    target: str
    before: str
    result: Result
    detail: str = ""


def put_back(tree: Tree, journal: Journal, lock_fd: int) -> list[Outcome]:
    """Put everything back in the opposite order; the journal keeps what failed, or is removed."""
    same_boot = journal.of_this_boot(tree)
    outcomes, failed = [], []
    for entry in reversed(journal.entries):
        outcome = _one(tree, entry, lock_fd) if same_boot else _after_boot(tree, entry)
        outcomes.append(outcome)
        if outcome.result == "failed":
            failed.append(entry)
    journal.keep_only(failed[::-1])
    return outcomes


def require_done(outcomes: Sequence[Outcome]) -> None:
    """Raise `FsgreenError` if anything could not be put back; it names what."""
    failed = [outcome for outcome in outcomes if outcome.result == "failed"]
    if failed:
        lines = [f"{outcome.setting} {outcome.target}: {outcome.detail}" for outcome in failed]
        raise FsgreenError(
            "not put back: " + "\n    ".join(lines),
            next_step=f"remove the obstacle, then {RESTORE}; or set it by hand as above, "
            "and restore accepts it",
        )


def _one(tree: Tree, entry: Entry, lock_fd: int) -> Outcome:
    setting = SETTINGS.get(entry.setting)
    if setting is None:
        return _outcome(entry, "failed", "this version of fsgreen has no such setting")
    try:
        if setting.identity(tree, entry.target) != entry.identity:
            return _outcome(entry, "gone")
        if setting.read(tree, entry.target) == entry.before:
            return _outcome(entry, "as it was")
        setting.write(tree, entry.target, entry.before, lock_fd)
        now = setting.read(tree, entry.target)
        if now == entry.before:
            return _outcome(entry, "put back")
        why = f"it is {now} although {entry.before} was set"
    except FsgreenError as error:
        why = error.what
    return _outcome(entry, "failed", f"{why}; {setting.by_hand(entry.target, entry.before)}")


def _after_boot(tree: Tree, entry: Entry) -> Outcome:
    setting = SETTINGS.get(entry.setting)
    if setting is None:
        return _outcome(entry, "left", "this version of fsgreen has no such setting")
    try:
        now = setting.read(tree, entry.target)
    except FsgreenError as error:
        return _outcome(entry, "left", error.what)
    if now == entry.before:
        return _outcome(entry, "as it was")
    by_hand = setting.by_hand(entry.target, entry.before)
    why = f"it is {now or 'not readable'}, and was {entry.before} before the boot; {by_hand}"
    return _outcome(entry, "left", why)


def _outcome(entry: Entry, result: Result, detail: str = "") -> Outcome:
    return Outcome(entry.setting, entry.target, entry.before, result, detail)
