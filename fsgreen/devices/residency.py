"""How much of an open file is in the page cache, by cachestat(2), or by mincore(2) without it.

Neither reads a page. mincore needs a mapping of each file; cachestat (Linux 6.5) does not.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
from pathlib import Path

from fsgreen.errors import FsgreenError

CACHESTAT = 451
"""The number of the system call. It is the same on every architecture except alpha."""

UNAVAILABLE = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EINVAL})
"""Errors of cachestat on older kernels, on some file systems, and in a sandbox."""

CHECKED = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs"})
"""File systems on which cachestat agrees with mincore. On overlay it finds no page, as the pages
belong to the file below."""

LOWEST_BIT = bytes(byte & 1 for byte in range(256))
"""Keeps the lowest bit of each byte of mincore's answer. Other bits are reserved (mincore(2))."""

_LIBC = ctypes.CDLL(None, use_errno=True)


class _Range(ctypes.Structure):
    _fields_ = (("offset_b", ctypes.c_uint64), ("length_b", ctypes.c_uint64))


class _Counts(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in ("cached", "dirty", "writeback", "evicted", "recently_evicted")
    )


def open_unseen(path: str | Path) -> int:
    """Open a file for reading. If we own it or are root, its access time does not change."""
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NOATIME)
    except PermissionError:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)


def pages_of(size_b: int) -> int:
    """Return the number of pages of a file of this size."""
    return -(-size_b // mmap.PAGESIZE)


def cached_pages(fd: int, size_b: int, file_system: str) -> int:
    """Return how many pages of an open file of `size_b` bytes are in the page cache.

    cachestat is used only on file systems on which its answer was checked against mincore's.

    Raises FsgreenError if neither cachestat nor mincore works.
    """
    if not size_b:
        return 0
    pages = by_cachestat(fd, size_b) if file_system in CHECKED else None
    return by_mincore(fd, size_b) if pages is None else pages


def by_cachestat(fd: int, size_b: int) -> int | None:
    """Return the number of cached pages by cachestat(2); None if it is not available.

    Raises FsgreenError if it fails for another reason.
    """
    counts = _Counts()
    asked = _Range(0, size_b)
    failed = _LIBC.syscall(
        ctypes.c_long(CACHESTAT),
        ctypes.c_uint(fd),
        ctypes.byref(asked),
        ctypes.byref(counts),
        ctypes.c_uint(0),
    )
    if not failed:
        return int(counts.cached)
    if ctypes.get_errno() in UNAVAILABLE:
        return None
    raise _unseen(fd)


def by_mincore(fd: int, size_b: int) -> int:
    """Return the number of cached pages by mincore(2). The file is mapped, but no page is touched.

    The kernel tells the truth only to the owner of a file and to users who may write to it. To
    others it says that all pages are resident. Raises FsgreenError if mincore fails.
    """
    # The mapping is private, as ctypes takes only addresses of writable memory.
    with mmap.mmap(fd, size_b, mmap.MAP_PRIVATE) as mapped:
        first = ctypes.c_char.from_buffer(mapped)
        pages = (ctypes.c_char * pages_of(size_b))()
        failed = _LIBC.mincore(ctypes.byref(first), ctypes.c_size_t(size_b), pages)
        del first  # or the mapping could not be closed
    if failed:
        raise _unseen(fd)
    return pages.raw.translate(LOWEST_BIT).count(1)


def _unseen(fd: int) -> FsgreenError:
    return FsgreenError(
        f"cannot see what is in memory: {os.strerror(ctypes.get_errno())}",
        where=os.readlink(f"/proc/self/fd/{fd}"),
        next_step="run as the owner of the files, on Linux 6.5 or later",
    )
