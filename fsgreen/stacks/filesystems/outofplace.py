"""File systems that write copies or logs, out of place: btrfs, f2fs, nilfs2 and bcachefs."""

from __future__ import annotations

import re

from fsgreen.stacks.filesystems.base import (
    ATIME_OPTIONS,
    DISCARD,
    MIB_B,
    NODISCARD,
    STRICTATIME,
    FileSystem,
    Inspection,
    Setting,
    Zoned,
    block,
    numbers,
)

BTRFS_INSPECT = ("btrfs", "inspect-internal")


def btrfs_copies(text: str) -> dict[str, int]:
    """Return the number of copies of data and metadata: 2 if mkfs chose DUP, 1 if single."""
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
        "discard": DISCARD,
        "nodatacow": Setting("cow", "data overwritten in place, unchecked", (), ("nodatacow",)),
    },
    inspections=(
        Inspection(
            (*BTRFS_INSPECT, "dump-super"),
            numbers({"block_b": r"^sectorsize\s+(\d+)", "node_b": r"^nodesize\s+(\d+)"}),
        ),
        Inspection((*BTRFS_INSPECT, "dump-tree", "-t", "chunk"), btrfs_copies),
    ),
    lacks={
        "block": "its sectors have 4 KiB at least",
        "inode": "its inodes are items of a tree, without a size of their own",
        "group": "its block groups have no size to choose",
        "data": "it writes copies instead of journalling",
    },
    own_read_ahead=True,
    zoned=Zoned(("-q", "-f", "-K"), lacks="nodatacow"),
)

F2FS_POWERS = {"block_b": "log_blocksize", "segment_blocks": "log_blocks_per_seg"}
"""Fields of the superblock that hold the logarithm (base 2) of a number."""


def f2fs_superblock(text: str) -> dict[str, int]:
    """Return the block and the segment size from the output of `dump.f2fs -d 1`."""
    found = {
        name: re.search(rf"^{field}\s+\[0x\s*[0-9a-f]+ : (\d+)\]", text, re.M)
        for name, field in F2FS_POWERS.items()
    }
    return {name: 1 << int(match[1]) for name, match in found.items() if match}


F2FS = FileSystem(
    name="f2fs",
    mkfs=("-q", "-f", "-t", "0"),
    # mkfs.f2fs 1.15 refuses 48 MiB.
    minimum_b=52 * MIB_B,
    # Before 1.16, mkfs.f2fs has no argument for the block size. It is the size of a page.
    defaults=(block(4096), STRICTATIME, NODISCARD),
    options={**ATIME_OPTIONS, "discard": DISCARD},
    inspections=(Inspection(("dump.f2fs", "-d", "1"), f2fs_superblock),),
    lacks={
        "block": "its blocks have the size of a page",
        "data": "it writes logs instead of journalling",
        "cow": "it writes logs and has no copies to leave out",
    },
    zoned=Zoned(("-q", "-f", "-m"), on_conventional=True, needs="discard"),
)

NILFS2 = FileSystem(
    name="nilfs2",
    mkfs=("-q", "-f", "-K"),
    # mkfs.nilfs2 2.2 needs 16 segments of 8 MiB, and its superblocks.
    minimum_b=130 * MIB_B,
    defaults=(block(4096, "-b", "4096"), STRICTATIME),
    options={
        **ATIME_OPTIONS,
        "discard": DISCARD,
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
    # mount.nilfs2 starts this program.
    cleaner="nilfs_cleanerd",
)

UNITS_B = {"": 1, "B": 1, "k": 1 << 10, "K": 1 << 10, "KiB": 1 << 10, "M": 1 << 20, "MiB": 1 << 20}


def bcachefs_superblock(text: str) -> dict[str, int]:
    """Return the block and the node size from the output of `bcachefs show-super`.

    Sizes look like `4k` or `4.00 KiB`.
    """
    sizes = {}
    for name, field in {"block_b": "block_size", "node_b": "btree_node_size"}.items():
        if match := re.search(rf"^\s*{field}:\s+([\d.]+) ?({'|'.join(UNITS_B)})\s*$", text, re.M):
            sizes[name] = int(float(match[1]) * UNITS_B[match[2]])
    return sizes


BCACHEFS = FileSystem(
    name="bcachefs",
    mkfs=("-q", "-f"),
    # The least size differs between versions. This is enough for all.
    minimum_b=256 * MIB_B,
    defaults=(block(4096, "--block_size=4k"), STRICTATIME),
    options=ATIME_OPTIONS,
    inspections=(Inspection(("bcachefs", "show-super"), bcachefs_superblock),),
    lacks={
        "block": "its blocks have 4 KiB here",
        "data": "its journal holds keys of its trees only",
        "cow": "it writes copies",
    },
    own_read_ahead=True,
    history="it was part of Linux from 6.7 to 6.17",
)
