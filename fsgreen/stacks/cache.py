"""Makes the page cache cold or warm, and measures it over the pages of every file.

Only file data are measured. Names and inodes (dentries, inode caches, directory blocks) are not, as
Linux does not count them by file system. They are cold after a fresh mount. Listing every file
warms them.
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
    """Yield the path and the size in bytes of every regular file on the file system of `directory`.

    Mounts below it and the folder `apart` are left out. As root, no access time changes.
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
    """Yield a descriptor and the size in bytes of each file. It is open until the next one."""
    for path, size_b in files:
        fd = residency.open_unseen(path)
        try:
            yield fd, size_b
        finally:
            os.close(fd)


def resident_share(directory: Path, *, apart: Path | None = None) -> float:
    """Return the share of all files' pages that is in the page cache, 0 to 1.

    All files below the directory count that are on the same file system and not in the folder
    `apart`. The share is 0 if there are no files, or only empty ones. It takes about 20 us per file
    whose inode is in memory. No page of a file is read.

    Raises FsgreenError if the kernel does not tell what is in its cache.
    """
    file_system = mounts.holding(directory).file_system
    pages = cached = 0
    found = files_below(directory, apart=apart)
    for fd, size_b in _opened(progress(found, "page cache", "file")):
        cached += residency.cached_pages(fd, size_b, file_system)
        pages += residency.pages_of(size_b)
    return cached / pages if pages else 0.0


def read_all(directory: Path, *, apart: Path | None = None) -> int:
    """Read every file below `directory` into the page cache; return the bytes read."""
    buffer = bytearray(READ_B)
    total_b = 0
    found = files_below(directory, apart=apart)
    for fd, _ in _opened(progress(found, "warming", "file")):
        while read_b := os.readv(fd, [buffer]):
            total_b += read_b
    return total_b


def drop(directory: Path) -> None:
    """Write back, then drop the cached pages of every file below `directory` (posix_fadvise(2))."""
    commands.run(["sync", "--file-system", str(directory)])
    for fd, _ in _opened(files_below(directory)):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
