"""Commands on an unmounted device that give the same result as mkfs.

Only verified commands are here: afterwards, the features and the geometry that dumpe2fs reads are
the same as on a fresh file system. Two changes are left out: ext4's extents and flexible groups
would not apply to existing files, and `tune2fs -I` may lose the data if it is interrupted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fsgreen.design import Cell

SET: Mapping[tuple[str, str], str] = {
    # Without a journal, mkfs makes no orphan file. tune2fs would leave one, and e2fsck complains.
    ("ext4", "nojnl"): "tune2fs -O ^has_journal,^orphan_file",
}
"""The command that sets an option, by file system and option."""

UNSET: Mapping[tuple[str, str], str] = {("ext4", "nojnl"): "tune2fs -O has_journal"}
"""The command that removes an option, by file system and option."""

BECOMES: Mapping[tuple[str, str], str] = {
    ("ext2", "ext3"): "tune2fs -O has_journal",
    ("ext3", "ext2"): "tune2fs -O ^has_journal",
}
"""The command that turns the first file system into the second."""


def commands(now: Cell, then: Cell, gone: Iterable[str], new: Iterable[str]) -> list[str] | None:
    """Return the commands that replace mkfs; empty if a mount is enough, None if only mkfs helps.

    `now` is the present configuration, and `then` the wanted one. `gone` are the options of mkfs
    that only the present one has, and `new` those that only the wanted one has.
    """
    systems = now["file_system"], then["file_system"]
    found = [
        *([] if now["file_system"] == then["file_system"] else [BECOMES.get(systems)]),
        *(UNSET.get((now["file_system"], name)) for name in gone),
        *(SET.get((then["file_system"], name)) for name in new),
    ]
    known = [command for command in found if command is not None]
    return known if len(known) == len(found) else None
