"""Looking at settings, changing them, and putting them back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from fsgreen import commands
from fsgreen.audit import disks as known
from fsgreen.audit.tree import HERE, Tree
from fsgreen.errors import FsgreenError
from fsgreen.host import journal
from fsgreen.host.base import Target
from fsgreen.host.holder import Guardian
from fsgreen.host.journal import Entry
from fsgreen.host.putback import Outcome, put_back, require_done
from fsgreen.host.settings import BY_DEFAULT, SETTINGS, disk_names, parse_wishes


@dataclass(frozen=True)
class Row:
    """One thing that could be changed.

    Attributes
    ----------
    setting, target : str
        Which, and of what; no target where the machine has none.
    now : str or None
        What it is, None where that cannot be read.
    wanted : str or None
        What would be applied, None where that must be said.
    obstacle : str
        Why it cannot be applied here, or not be put back; empty if it can.
    """

    setting: str
    target: str
    now: str | None
    wanted: str | None
    obstacle: str = ""

    @property
    def changes(self) -> bool:
        """Whether applying it would change anything."""
        return not self.obstacle and self.wanted is not None and self.now != self.wanted


def look(
    wishes: Mapping[str, str | None] | None = None,
    *,
    disks: Sequence[str] = (),
    tree: Tree = HERE,
) -> list[Row]:
    """Return what is and what would be, of the wanted settings and the named disks, or of all.

    Raises FsgreenError if there is no such disk.
    """
    names = disk_names(tree, disks) if disks else known.names(tree)
    if wishes is None:
        wishes = {name: setting.wanted for name, setting in SETTINGS.items()}
    rows = []
    for name, setting in SETTINGS.items():
        if name not in wishes:
            continue
        wanted = wishes[name]
        targets = setting.find(tree, names)
        if not targets:
            targets = [Target("", None, "no disk here") if setting.of_disks else Target("", wanted)]
        for target, now, obstacle in targets:
            if not obstacle and wanted is not None and now != wanted:
                obstacle = setting.obstacle(tree, target, wanted)
                if now is None:
                    obstacle = "it cannot be read, so it could not be put back"
            rows.append(Row(name, target, now, wanted, obstacle))
    return rows


def apply(words: Sequence[str] = (), *, disks: Sequence[str] = (), tree: Tree = HERE) -> list[Row]:
    """Change settings until `restore`; all of them, or none if one is refused.

    Raises FsgreenError without root, for anything unknown, where a named setting or that of a named
    disk cannot be changed or not be put back, and if a value does not hold.

    Parameters
    ----------
    words : sequence of str
        Settings, as `governor` or `scheduler=none`. Without any: `BY_DEFAULT`, as far as this
        machine has them. Single timers or swap areas that could not be put back are left.
    disks : sequence of str
        The disks that settings of disks are for.

    Returns
    -------
    list of Row
        What was looked at, with the values before; those whose `changes` is set were changed.
    """
    _require_root(tree)
    with journal.alone(tree) as lock_fd:
        rows = _checked(words, disks, tree)
        if any(row.changes for row in rows):
            journal.refuse_beside_others(tree)
            written, hold_fd = journal.begin(tree, _entries(rows, tree), for_run=False)
            try:
                _change(rows, tree, lock_fd)
            except BaseException:
                with commands.uninterrupted():
                    require_done(put_back(tree, written, lock_fd))
                raise
            finally:
                os.close(hold_fd)
    return rows


@contextmanager
def applied(
    words: Sequence[str] = (), *, disks: Sequence[str] = (), tree: Tree = HERE
) -> Iterator[list[Row]]:
    """Change settings for the time of a block; parameters, value and errors as of `apply`.

    They are put back after any end of the block and of the whole process, SIGKILL included, by a
    guardian. After a power cut, `restore` finds the journal.

    Raises FsgreenError at the end of the block, if something could not be put back.
    """
    _require_root(tree)
    with ExitStack() as guarded:
        with journal.alone(tree) as lock_fd, commands.uninterrupted():
            rows = _checked(words, disks, tree)
            if any(row.changes for row in rows):
                journal.refuse_beside_others(tree)
                written, hold_fd = journal.begin(tree, _entries(rows, tree), for_run=True)
                guarded.enter_context(Guardian(tree, written, hold_fd))
                _change(rows, tree, lock_fd)
        yield rows


def before(rows: Iterable[Row]) -> dict[tuple[str, str], str]:
    """Return what was before the changes that rows tell of, by setting and target."""
    return {(row.setting, row.target): row.now for row in rows if row.changes and row.now}


def restore(tree: Tree = HERE) -> list[Outcome]:
    """Put back everything that any journal holds, the last change first, up to one that fails.

    A journal that was written before the machine was booted is compared with what is now and
    removed, but never written: the boot has reset most, and what differs may be what this boot
    was meant to have.

    Raises FsgreenError without root, if a run still holds settings, or a journal is damaged.
    """
    _require_root(tree)
    outcomes: list[Outcome] = []
    with journal.alone(tree) as lock_fd, commands.uninterrupted():
        stack = journal.journals(tree)
        for written in stack:
            if written.held():
                raise FsgreenError(
                    "a run that is going on holds these settings, and restores them at its end",
                    where=written.file,
                    next_step="wait for it, or end it",
                )
        for written in stack:
            outcomes += put_back(tree, written, lock_fd)
            if any(outcome.result == "failed" for outcome in outcomes):
                break  # the older values go below those that are still to be put back
    return outcomes


def _checked(words: Sequence[str], disks: Sequence[str], tree: Tree) -> list[Row]:
    """Return the rows to apply; raise for what was asked for by name and cannot be done."""
    wishes = parse_wishes(words or BY_DEFAULT)
    of_disks = [name for name in wishes if SETTINGS[name].of_disks]
    if of_disks and not disks:
        raise FsgreenError(
            f"no disk is named for {', '.join(of_disks)}, which is set for each disk",
            next_step="add --disk NAME; fsgreen host show lists them",
        )
    if disks and not of_disks:
        known_names = ", ".join(name for name, setting in SETTINGS.items() if setting.of_disks)
        raise FsgreenError(
            "disks are named, but no setting that a disk has",
            where=", ".join(disks),
            next_step=f"name the setting to change: {known_names}",
        )
    rows = look(wishes, disks=disks, tree=tree)
    possible = {row.setting for row in rows if row.changes}
    refused = [
        row
        for row in rows
        if row.obstacle and (row.setting not in possible or row.setting in of_disks)
    ]
    if words and refused:
        lines = [f"{row.setting} {row.target}: {row.obstacle}" for row in refused]
        raise FsgreenError(
            "nothing is changed: " + "\n    ".join(lines), next_step="fsgreen host show"
        )
    return rows


def _entries(rows: Sequence[Row], tree: Tree) -> list[Entry]:
    return [
        Entry(
            row.setting,
            row.target,
            SETTINGS[row.setting].identity(tree, row.target),
            row.now,
            row.wanted,
        )
        for row in rows
        if row.changes and row.now is not None and row.wanted is not None
    ]


def _change(rows: Sequence[Row], tree: Tree, lock_fd: int) -> None:
    with commands.uninterrupted():
        for row in rows:
            if not row.changes or row.wanted is None:
                continue
            setting = SETTINGS[row.setting]
            setting.write(tree, row.target, row.wanted, lock_fd)
            now = setting.read(tree, row.target)
            if now != row.wanted:
                raise FsgreenError(
                    f"{row.setting} {row.target} is {now} although {row.wanted} was set",
                    next_step="leave this setting out; the settings changed before it are restored",
                )


def _require_root(tree: Tree) -> None:
    if tree.root == Path("/") and os.geteuid() != 0:
        raise FsgreenError(
            "changing settings of the machine needs root",
            next_step="run the same command with sudo; `fsgreen host show` works without",
        )
