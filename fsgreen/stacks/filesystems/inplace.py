"""File systems that overwrite in place: ext2, ext3, ext4, xfs, reiserfs and jfs."""

from __future__ import annotations

from collections.abc import Mapping

from fsgreen.stacks.filesystems.base import (
    ATIME_OPTIONS,
    DATA_OPTIONS,
    DISCARD,
    MIB_B,
    ORDERED,
    STRICTATIME,
    FileSystem,
    Inspection,
    Setting,
    block,
    numbers,
)

# On small images, mke2fs chooses blocks of 1 KiB and more inodes. Both are fixed to its values for
# disks above 512 MiB, so that the default does not depend on the size of the image. The hash seed
# orders names in directories and spreads directories over groups. It is fixed, so that equal trials
# get equal layouts. (The UUID has no influence on places, and mkfs.btrfs refuses one that it has
# seen.) Lazy initialisation would write in the background while the trial is measured.
EXT_MKFS = (
    *("-q", "-F", "-i", "16384", "-E"),
    "nodiscard,lazy_itable_init=0,lazy_journal_init=0,"
    "hash_seed=5f7a1e36-2b0c-4d8e-9a51-66d3c0b4f210",
)
EXT_OPTIONS = {
    **ATIME_OPTIONS,
    "blk1k": block(1024, "-b", "1024"),
    "blk2k": block(2048, "-b", "2048"),
    "isz128": Setting("inode", "128 B inodes", ("-I", "128"), (), {"inode_b": 128}),
    "isz1k": Setting("inode", "1 KiB inodes", ("-I", "1024"), (), {"inode_b": 1024}),
    "bg16k": Setting(
        "group", "16 Ki blocks a group", ("-g", "16384"), (), {"blocks_per_group": 16384}
    ),
}
DUMPE2FS = Inspection(
    ("dumpe2fs", "-h"),
    numbers(
        {
            "block_b": r"^Block size:\s+(\d+)",
            "inode_b": r"^Inode size:\s+(\d+)",
            "inode_count": r"^Inode count:\s+(\d+)",
            "blocks_per_group": r"^Blocks per group:\s+(\d+)",
            "journal_blocks": r"^Total journal blocks:\s+(\d+)",
        }
    ),
)


def _ext(name: str, *, journal: bool, more: Mapping[str, Setting] | None = None) -> FileSystem:
    return FileSystem(
        name=name,
        mkfs=EXT_MKFS,
        minimum_b=32 * MIB_B,
        defaults=(block(4096, "-b", "4096"), STRICTATIME, *((ORDERED,) if journal else ())),
        options={**EXT_OPTIONS, **(DATA_OPTIONS if journal else {}), **(more or {})},
        inspections=(DUMPE2FS,),
        lacks={
            "agcount": "it has block groups, not allocation groups (bg16k changes them)",
            "data": "without its journal it is ext2" if journal else "it has no journal",
        },
    )


EXT2 = _ext("ext2", journal=False)
# In some kernels, ext2 has its own driver, which does not know the option discard.
EXT3 = _ext("ext3", journal=True, more={"discard": DISCARD})
EXT4 = _ext(
    "ext4",
    journal=True,
    # `nojnl` fills the slot of the journal's mode, as a mount without a journal refuses data=.
    more={
        "nojnl": Setting("data", "no journal", ("-O", "^has_journal")),
        "discard": DISCARD,
    },
)


def _agcount(count: int) -> Setting:
    """Return the setting. A single group has no second superblock, so mkfs.xfs must be urged."""
    words = f"{count} allocation groups" if count > 1 else "one allocation group"
    given = () if count > 1 else ("--unsupported",)
    return Setting("agcount", words, (*given, "-d", f"agcount={count}"), (), {"agcount": count})


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
        "discard": DISCARD,
        **{f"agcnt{count}": _agcount(count) for count in (1, 2, 8, 16, 32, 64, 128)},
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
    lacks={"group": "it has allocation groups, not block groups (agcnt1 to agcnt128 change them)"},
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

JFS = FileSystem(
    name="jfs",
    mkfs=("-q",),
    minimum_b=16 * MIB_B,
    defaults=(block(4096), STRICTATIME),
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
