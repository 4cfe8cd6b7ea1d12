"""Bcachefs."""

from __future__ import annotations

import re

from fsgreen.stacks.filesystems.base import (
    ATIME_OPTIONS,
    MIB_B,
    STRICTATIME,
    FileSystem,
    Inspection,
    block,
)

UNITS_B = {"": 1, "B": 1, "k": 1 << 10, "K": 1 << 10, "KiB": 1 << 10, "M": 1 << 20, "MiB": 1 << 20}


def superblock(text: str) -> dict[str, int]:
    """Return block and node size from what `bcachefs show-super` prints (`4k`, `4.00 KiB`)."""
    sizes = {}
    for name, field in {"block_b": "block_size", "node_b": "btree_node_size"}.items():
        match = re.search(rf"^\s*{field}:\s+([\d.]+) ?({'|'.join(UNITS_B)})\s*$", text, re.M)
        if match:
            sizes[name] = int(float(match[1]) * UNITS_B[match[2]])
    return sizes


BCACHEFS = FileSystem(
    name="bcachefs",
    mkfs=("-q", "-f"),
    # What it takes at least differs from version to version; so much is enough for all.
    minimum_b=256 * MIB_B,
    defaults=(block(4096, "--block_size=4k"), STRICTATIME),
    options=ATIME_OPTIONS,
    inspections=(Inspection(("bcachefs", "show-super"), superblock),),
    lacks={
        "block": "its blocks have 4 KiB here",
        "data": "its journal holds keys of its trees only",
        "cow": "it writes copies",
    },
    own_read_ahead=True,
    history="it was part of Linux from 6.7 to 6.17",
)
