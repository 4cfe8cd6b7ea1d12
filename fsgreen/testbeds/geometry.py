"""What mkfs really made, read back from the disk before it is mounted."""

from __future__ import annotations

import re

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import commands

DUMPE2FS = {
    "block_b": r"^Block size:\s+(\d+)",
    "inode_b": r"^Inode size:\s+(\d+)",
    "inode_count": r"^Inode count:\s+(\d+)",
    "blocks_per_group": r"^Blocks per group:\s+(\d+)",
    "journal_blocks": r"^Total journal blocks:\s+(\d+)",
}
XFS_INFO = {
    "block_b": r"^data\s+=\s+bsize=(\d+)",
    "inode_b": r"\bisize=(\d+)",
    "agcount": r"\bagcount=(\d+)",
    "agsize_blocks": r"\bagsize=(\d+)",
    "sector_b": r"\bsectsz=(\d+)",
    "journal_blocks": r"^log\s+=.*\bblocks=(\d+)",
}
BTRFS_SUPER = {
    "block_b": r"^sectorsize\s+(\d+)",
    "node_b": r"^nodesize\s+(\d+)",
}


def read(file_system: str, device: str, *, lock_fd: int | None = None) -> dict[str, int]:
    """Return the geometry on an unmounted device, by the file system's own tools.

    ext: dumpe2fs -h. xfs: xfs_info. btrfs: inspect-internal; `metadata_copies` is 2 where mkfs
    chose the profile DUP, 1 where it chose single.

    Raises
    ------
    FsgreenError
        If a tool is missing, or finds no such file system.
    """
    if file_system == "xfs":
        return _numbers(XFS_INFO, commands.run(["xfs_info", device], lock_fd=lock_fd))
    if file_system == "btrfs":
        inspect = ["btrfs", "inspect-internal"]
        found = _numbers(
            BTRFS_SUPER, commands.run([*inspect, "dump-super", device], lock_fd=lock_fd)
        )
        chunks = commands.run([*inspect, "dump-tree", "-t", "chunk", device], lock_fd=lock_fd)
        for kind in ("data", "metadata"):
            match = re.search(rf"type {kind.upper()}\|(\w+)", chunks)
            found[f"{kind}_copies"] = 2 if match and match[1].upper() == "DUP" else 1
        return found
    return _numbers(DUMPE2FS, commands.run(["dumpe2fs", "-h", device], lock_fd=lock_fd))


def verify(asked: dict[str, int], found: dict[str, int], where: str) -> None:
    """Raise `FsgreenError` if the disk differs from what the cell asked for."""
    wrong = [
        f"{name} is {found.get(name)}, asked for {value}"
        for name, value in asked.items()
        if found.get(name) != value
    ]
    if wrong:
        raise FsgreenError(
            f"mkfs made something else: {'; '.join(wrong)}",
            where=where,
            next_step="fsgreen doctor, and compare the versions of the mkfs tools",
        )


def _numbers(patterns: dict[str, str], text: str) -> dict[str, int]:
    found = {name: re.search(pattern, text, re.M) for name, pattern in patterns.items()}
    return {name: int(match[1]) for name, match in found.items() if match}
