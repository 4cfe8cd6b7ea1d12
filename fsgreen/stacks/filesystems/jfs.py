"""JFS."""

from __future__ import annotations

from fsgreen.stacks.filesystems.base import (
    ATIME_OPTIONS,
    MIB_B,
    STRICTATIME,
    FileSystem,
    Inspection,
    Setting,
    numbers,
)

JFS = FileSystem(
    name="jfs",
    mkfs=("-q",),
    minimum_b=16 * MIB_B,
    defaults=(Setting("block", "4 KiB blocks", (), (), {"block_b": 4096}), STRICTATIME),
    options=ATIME_OPTIONS,
    inspections=(
        Inspection(
            ("jfs_tune", "-l"),
            numbers(
                {
                    "block_b": r"^Aggregate block size:\s+(\d+) bytes",
                    "group_blocks": r"^Allocation group size:\s+(\d+) aggregate blocks",
                }
            ),
        ),
    ),
    lacks={
        "block": "its blocks have 4 KiB",
        "agcount": "its allocation groups have no number to choose",
    },
)
