"""The places of a file's blocks on the device, by the ioctl FIEMAP (linux/fiemap.h).

SEEK_HOLE is not enough, as it reports holes but no places. On ext2, the ext4 driver answers.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Sequence
from typing import NamedTuple

from fsgreen.errors import FsgreenError

FIEMAP = 0xC020660B
SYNC = 1
"""Flag of the request: write the file back first, so that every block has a place."""

LAST = 0x1
NO_PLACE = 0x2 | 0x4 | 0x200
"""UNKNOWN, DELALLOC, DATA_INLINE: no block of the device holds exactly these data."""

ENCODED = 0x8
"""Compressed or encrypted (btrfs): the length on the device is not reported."""

HEADER = struct.Struct("=QQIIII")
ENTRY = struct.Struct("=QQQ16xI12x")
AT_ONCE = 500
LARGEST_FILE_B = 2**63


class Extent(NamedTuple):
    """A contiguous run of bytes, with its offsets in the file and on the device."""

    logical_b: int
    physical_b: int
    length_b: int
    flags: int


def parse(answer: bytes) -> list[Extent]:
    """Return the extents of one answer of FIEMAP.

    Raises FsgreenError if the answer is shorter than it claims; if an extent has no length or is
    beyond the largest file; if extents go backwards.
    """
    if len(answer) < HEADER.size:
        raise _garbled("its head is cut")
    _, _, _, count, _, _ = HEADER.unpack_from(answer)
    if HEADER.size + count * ENTRY.size > len(answer):
        raise _garbled(f"{count} extents do not fit into {len(answer)} B")
    found = []
    end_b = 0
    for index in range(count):
        extent = Extent(*ENTRY.unpack_from(answer, HEADER.size + index * ENTRY.size))
        begin_b, end_before_b = extent.logical_b, end_b
        end_b = begin_b + extent.length_b
        if not end_before_b <= begin_b < end_b < LARGEST_FILE_B:
            raise _garbled(f"extent {index} spans the bytes {begin_b} to {end_b}")
        found.append(extent)
    return found


def extents(fd: int, size_b: int) -> list[Extent]:
    """Return the extents of an open file of `size_b` bytes, in the order of the file.

    Space that xfs preallocates beyond the end of a file, and frees later, is left out.

    Raises FsgreenError if the file system does not support FIEMAP (tmpfs), or if its answer is not
    valid.
    """
    found: list[Extent] = []
    start_b = 0
    while True:
        buffer = bytearray(HEADER.size + AT_ONCE * ENTRY.size)
        HEADER.pack_into(buffer, 0, start_b, 2**64 - 1 - start_b, SYNC, 0, AT_ONCE, 0)
        try:
            fcntl.ioctl(fd, FIEMAP, buffer)
        except OSError as error:
            raise FsgreenError(
                f"this file system does not tell where its blocks lie ({error.strerror})",
                where=os.readlink(f"/proc/self/fd/{fd}"),
                next_step="take ext2, ext3, ext4, xfs or btrfs",
            ) from error
        part = parse(bytes(buffer))
        if part and part[0].logical_b + part[0].length_b <= start_b:
            raise _garbled(f"it does not go beyond byte {start_b}")
        found += [extent for extent in part if extent.logical_b < size_b]
        if not part or part[-1].flags & LAST or part[-1].logical_b >= size_b:
            return found
        start_b = part[-1].logical_b + part[-1].length_b


def pieces(found: Sequence[Extent]) -> int:
    """Return the number of pieces of a file. Adjacent extents on the device are one piece.

    An extent without a place of its own, or after a compressed one, begins a new piece.
    """
    count = 0
    next_b: int | None = None
    for extent in found:
        placed = not extent.flags & NO_PLACE
        if not placed or extent.physical_b != next_b:
            count += 1
        told = placed and not extent.flags & ENCODED
        next_b = extent.physical_b + extent.length_b if told else None
    return count


def _garbled(why: str) -> FsgreenError:
    return FsgreenError(
        f"the kernel's answer about extents makes no sense: {why}",
        next_step="compare with filefrag -v FILE, and see dmesg",
    )
