"""Files and devices that are written in full before anything is measured on them."""

from __future__ import annotations

import errno
import fcntl
import functools
import mmap
import os
import random
import shutil
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

from fsgreen import audit
from fsgreen.devices import mounts
from fsgreen.errors import FsgreenError
from fsgreen.progress import progress

BLKDISCARD = 0x1277
"""The number of the ioctl, from linux/fs.h."""

RAM, DISK = Path("/dev/shm"), Path("/var/tmp")
"""The default parents of work folders."""

CHUNK_B = 4 << 20
SPARE_B = 64 << 20
"""Space that stays free beside a file that is written in full."""

FILLING_B = 1024
"""The period of `filling`: the smallest block of any supported file system."""


@functools.cache
def pattern(seed: int = 0) -> bytes:
    """Return the 4 MiB of pseudo-random bytes that are repeated to fill an image."""
    return random.Random(seed).randbytes(CHUNK_B)


@functools.cache
def _filling() -> memoryview:
    return memoryview(random.Random("filling").randbytes(FILLING_B) * (CHUNK_B // FILLING_B))


def filling(begin_b: int, end_b: int) -> memoryview:
    """Return the content of the ager's files between two offsets, at most 4 MiB less 1 KiB.

    It repeats the same 1 KiB at the same place in every block, so that a copy of the device does
    not need to hold it.
    """
    phase_b = begin_b % FILLING_B
    return _filling()[phase_b : phase_b + min(end_b - begin_b, CHUNK_B - FILLING_B)]


def allocate(path: Path, size_b: int, *, seed: int = 0) -> int:
    """Write a new file in full; return its size: `size_b` rounded up to 4 MiB.

    Otherwise holes and unwritten extents would be allocated at the first write, during a trial. The
    bytes are a block of 4 MiB of pseudo-random bytes, repeated, so that nothing compresses to a
    hole. Direct I/O leaves the page cache unchanged. In memory, the file is written twice: pages
    that were written only once take further writes 4 % more slowly (docs/state.md), and each trial
    would leave fewer of them to the next.

    Raises FsgreenError if the folder has too little free space (checked first), or cannot do direct
    I/O; if it is in RAM and memory is short.
    """
    size_b = -(-size_b // CHUNK_B) * CHUNK_B
    require_space(path.parent, size_b)
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_DIRECT, 0o600)
        try:
            fill(fd, size_b, seed=seed, what="writing the image")
            if mounts.in_memory(path):
                fill(fd, size_b, seed=seed, what="writing it once more")
        finally:
            os.close(fd)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise FsgreenError(
            f"cannot write a file of {size_b >> 20} MiB with direct I/O: {error.strerror}",
            where=path.parent,
            next_step="name another folder, on a disk, with --folder",
        ) from error
    return size_b


def fill(fd: int, size_b: int, *, seed: int = 0, what: str = "filling the device") -> None:
    """Write `size_b` bytes (a multiple of 4 MiB) of the pattern with direct I/O, from the start.

    `what` is the label of the progress bar.
    """
    with mmap.mmap(-1, CHUNK_B) as buffer:
        buffer[:] = pattern(seed)
        for offset_b in progress(range(0, size_b, CHUNK_B), what, "chunk"):
            write_chunk(fd, buffer, offset_b)
    os.fsync(fd)


def write_chunk(fd: int, buffer: mmap.mmap | memoryview, offset_b: int) -> None:
    """Write the whole buffer at an offset. Raises OSError also if the write was cut short."""
    if os.pwrite(fd, buffer, offset_b) != len(buffer):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def write_zeros(fd: int, begin_b: int, end_b: int) -> None:
    """Write zeros from one offset to another, both multiples of 4 KiB, with direct I/O."""
    with mmap.mmap(-1, CHUNK_B) as buffer:
        for offset_b in range(begin_b, end_b, CHUNK_B):
            with memoryview(buffer)[: end_b - offset_b] as zeros:
                write_chunk(fd, zeros, offset_b)


def discard(fd: int, size_b: int) -> None:
    """Discard the first `size_b` bytes of a block device."""
    fcntl.ioctl(fd, BLKDISCARD, struct.pack("=QQ", 0, size_b))


def holes(path: Path, size_b: int) -> Iterator[tuple[int, int]]:
    """Yield the begin and the end of each run of unwritten bytes (lseek(2), SEEK_HOLE).

    Allocated but unwritten blocks count, if the file system reports them.
    """
    fd = os.open(path, os.O_RDONLY)
    try:
        begin_b = os.lseek(fd, 0, os.SEEK_HOLE)
        while begin_b < size_b:
            try:
                end_b = os.lseek(fd, begin_b, os.SEEK_DATA)
            except OSError as error:
                if error.errno != errno.ENXIO:
                    raise
                end_b = size_b
            yield begin_b, end_b
            begin_b = size_b if end_b == size_b else os.lseek(fd, end_b, os.SEEK_HOLE)
    finally:
        os.close(fd)


def require_directory(folder: Path) -> None:
    """Raise `FsgreenError` unless this is a directory that can be read."""
    try:
        mode = folder.stat().st_mode
    except FileNotFoundError:
        what, next_step = "this directory does not exist", f"mkdir -p {folder}"
    except OSError as error:
        what = f"this directory cannot be looked at: {error.strerror}"
        next_step = f"findmnt --target {folder}; mount it anew, or name another one with --folder"
    else:
        if stat.S_ISDIR(mode):
            return
        what, next_step = "this is not a directory", "name one with --folder"
        if stat.S_ISBLK(mode):
            what = "this is a device, not a directory"
            next_step += ", or the whole device in a testbed file: docs/measuring.md"
    raise FsgreenError(what, where=folder, next_step=next_step)


def require_space(folder: Path, size_b: int) -> None:
    """Raise `FsgreenError` unless `folder` has room for `size_b`; in RAM, memory must have it."""
    require_directory(folder)
    free_b = shutil.disk_usage(folder).free
    if mounts.in_memory(folder):
        free_b = min(free_b, audit.meminfo_b(audit.HERE, "MemAvailable") or free_b)
    if free_b < size_b + SPARE_B:
        raise FsgreenError(
            f"disk too small: needs {(size_b + SPARE_B) >> 20} MiB, has {free_b >> 20} MiB free",
            where=folder,
            next_step="name another place with --folder, or lower image_mib in the profile",
        )
