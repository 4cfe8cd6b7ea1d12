"""The target of a probe: a device or file, opened for direct or cached reads; length of a step."""

from __future__ import annotations

import mmap
import os
import random
import stat
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from fsgreen.devices import mounts, residency
from fsgreen.errors import FsgreenError

REQUEST_B = 4096
"""Size of a small request: a page, and the block of most file systems."""

STEP_READS = 200
"""Number of random reads in a step, if time allows."""

STEP_S = (0.06, 0.3)
"""The shortest and the longest step. The longest has 30 reads of a disk of 100 reads a second."""

PASSES = 5
"""Number of steps at each level. Among few long steps, a stall of the machine would not show."""

BUDGET_S = 9.0
"""Time limit for all passes of a probe that reads long ranges."""

RANDOM_READS, RANDOM_READS_S = 50, 0.25
"""Most random reads that are timed one by one, and the time limit for them."""

COLD_SHARE = 0.01
"""Largest share of a cold target that may be in the page cache (rule 7)."""

COLD_LIMIT_S = 1.0
"""Longest wait for pages that the kernel is still reading ahead."""

Overwriting = Callable[[], AbstractContextManager[int]]
"""Opens a target of our own for direct reads and writes."""


@contextmanager
def opened(target: Path, needed_b: int, *, flags: int = os.O_DIRECT) -> Iterator[tuple[int, int]]:
    """Open a device or file for reading; yield its descriptor and its size in bytes.

    Raises FsgreenError if it is missing, is smaller than `needed_b`, or does not support the flags.
    """
    try:
        fd = os.open(target, os.O_RDONLY | flags)
        try:
            size_b = os.lseek(fd, 0, os.SEEK_END)
            if size_b < needed_b:
                raise FsgreenError(
                    f"too small to probe: {size_b >> 20} MiB, needs {needed_b >> 20} MiB",
                    where=target,
                    next_step="probe a larger file or device",
                )
            yield fd, size_b
        finally:
            os.close(fd)
    except OSError as error:
        how = " with direct I/O" if flags & os.O_DIRECT else ""
        raise FsgreenError(
            f"cannot be read{how}: {error.strerror}",
            where=target,
            next_step="probe a device, or a file on a disk (--folder)",
        ) from error


@contextmanager
def opened_to_rewrite(file: Path) -> Iterator[int]:
    """Yield a descriptor for direct reads and writes of a file of our own.

    Raises FsgreenError if it is a device: only the device guard opens devices for writing.
    """
    fd = os.open(file, os.O_RDWR | os.O_DIRECT | os.O_NOFOLLOW)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise FsgreenError(
                "refused to write: it is not a file",
                where=file,
                next_step="a device is written on by a testbed, which checks it: docs/measuring.md",
            )
        yield fd
    finally:
        os.close(fd)


@contextmanager
def opened_cold(target: Path, needed_b: int) -> Iterator[tuple[int, int]]:
    """Open a device or file for reads through the page cache, after dropping its pages from there.

    Yield its descriptor and its size in bytes. The descriptor is new, so that the kernel's
    read-ahead begins anew, too. The pages are dropped again at the end.

    Raises FsgreenError as `opened` does, and if pages stay in the cache, as for files in it
    (tmpfs).
    """
    with opened(target, needed_b, flags=0) as (fd, size_b):
        limit_s = time.monotonic() + COLD_LIMIT_S
        while (share := _drop(target, fd, size_b)) > COLD_SHARE and time.monotonic() < limit_s:
            time.sleep(0.01)
        if share > COLD_SHARE:
            raise FsgreenError(
                f"the page cache keeps {100 * share:.0f} % of it and cannot be made cold",
                where=target,
                next_step="probe a device, or a file on a disk (--folder)",
            )
        try:
            yield fd, size_b
        finally:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


@contextmanager
def buffer(size_b: int) -> Iterator[mmap.mmap]:
    """Yield page-aligned memory of this size, as direct I/O needs."""
    memory = mmap.mmap(-1, size_b)
    try:
        yield memory
    finally:
        memory.close()


def random_read_s(target: Path, seed: int) -> float:
    """Return the median time in seconds of random reads of 4 KiB, one at a time."""
    pick = random.Random(seed).randrange
    times_s: list[float] = []
    with opened(target, REQUEST_B) as (fd, size_b), buffer(REQUEST_B) as page:
        end_s = time.monotonic() + RANDOM_READS_S
        while not times_s or (len(times_s) < RANDOM_READS and time.monotonic() < end_s):
            start_s = time.perf_counter()
            os.preadv(fd, [page], pick(size_b // REQUEST_B) * REQUEST_B)
            times_s.append(time.perf_counter() - start_s)
    return statistics.median(times_s)


def step_length_s(read_s: float) -> float:
    """Return the length of a step in seconds for a device with this time of a random read."""
    shortest_s, longest_s = STEP_S
    return min(max(STEP_READS * read_s, shortest_s), longest_s)


def _drop(target: Path, fd: int, size_b: int) -> float:
    """Drop the target's pages from the page cache; return the share that stays."""
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    if target.is_block_device():
        pages = residency.by_cachestat(fd, size_b)
        cached = residency.by_mincore(fd, size_b) if pages is None else pages
    else:
        cached = residency.cached_pages(fd, size_b, mounts.holding(target).file_system)
    return cached / residency.pages_of(size_b)
