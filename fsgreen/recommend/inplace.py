"""What a command changes on an unmounted device, so that it is as mkfs would have made it.

Only what was verified stands here: the features and the geometry that dumpe2fs reads are the same
afterwards as on a fresh file system. ext4's extents and flexible groups cannot be had for files
that are there already, and `tune2fs -I` may lose the data if it is interrupted: both are not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fsgreen.design import Cell

SET: Mapping[tuple[str, str], str] = {
    # mkfs makes no orphan file without a journal; tune2fs would leave one for e2fsck to object to.
    ("ext4", "nojnl"): "tune2fs -O ^has_journal,^orphan_file",
}
"""By file system and option: the command that sets the option."""

UNSET: Mapping[tuple[str, str], str] = {("ext4", "nojnl"): "tune2fs -O has_journal"}
"""By file system and option: the command that takes the option back."""

BECOMES: Mapping[tuple[str, str], str] = {
    ("ext2", "ext3"): "tune2fs -O has_journal",
    ("ext3", "ext2"): "tune2fs -O ^has_journal",
}
"""By file systems: the command that makes the second of the first."""


def commands(now: Cell, then: Cell, gone: Iterable[str], new: Iterable[str]) -> list[str] | None:
    """Return the commands that do what mkfs would, none for a mount; None if only mkfs does it.

    Parameters
    ----------
    now, then : Cell
        What there is, and what is wanted.
    gone, new : iterable of str
        The options of mkfs that only what there is has, and that only what is wanted has.
    """
    systems = now["file_system"], then["file_system"]
    found = [
        *([] if now["file_system"] == then["file_system"] else [BECOMES.get(systems)]),
        *(UNSET.get((now["file_system"], name)) for name in gone),
        *(SET.get((then["file_system"], name)) for name in new),
    ]
    known = [command for command in found if command is not None]
    return known if len(known) == len(found) else None
