"""All settings by name, and what a user asks of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fsgreen.audit import disks
from fsgreen.audit.tree import Tree
from fsgreen.errors import FsgreenError, unknown
from fsgreen.host.base import Setting
from fsgreen.host.disks import Apm, Apst, PowerState, ReadAhead, Scheduler
from fsgreen.host.memory import Dirty, Swap
from fsgreen.host.processors import Governor, Smt, Turbo
from fsgreen.host.timers import Timers

SETTINGS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        Governor(),
        Turbo(),
        Timers(),
        Swap(),
        Dirty(),
        Scheduler(),
        ReadAhead(),
        Apm(),
        Apst(),
        PowerState(),
        Smt(),
    )
}
"""In the order in which they are changed. SMT comes last, as it takes cores and their policies
away; everything is put back in the opposite order."""

BY_DEFAULT = ("governor", "turbo", "timers", "swap")
"""What is changed where nothing is named: what makes numbers worse and needs no choice."""

NEXT = "fsgreen host show"


def parse_wishes(words: Iterable[str]) -> dict[str, str]:
    """Return the wanted values by setting from words like `governor` and `scheduler=none`.

    Raises FsgreenError for an unknown setting, or one that has no usual value and is given none.
    """
    wishes = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in SETTINGS:
            raise unknown("setting", name, SETTINGS, next_step=NEXT)
        wanted = value or SETTINGS[name].wanted
        if wanted is None:
            raise FsgreenError(f"which {name}? Write {name}=VALUE", next_step=NEXT)
        wishes[name] = wanted
    return wishes


def disk_names(tree: Tree, asked: Sequence[str]) -> list[str]:
    """Return the kernel's names of disks given as `sda`, `/dev/sda` or `/dev/disk/by-id/...`.

    Raises FsgreenError if there is no such disk; a partition has no queue of its own.
    """
    names = []
    for word in asked:
        name = tree.path(word.lstrip("/")).resolve().name if "/" in word else word
        if not tree.path(f"{disks.BLOCK}/{name}/queue").is_dir():
            known = tree.folders(disks.BLOCK, "queue")
            raise unknown("whole disk", word, known, next_step="lsblk --nodeps")
        names.append(name)
    return names
