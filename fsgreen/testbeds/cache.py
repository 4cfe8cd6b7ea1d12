"""Is the cache cold? Residency of sampled files in the page cache, by mincore(2)."""

from __future__ import annotations

import ctypes
import mmap
import os
import random
from collections.abc import Sequence
from pathlib import Path

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import commands

MEMORY_FILE_SYSTEMS = frozenset({"tmpfs", "ramfs"})
"""File systems that live in the cache itself and can never be cold."""

_LIBC = ctypes.CDLL(None, use_errno=True)


def sample_files(directory: Path, count: int = 16, seed: int = 0) -> list[Path]:
    """Return up to `count` files found by seeded random descents, without reading a whole tree."""
    choose = random.Random(seed)
    listed: dict[Path, list[os.DirEntry[str]]] = {}
    found: dict[Path, None] = {}
    for _ in range(count):
        place = directory
        while True:
            if place not in listed:
                listed[place] = _files_and_folders(place)
            if not listed[place]:
                break
            entry = choose.choice(listed[place])
            place = Path(entry.path)
            if entry.is_file(follow_symlinks=False):
                found[place] = None
                break
    return list(found)


def resident_b(files: Sequence[Path]) -> int:
    """Return how many bytes of the files are in the page cache, in whole pages.

    The kernel tells this to the owner of a file and to those who may write to it; to anybody else
    it says that all of it is resident.
    """
    return sum(_resident_pages(file) for file in files) * mmap.PAGESIZE


def _resident_pages(file: Path) -> int:
    size_b = file.stat().st_size
    if not size_b:
        return 0
    # A private mapping, because ctypes takes addresses of writable memory only; no page is touched.
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), size_b, mmap.MAP_PRIVATE) as mapped:
        first = ctypes.c_char.from_buffer(mapped)
        pages = (ctypes.c_ubyte * -(-size_b // mmap.PAGESIZE))()
        failed = _LIBC.mincore(ctypes.byref(first), ctypes.c_size_t(size_b), pages)
        del first  # or the mapping could not be closed
    if failed:
        number = ctypes.get_errno()
        raise FsgreenError(f"cannot see what is in memory: {os.strerror(number)}", where=file)
    return sum(page & 1 for page in pages)


def require_cold(files: Sequence[Path], directory: Path) -> None:
    """Raise `FsgreenError` if any byte of the sampled files is still in the page cache."""
    warm_b = resident_b(files)
    if warm_b:
        raise FsgreenError(
            f"the cache is not cold: {warm_b} B of {len(files)} sampled files are still in memory",
            where=directory,
            next_step=f"stop what reads these files (fuser -vm {directory}) and run it again",
        )


def drop(directory: Path) -> None:
    """Write back and drop the cached pages of every file below `directory` (posix_fadvise(2))."""
    commands.run(["sync", "--file-system", str(directory)])
    for folder, _, names in os.walk(directory):
        for name in names:
            path = Path(folder) / name
            if path.is_symlink() or not path.is_file():
                continue
            fd = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(fd)


def _files_and_folders(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        chosen = [
            entry
            for entry in entries
            if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)
        ]
    return sorted(chosen, key=lambda entry: entry.name)
