"""Completion times of readers that share a disk, by scheduler (nfstricks03, section 5.3)."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from fsgreen.design.factors import AS_FOUND
from fsgreen.devices.probe.target import BUDGET_S, REQUEST_B, opened, opened_cold
from fsgreen.devices.queue import Queue

if TYPE_CHECKING:
    import pandas as pd

READERS = 8
READ_B = 64 << 10
LEAST_B = 256 << 10
"""Least bytes of a reader: two windows of the kernel's default read-ahead."""

MOST_B = 16 << 20


def completion_by_scheduler(
    target: Path, *, seed: int, queue: Queue | None = None, readers: int = READERS, passes: int = 3
) -> pd.DataFrame:
    """Measure the completion times of `readers` sequential readers that begin together.

    Each reads its own range through the cold page cache, with the kernel's read-ahead. The ranges
    are adjacent and begin at a random place, so that zones make no difference. A short first run
    chooses the length of the ranges for the budget. A further pass starts only if it is expected to
    end within `BUDGET_S`. If a queue is given, all of its schedulers are tried, and the original
    one is restored.

    Returns scheduler, pass, reader, read_b, completion_s: a row per reader of each run. `read_b` is
    the length of the reader's range. Raises FsgreenError if the target is missing, too small, or
    its pages cannot be dropped from the cache.
    """
    import pandas as pd

    choose = random.Random(seed)
    rows = []
    with _put_back(queue) as schedulers:
        began_s = time.monotonic()
        pilot_s = max(_run_s(target, choose, readers, LEAST_B))
        share_b = int(LEAST_B * BUDGET_S / passes / len(schedulers) / pilot_s)
        for number in range(passes):
            if number and (time.monotonic() - began_s) * (number + 1) / number > BUDGET_S:
                break
            for scheduler in choose.sample(schedulers, len(schedulers)):
                if queue is not None and scheduler != AS_FOUND:
                    queue.set_scheduler(scheduler)
                read_b = max(min(share_b, MOST_B) // READ_B, LEAST_B // READ_B) * READ_B
                times_s = _run_s(target, choose, readers, read_b)
                rows += [
                    (scheduler, number, reader, read_b, time_s)
                    for reader, time_s in enumerate(times_s, start=1)
                ]
    columns = ["scheduler", "pass", "reader", "read_b", "completion_s"]
    return pd.DataFrame(rows, columns=columns)


@contextmanager
def _put_back(queue: Queue | None) -> Iterator[list[str]]:
    """Yield the schedulers to try; restore the original one, whatever happens.

    If the scheduler of the target cannot be read or set, the only one is `AS_FOUND`.
    """
    before = queue.scheduler if queue is not None else None
    if queue is None or before is None:
        yield [AS_FOUND]
        return
    try:
        yield queue.schedulers()
    finally:
        queue.set_scheduler(before)


def _run_s(target: Path, choose: random.Random, readers: int, read_b: int) -> Sequence[float]:
    """Return the completion time of each reader in seconds from the common start."""
    with opened_cold(target, readers * READ_B) as (_, size_b), ExitStack() as stack:
        read_b = min(read_b, size_b // readers // READ_B * READ_B)
        base_b = choose.randrange((size_b - readers * read_b) // REQUEST_B + 1) * REQUEST_B
        times_s = [0.0] * readers
        failures: list[OSError] = []
        starts_s: list[float] = []
        barrier = threading.Barrier(readers, action=lambda: starts_s.append(time.perf_counter()))

        def read(index: int, fd: int) -> None:
            page = bytearray(READ_B)
            begin_b = base_b + index * read_b
            barrier.wait()
            try:
                for position_b in range(begin_b, begin_b + read_b, READ_B):
                    os.preadv(fd, [page], position_b)
            except OSError as error:
                failures.append(error)
            times_s[index] = time.perf_counter() - starts_s[0]

        # Each reader has a descriptor of its own, as the kernel's read-ahead belongs to it.
        fds = [stack.enter_context(opened(target, 0, flags=0))[0] for _ in range(readers)]
        threads = [threading.Thread(target=read, args=each) for each in enumerate(fds)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return times_s
