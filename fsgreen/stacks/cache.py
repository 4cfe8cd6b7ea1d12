"""Is the cache cold or warm? Made so, and measured over the pages of every file.

What is measured is file data. Names and inodes (dentries, inode caches, directory blocks) are not:
Linux gives no count of them by file system. They are cold after a fresh mount, and looking at every
file warms them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from fsgreen import commands
from fsgreen.devices import mounts, residency
from fsgreen.progress import progress

READ_B = 1 << 20


def files_below(directory: Path, *, apart: Path | None = None) -> Iterator[tuple[str, int]]:
    """Yield path and size in bytes of every regular file on the file system of `directory`.

    Leaves out what is mounted below, and the folder `apart`. No access time changes (as root).
    """
    device = directory.stat().st_dev
    waiting = [str(directory)]
    while waiting:
        folder = waiting.pop()
        fd = residency.open_unseen(folder)
        try:
            with os.scandir(fd) as entries:
                for entry in entries:
                    path = f"{folder}/{entry.name}"
                    if entry.is_file(follow_symlinks=False):
                        yield path, entry.stat(follow_symlinks=False).st_size
                    elif (
                        entry.is_dir(follow_symlinks=False)
                        and path != str(apart)
                        and entry.stat(follow_symlinks=False).st_dev == device
                    ):
                        waiting.append(path)
        finally:
            os.close(fd)


def _opened(files: Iterable[tuple[str, int]]) -> Iterator[tuple[int, int]]:
    """Yield a descriptor of each file, open while its turn lasts, with the size in bytes."""
    for path, size_b in files:
        fd = residency.open_unseen(path)
        try:
            yield fd, size_b
        finally:
            os.close(fd)


def resident_share(directory: Path, *, apart: Path | None = None) -> float:
    """Return the share of all files' bytes, in whole pages, that is in the page cache.

    Every file below the directory counts that is on the same file system and not in the folder
    `apart`. 0 where there are none, or only empty ones. About 20 us for each file whose inode is in
    memory; reads no page of any file.

    Raises
    ------
    FsgreenError
        If the kernel does not tell what is in its cache.
    """
    file_system = mounts.holding(directory).file_system
    pages = cached = 0
    found = files_below(directory, apart=apart)
    for fd, size_b in _opened(progress(found, "page cache", "file")):
        cached += residency.cached_pages(fd, size_b, file_system)
        pages += residency.pages_of(size_b)
    return cached / pages if pages else 0.0


def read_all(directory: Path, *, apart: Path | None = None) -> int:
    """Read every file below `directory`, so that what fits is cached; return the bytes read."""
    buffer = bytearray(READ_B)
    total_b = 0
    found = files_below(directory, apart=apart)
    for fd, _ in _opened(progress(found, "warming", "file")):
        while read_b := os.readv(fd, [buffer]):
            total_b += read_b
    return total_b


def drop(directory: Path) -> None:
    """Write back and drop the cached pages of every file below `directory` (posix_fadvise(2))."""
    commands.run(["sync", "--file-system", str(directory)])
    for fd, _ in _opened(files_below(directory)):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
