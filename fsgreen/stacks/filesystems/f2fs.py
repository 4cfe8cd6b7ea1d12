"""F2FS."""

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
)

POWERS = {"block_b": "log_blocksize", "segment_blocks": "log_blocks_per_seg"}
"""Numbers of the superblock that are given as powers of two."""


def superblock(text: str) -> dict[str, int]:
    """Return block and segment size from the superblock as `dump.f2fs -d 1` prints it."""
    found = {
        name: re.search(rf"^{field}\s+\[0x\s*[0-9a-f]+ : (\d+)\]", text, re.M)
        for name, field in POWERS.items()
    }
    return {name: 1 << int(match[1]) for name, match in found.items() if match}


F2FS = FileSystem(
    name="f2fs",
    mkfs=("-q", "-f", "-t", "0"),
    # mkfs.f2fs 1.15 refuses 48 MiB.
    minimum_b=52 * MIB_B,
    # Before 1.16 mkfs.f2fs has no argument for the block size, which is that of a page.
    defaults=(
        Setting("block", "4 KiB blocks", (), (), {"block_b": 4096}),
        STRICTATIME,
        NODISCARD,
    ),
    options=ATIME_OPTIONS,
    inspections=(Inspection(("dump.f2fs", "-d", "1"), superblock),),
    lacks={
        "block": "its blocks have the size of a page",
        "data": "it writes logs instead of journalling",
        "cow": "it writes logs and has no copies to leave out",
    },
)
