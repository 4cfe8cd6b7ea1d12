"""NILFS2, whose cleaner `mount.nilfs2` starts."""

from __future__ import annotations

from fsgreen.stacks.filesystems.base import (
    ATIME_OPTIONS,
    MIB_B,
    STRICTATIME,
    FileSystem,
    Inspection,
    block,
    numbers,
)

NILFS2 = FileSystem(
    name="nilfs2",
    mkfs=("-q", "-f", "-K"),
    # mkfs.nilfs2 2.2 asks for 16 segments of 8 MiB, and its superblocks.
    minimum_b=130 * MIB_B,
    defaults=(block(4096, "-b", "4096"), STRICTATIME),
    options={
        **ATIME_OPTIONS,
        "blk1k": block(1024, "-b", "1024"),
        "blk2k": block(2048, "-b", "2048"),
    },
    inspections=(
        Inspection(
            ("nilfs-tune", "-l"),
            numbers(
                {
                    "block_b": r"^Block size:\s+(\d+)",
                    "inode_b": r"^Inode size:\s+(\d+)",
                    "segment_blocks": r"^# of blocks per segment:\s+(\d+)",
                    "segments_count": r"^Number of segments:\s+(\d+)",
                }
            ),
        ),
    ),
    lacks={
        "data": "it writes logs instead of journalling",
        "cow": "it never overwrites in place",
    },
    cleaner="nilfs_cleanerd",
)
