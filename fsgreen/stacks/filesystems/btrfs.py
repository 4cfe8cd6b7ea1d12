"""Btrfs."""

from __future__ import annotations

import re

from fsgreen.stacks.filesystems.base import (
    ATIME_OPTIONS,
    MIB_B,
    NODISCARD,
    STRICTATIME,
    FileSystem,
    Inspection,
    Setting,
    block,
    numbers,
)

INSPECT = ("btrfs", "inspect-internal")


def copies(text: str) -> dict[str, int]:
    """Return how many copies data and metadata have: 2 where mkfs chose DUP, 1 where single."""
    found = {}
    for kind in ("data", "metadata"):
        match = re.search(rf"type {kind.upper()}\|(\w+)", text)
        found[f"{kind}_copies"] = 2 if match and match[1].upper() == "DUP" else 1
    return found


BTRFS = FileSystem(
    name="btrfs",
    mkfs=("-q", "-f", "-K"),
    minimum_b=128 * MIB_B,
    defaults=(block(4096, "-s", "4096"), STRICTATIME, NODISCARD),
    options={
        **ATIME_OPTIONS,
        "nodatacow": Setting("cow", "data overwritten in place, unchecked", (), ("nodatacow",)),
    },
    inspections=(
        Inspection(
            (*INSPECT, "dump-super"),
            numbers({"block_b": r"^sectorsize\s+(\d+)", "node_b": r"^nodesize\s+(\d+)"}),
        ),
        Inspection((*INSPECT, "dump-tree", "-t", "chunk"), copies),
    ),
    lacks={
        "block": "its sectors have 4 KiB at least",
        "inode": "its inodes are items of a tree, without a size of their own",
        "group": "its block groups have no size to choose",
        "data": "it writes copies instead of journalling",
    },
    own_read_ahead=True,
)
