"""Files that are written in full before anything is measured on them."""

from __future__ import annotations

import errno
import mmap
import os
import random
import shutil
from pathlib import Path

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import cache, mounts

CHUNK_B = 4 << 20
SPARE_B = 64 << 20
"""What is left free beside a file that is allocated in full."""


def allocate(path: Path, size_b: int, *, seed: int = 0) -> int:
    """Write a new file in full and return its size, `size_b` rounded up to 4 MiB.

    Holes and unwritten extents would be allocated at the first write, in the middle of a trial.
    The bytes are pseudo-random, one block of 4 MiB repeated, so that nothing compresses to a
    hole; direct I/O, so that the page cache stays as it was.

    Raises
    ------
    FsgreenError
        If the folder has not enough free space (checked first), cannot do direct I/O, or
        memory is short where it lies in RAM.
    """
    size_b = -(-size_b // CHUNK_B) * CHUNK_B
    require_space(path.parent, size_b)
    buffer = mmap.mmap(-1, CHUNK_B)
    buffer.write(random.Random(seed).randbytes(CHUNK_B))
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_DIRECT, 0o600)
        try:
            for offset_b in range(0, size_b, CHUNK_B):
                if os.pwrite(fd, buffer, offset_b) != CHUNK_B:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise FsgreenError(
            f"cannot write a file of {size_b >> 20} MiB with direct I/O: {error.strerror}",
            where=path.parent,
            next_step="name another folder, on a disk, with --folder",
        ) from error
    finally:
        buffer.close()
    return size_b


def require_space(folder: Path, size_b: int) -> None:
    """Raise `FsgreenError` unless `folder` (and memory, if it lies in RAM) can hold `size_b`."""
    free_b = shutil.disk_usage(folder).free
    if mounts.holding(folder).file_system in cache.MEMORY_FILE_SYSTEMS:
        free_b = min(free_b, _memory_available_b())
    if free_b < size_b + SPARE_B:
        raise FsgreenError(
            f"disk too small: needs {(size_b + SPARE_B) >> 20} MiB, has {free_b >> 20} MiB free",
            where=folder,
            next_step="name another place with --folder, or lower image_mib in the profile",
        )


def _memory_available_b() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    values = dict(line.split(":", 1) for line in lines)
    return int(values["MemAvailable"].split()[0]) * 1024
