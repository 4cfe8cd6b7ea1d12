"""How a disk behaves by itself: throughput by offset (zones) and by queue depth (reordering).

The two effects that Ellard and Seltzer (nfstricks03, sections 5.1 and 5.2) found to distort
benchmarks. Reads only, direct I/O, on a device or a fully written file. The Python threads cost
about 10 us a request, which bounds what is seen of a disk in RAM.
"""

from __future__ import annotations

import mmap
import os
import random
import threading
import time
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsgreen.errors import FsgreenError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

READ_B = 1 << 20
REQUEST_B = 4096


def probe(target: Path, seed: int) -> dict[str, Any]:
    """Return both measurements of a device or file as records: `offset` and `queue`."""
    return {
        "offset": throughput_by_offset(target, seed=seed).to_dict("records"),
        "queue": throughput_by_queue_depth(target, seed=seed).to_dict("records"),
    }


def throughput_by_offset(
    target: Path,
    *,
    seed: int,
    count: int = 16,
    length_b: int = 8 << 20,
    passes: int = 3,
    budget_s: float = 4.0,
) -> pd.DataFrame:
    """Measure sequential read bandwidth at `count` offsets spread evenly over `target`.

    Each pass visits the offsets in a random order of its own. A further pass starts only while
    it is expected to end within `budget_s`; the first is always made.

    Returns
    -------
    DataFrame
        offset_b, pass, bandwidth_b_s: a row per offset and pass.

    Raises
    ------
    FsgreenError
        If the target is missing, smaller than `count * length_b`, or lacks direct I/O.
    """
    import pandas as pd

    choose = random.Random(seed)
    rows = []
    with _opened(target, count * length_b) as (fd, size_b), _buffer(READ_B) as buffer:
        span_b = size_b - length_b
        offsets = [
            index * span_b // max(count - 1, 1) // REQUEST_B * REQUEST_B for index in range(count)
        ]
        began_s = time.monotonic()
        for number in range(passes):
            if number and (time.monotonic() - began_s) * (number + 1) / number > budget_s:
                break
            for offset_b in choose.sample(offsets, count):
                start_s = time.perf_counter()
                for position_b in range(offset_b, offset_b + length_b, READ_B):
                    os.preadv(fd, [buffer], position_b)
                spent_s = time.perf_counter() - start_s
                rows.append((offset_b, number, length_b / spent_s))
    return pd.DataFrame(rows, columns=["offset_b", "pass", "bandwidth_b_s"])


def throughput_by_queue_depth(
    target: Path,
    *,
    seed: int,
    depths: Sequence[int] = (1, 2, 4, 8, 16, 32),
    passes: int = 3,
    step_s: float = 0.25,
) -> pd.DataFrame:
    """Measure random reads of 4 KiB with as many threads as requests are to be in flight.

    Takes `len(depths) * passes * step_s`; each pass takes the depths in a random order of its own.

    Returns
    -------
    DataFrame
        queue_depth, pass, throughput_ops_s: a row per depth and pass.

    Raises
    ------
    FsgreenError
        As `throughput_by_offset`.
    """
    import pandas as pd

    choose = random.Random(seed)
    rows = []
    with _opened(target, 1 << 20) as (fd, size_b):
        for number in range(passes):
            for depth in choose.sample(list(depths), len(depths)):
                seeds = [choose.getrandbits(64) for _ in range(depth)]
                rows.append((depth, number, _random_reads(fd, size_b, seeds, step_s)))
    return pd.DataFrame(rows, columns=["queue_depth", "pass", "throughput_ops_s"])


def _random_reads(fd: int, size_b: int, seeds: Sequence[int], step_s: float) -> float:
    """Return reads per second of one thread per seed over `step_s` after a common start."""
    counts = [0] * len(seeds)
    failures: list[OSError] = []
    barrier = threading.Barrier(len(seeds) + 1)
    stop = threading.Event()

    def work(index: int) -> None:
        blocks = size_b // REQUEST_B
        pick = random.Random(seeds[index]).randrange
        with _buffer(REQUEST_B) as buffer:
            barrier.wait()
            while not stop.is_set():
                try:
                    os.preadv(fd, [buffer], pick(blocks) * REQUEST_B)
                except OSError as error:
                    failures.append(error)
                    return
                counts[index] += 1

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(seeds))]
    for thread in threads:
        thread.start()
    barrier.wait()
    start_s = time.perf_counter()
    try:
        time.sleep(step_s)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
    return sum(counts) / (time.perf_counter() - start_s)


@contextmanager
def _opened(target: Path, needed_b: int) -> Iterator[tuple[int, int]]:
    """Open a device or file for direct reads; turn what goes wrong into an error with a remedy."""
    try:
        fd = os.open(target, os.O_RDONLY | os.O_DIRECT)
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
        raise FsgreenError(
            f"cannot be read with direct I/O: {error.strerror}",
            where=target,
            next_step="probe a device, or a file on a disk (--folder)",
        ) from error


@contextmanager
def _buffer(size_b: int) -> Iterator[mmap.mmap]:
    """Yield page-aligned memory, as direct I/O needs."""
    memory = mmap.mmap(-1, size_b)
    try:
        yield memory
    finally:
        memory.close()
