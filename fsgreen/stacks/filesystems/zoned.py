"""Checks which cells can be made on a zoned disk."""

from __future__ import annotations

from collections.abc import Mapping

from fsgreen.errors import FsgreenError
from fsgreen.stacks.filesystems.base import Recipe

LISTED = "docs/vm.md lists what zoned disks take"


def check(recipe: Recipe, zones: Mapping[str, int]) -> None:
    """Raise `FsgreenError` if a cell cannot be made on these zones, as `zones.of` returns them."""
    name, how = recipe.file_system.name, recipe.file_system.zoned
    options = recipe.option.split("+")
    if how is None:
        what = f"{name} overwrites, and this disk takes writes at the end of what a zone holds only"
        remedy = "btrfs or f2fs, or a disk without zones"
    elif how.on_conventional and not zones["conventional_zones_count"]:
        what = f"{name} overwrites its tables, and no zone of this disk takes that (conventional)"
        remedy = 'drive = "null" in [testbed], which has such zones, or btrfs'
    elif how.needs and how.needs not in options:
        what = f"{name} {recipe.option} is not mounted on a zoned disk without {how.needs}"
        remedy = f"option: {how.needs}"
    elif how.lacks and how.lacks in options:
        what = f"{name} cannot have {how.lacks} on a zoned disk, which takes no overwriting"
        remedy = f"leave {how.lacks} out of the study"
    else:
        return
    raise FsgreenError(what, where="file_system, option", next_step=f"{remedy}; {LISTED}")
