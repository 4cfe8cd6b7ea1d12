"""How much of an open file is in the page cache: cachestat(2), or mincore(2) without it.

Neither reads a page in. mincore needs a mapping of each file; cachestat (Linux 6.5) needs none.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
from pathlib import Path

from fsgreen.errors import FsgreenError

CACHESTAT = 451
"""The number of the system call, the same on every architecture but alpha."""

UNAVAILABLE = frozenset({errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM, errno.EINVAL})
"""What cachestat answers on older kernels, on some file systems, and in a sandbox."""

CHECKED = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs"})
"""File systems on which cachestat sees what mincore sees. On overlay it sees nothing at all: the
pages belong to the file below."""

LOWEST_BIT = bytes(byte & 1 for byte in range(256))
"""Of what mincore says of a page, the rest is reserved (mincore(2))."""

_LIBC = ctypes.CDLL(None, use_errno=True)


class _Range(ctypes.Structure):
    _fields_ = (("offset_b", ctypes.c_uint64), ("length_b", ctypes.c_uint64))


class _Counts(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in ("cached", "dirty", "writeback", "evicted", "recently_evicted")
    )


def open_unseen(path: str | Path) -> int:
    """Open a file to read, without changing its access time where we own it or are root."""
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NOATIME)
    except PermissionError:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)


def pages_of(size_b: int) -> int:
    """Return how many pages a file of this size fills."""
    return -(-size_b // mmap.PAGESIZE)


def cached_pages(fd: int, size_b: int, file_system: str) -> int:
    """Return how many of the pages of an open file of `size_b` bytes are in the page cache.

    cachestat is asked only on a file system where its answer was checked against mincore's.

    Raises
    ------
    FsgreenError
        If the kernel answers neither cachestat nor mincore.
    """
    if not size_b:
        return 0
    pages = by_cachestat(fd, size_b) if file_system in CHECKED else None
    return by_mincore(fd, size_b) if pages is None else pages


def by_cachestat(fd: int, size_b: int) -> int | None:
    """Return the number of cached pages, None where cachestat(2) is not to be had."""
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
    """Return the number of cached pages by mapping the file; no page of it is touched.

    The kernel tells this to the owner of a file and to those who may write to it; to anybody else
    it says that all of it is resident.
    """
    # A private mapping, because ctypes takes addresses of writable memory only.
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
