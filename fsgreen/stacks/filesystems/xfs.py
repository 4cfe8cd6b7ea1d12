"""XFS."""

from __future__ import annotations

from fsgreen.stacks.filesystems.base import (
    ATIME_OPTIONS,
    MIB_B,
    STRICTATIME,
    FileSystem,
    Inspection,
    Setting,
    block,
    numbers,
)


def _agcount(count: int) -> Setting:
    return Setting(
        "agcount", f"{count} allocation groups", ("-d", f"agcount={count}"), (), {"agcount": count}
    )


XFS = FileSystem(
    name="xfs",
    mkfs=("-q", "-f", "-K"),
    minimum_b=300 * MIB_B,
    defaults=(block(4096, "-b", "size=4096"), STRICTATIME),
    options={
        **ATIME_OPTIONS,
        "blk1k": block(1024, "-b", "size=1024"),
        "blk2k": block(2048, "-b", "size=2048"),
        "isz1k": Setting("inode", "1 KiB inodes", ("-i", "size=1024"), (), {"inode_b": 1024}),
        **{f"agcnt{count}": _agcount(count) for count in (2, 8, 16, 32, 64, 128)},
    },
    inspections=(
        Inspection(
            ("xfs_info",),
            numbers(
                {
                    "block_b": r"^data\s+=\s+bsize=(\d+)",
                    "inode_b": r"\bisize=(\d+)",
                    "agcount": r"\bagcount=(\d+)",
                    "agsize_blocks": r"\bagsize=(\d+)",
                    "sector_b": r"\bsectsz=(\d+)",
                    "journal_blocks": r"^log\s+=.*\bblocks=(\d+)",
                }
            ),
        ),
    ),
    lacks={"group": "it has allocation groups, not block groups (agcnt2 to agcnt128 change them)"},
)
