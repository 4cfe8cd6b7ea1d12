"""ReiserFS (version 3)."""

from __future__ import annotations

from fsgreen.stacks.filesystems.base import (
    ATIME_OPTIONS,
    DATA_OPTIONS,
    MIB_B,
    STRICTATIME,
    FileSystem,
    Inspection,
    Setting,
    block,
    numbers,
)

REISERFS = FileSystem(
    name="reiserfs",
    mkfs=("-q", "-f"),
    minimum_b=64 * MIB_B,
    defaults=(block(4096, "-b", "4096"), STRICTATIME),
    options={
        **ATIME_OPTIONS,
        "notail": Setting("tail", "tails not packed", (), ("notail",)),
        "nolog": Setting("log", "no journal", (), ("nolog",)),
        "blk1k": block(1024, "-b", "1024"),
        "blk2k": block(2048, "-b", "2048"),
        **DATA_OPTIONS,
    },
    inspections=(
        Inspection(
            ("debugreiserfs",),
            numbers({"block_b": r"^Blocksize: (\d+)", "journal_blocks": r"^\s*Size (\d+) blocks"}),
        ),
    ),
    lacks={"data": "nolog mounts it without its journal"},
    history="it left Linux in 6.13",
)
