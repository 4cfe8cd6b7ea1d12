"""Throughput by requests in flight, as a device reorders its queue (nfstricks03, section 5.2)."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fsgreen.devices.probe.target import PASSES, REQUEST_B, buffer, opened

if TYPE_CHECKING:
    import pandas as pd

DEPTHS = (1, 2, 4, 8, 16, 32)


def throughput_by_queue_depth(
    target: Path, *, seed: int, passes: int = PASSES, step_s: float = 0.25
) -> pd.DataFrame:
    """Measure random reads of 4 KiB, with one thread for each request in flight.

    It takes `len(DEPTHS) * passes * step_s`, plus the time of the last reads in each step. Each
    pass has the depths in its own random order. The threads take about 10 us per request, which
    limits the rate on a disk in RAM.

    Returns queue_depth, pass, throughput_ops_s: a row per depth and pass. Raises FsgreenError if
    the target is missing or lacks direct I/O.
    """
    import pandas as pd

    choose = random.Random(seed)
    rows = []
    with opened(target, 1 << 20) as (fd, size_b):
        for number in range(passes):
            for depth in choose.sample(DEPTHS, len(DEPTHS)):
                seeds = [choose.getrandbits(64) for _ in range(depth)]
                rows.append((depth, number, _random_reads_ops_s(fd, size_b, seeds, step_s)))
    return pd.DataFrame(rows, columns=["queue_depth", "pass", "throughput_ops_s"])


def _random_reads_ops_s(fd: int, size_b: int, seeds: Sequence[int], step_s: float) -> float:
    """Return the reads per second of all threads over `step_s`. There is one thread per seed.

    Each thread reads at least once, even if the machine stands still for the whole step.
    """
    counts = [0] * len(seeds)
    failures: list[OSError] = []
    barrier = threading.Barrier(len(seeds) + 1)
    stop = threading.Event()

    def work(index: int) -> None:
        blocks = size_b // REQUEST_B
        pick = random.Random(seeds[index]).randrange
        with buffer(REQUEST_B) as page:
            barrier.wait()
            while not counts[index] or not stop.is_set():
                try:
                    os.preadv(fd, [page], pick(blocks) * REQUEST_B)
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
