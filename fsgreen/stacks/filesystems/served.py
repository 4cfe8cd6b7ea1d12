"""File systems that are served from folders on a file system of the kernel: GreenFS and NFS."""

from __future__ import annotations

from dataclasses import replace

from fsgreen.stacks.filesystems.base import Setting
from fsgreen.stacks.filesystems.inplace import EXT4

GREENFS = replace(
    EXT4,
    name="greenfs",
    program="greenfs",
    below="ext4",
    defaults=(
        *EXT4.defaults,
        Setting("remote", "a remote folder has every change (default)", branches=("remote",)),
        Setting("disk", "a disk that sleeps has a copy (default)", branches=("disk",)),
    ),
    options={
        **EXT4.options,
        "noremote": Setting("remote", "no remote folder: an fsync waits for flash alone"),
        "nodisk": Setting("disk", "no disk that sleeps"),
    },
)
"""Its folders are on one ext4, or each on its own. Each ext4 is made and mounted like a cell of
ext4 with the same options."""

NFS = replace(EXT4, name="nfs", below="ext4", exported=True)
"""The folder of the server is on one ext4, which is made and mounted in the same way."""
