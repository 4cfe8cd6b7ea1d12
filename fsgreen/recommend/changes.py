"""The steps from one configuration to another, and their risks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fsgreen.design import DEFAULT, Cell
from fsgreen.errors import unknown
from fsgreen.recommend import inplace
from fsgreen.stacks import filesystems
from fsgreen.stacks.filesystems import Setting

Kind = Literal["none", "mount", "offline", "format", "file system"]

KINDS: tuple[Kind, ...] = ("none", "mount", "offline", "format", "file system")
"""The kinds of change, from the least to the most effort."""

HAZARDS = {
    "no journal": "no journal: after a crash it must be checked, and files may be lost",
    "stale data": "after a crash, files may show old content of others: metadata may go first",
    "torn": "a crash can leave an overwrite half done",
    "unchecked": "data have no checksums: rot goes unnoticed",
}
"""The hazards to data, by a short name."""

_NO_JOURNAL = frozenset({"no journal", "stale data", "torn", "unchecked"})
_OF_FILE_SYSTEM = {"ext2": _NO_JOURNAL, "btrfs": frozenset[str]()}
_ORDINARY = frozenset({"torn", "unchecked"})
_OF_OPTION = {
    "wrbck": _ORDINARY | {"stale data"},
    "nolog": _NO_JOURNAL,
    "nojnl": _NO_JOURNAL,
    "dtlg": frozenset({"unchecked"}),
    "nodatacow": _ORDINARY,
}
"""Options that change the hazards, from ext4(5), section "Mount options", and btrfs(5)."""


@dataclass(frozen=True)
class Change:
    """The way from the present configuration to another one.

    `how` has the commands of an administrator. `hazards` are those that the present configuration
    does not have.
    """

    kind: Kind
    how: str
    hazards: tuple[str, ...]

    @property
    def risk(self) -> str:
        """Return the hazards in words."""
        return "; ".join(HAZARDS[name] for name in self.hazards)

    @property
    def reformats(self) -> bool:
        """Return whether it needs mkfs, and the data from a backup."""
        return self.kind in ("format", "file system")


def change(now: Cell, then: Cell) -> Change:
    """Return the change from `now` to `then`.

    A mount option can be changed at a remount or at the next mount. Options of mkfs, and another
    file system, need mkfs, unless a command on the unmounted device does the same.

    Raises FsgreenError if a file system does not have an option.
    """
    hazards = tuple(name for name in HAZARDS if name in _hazards(then) - _hazards(now))
    before, after = _settings(now), _settings(then)
    if then == now:
        return Change("none", "", ())
    commands = inplace.commands(now, then, _made(before, but=after), _made(after, but=before))
    if commands is None:
        kind: Kind = "format" if then["file_system"] == now["file_system"] else "file system"
        return Change(kind, _mkfs(then, after), hazards)
    by_slot = [{setting.slot: setting for setting in each.values()} for each in (before, after)]
    return Change(
        "offline" if commands else "mount", _mount(now, then, commands, *by_slot), hazards
    )


def _settings(config: Cell) -> dict[str, Setting]:
    """Return the settings that differ from the file system's defaults, by names of options."""
    if config["option"] == DEFAULT:
        return {}
    spec = filesystems.file_system(config["file_system"])
    names = config["option"].split("+")
    for name in names:
        if name not in spec.options:
            raise unknown("option", name, ["default", *spec.options], where=config["file_system"])
    return {name: spec.options[name] for name in names}


def _made(settings: Mapping[str, Setting], *, but: Mapping[str, Setting]) -> list[str]:
    """Return the options that mkfs sets, except those that `but` has with the same setting."""
    return [name for name, setting in settings.items() if setting.mkfs and but.get(name) != setting]


def _mkfs(config: Cell, settings: Mapping[str, Setting]) -> str:
    words = [word for setting in settings.values() for word in setting.mkfs]
    mounted = [word for setting in settings.values() for word in setting.mount]
    command = " ".join([filesystems.file_system(config["file_system"]).tool, *words])
    mount = f"; mount -o {','.join(mounted)}" if mounted else ""
    return command + mount + _served(config)


def _served(config: Cell) -> str:
    """Return the commands for a served file system, after the one below it is mounted."""
    spec = filesystems.file_system(config["file_system"])
    if spec.program:
        return f"; {spec.program} mount (docs/{spec.program}.md)"
    return "; exportfs; mount --types nfs4 (docs/readahead.md)" if spec.exported else ""


def _mount(
    now: Cell,
    then: Cell,
    commands: Sequence[str],
    before: Mapping[str, Setting],
    after: Mapping[str, Setting],
) -> str:
    """Return the commands of a new mount; a remount is enough if only `atime` changes."""
    slots = {**before, **after}
    changed = [slot for slot in slots if before.get(slot) != after.get(slot)]
    if changed == ["atime"] and not commands:
        return f"mount -o remount,{_words(then, after, changed)}"
    # A remount keeps options that it does not name. A new mount does not.
    words = _words(then, after, slots)
    kept = then["file_system"] == now["file_system"]
    mount = "mount" if kept else f"mount -t {then['file_system']}"
    again = "; ".join(["umount", *commands, f"{mount} -o {words}" if words else mount])
    return again + _served(then)


def _words(config: Cell, settings: Mapping[str, Setting], slots: Iterable[str]) -> str:
    """Return the mount options of some slots, including the defaults of the file system."""
    system = filesystems.file_system(config["file_system"])
    usual = {setting.slot: setting for setting in system.defaults}
    wanted = [settings.get(slot) or usual.get(slot) for slot in slots]
    return ",".join(word for setting in wanted if setting for word in setting.mount)


def _hazards(config: Cell) -> frozenset[str]:
    hazards = _OF_FILE_SYSTEM.get(config["file_system"], _ORDINARY)
    for name in config["option"].split("+"):
        hazards = _OF_OPTION.get(name, hazards)
    return hazards
