"""Bandwidth of reads through the page cache: cold and warm, with and without read-ahead."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fsgreen.devices.probe.target import PASSES, REQUEST_B, opened_cold

if TYPE_CHECKING:
    import pandas as pd

READ_B = 64 << 10
MOST_B = 64 << 20

NFS_READ_B = 8 << 10
"""The size of an NFS read in nfstricks03."""

SPAN_B = 256 << 20
"""The size of the file of stride readers in nfstricks03."""

PATTERNS = {"sequential": 1, "stride": 8}
"""Number of streams that take turns by block. The stride reader of nfstricks03 has up to 8."""


def bandwidth_by_cache(
    target: Path, *, seed: int, passes: int = PASSES, step_s: float = 0.25
) -> pd.DataFrame:
    """Measure sequential reads through the page cache, first cold, then the same reads warm.

    A pass reads from a random place for `step_s`, at most 64 MiB, then the same bytes again. It
    verifies that the cache was cold.

    Returns cache, pass, bandwidth_b_s: a row per state of the cache and pass. Raises FsgreenError
    if the target is missing, smaller than two reads, or stays in the cache.
    """
    import pandas as pd

    choose = random.Random(seed)
    page = bytearray(READ_B)
    rows = []
    for number in range(passes):
        with opened_cold(target, 2 * READ_B) as (fd, size_b):
            length_b = min(MOST_B, size_b // 2)
            base_b = choose.randrange((size_b - length_b) // REQUEST_B) * REQUEST_B
            end_b = base_b + length_b
            position_b = base_b
            start_s = time.perf_counter()
            while True:
                position_b += os.preadv(fd, [page], position_b)
                cold_s = time.perf_counter() - start_s
                if position_b >= end_b or cold_s >= step_s:
                    break
            start_s = time.perf_counter()
            for again_b in range(base_b, position_b, READ_B):
                os.preadv(fd, [page], again_b)
            warm_s = time.perf_counter() - start_s
            rows += [
                (state, number, (position_b - base_b) / spent_s)
                for state, spent_s in (("cold", cold_s), ("warm", warm_s))
            ]
    return pd.DataFrame(rows, columns=["cache", "pass", "bandwidth_b_s"])


def bandwidth_by_read_ahead(
    target: Path, *, seed: int, passes: int = PASSES, step_s: float = 0.25
) -> pd.DataFrame:
    """Measure cold reads of 8 KiB in one stream, and in 8 streams that take turns.

    `off` is advice for one descriptor (POSIX_FADV_RANDOM). It has the effect of a `read_ahead_kb`
    of 0, and nothing must be restored.

    Returns pattern, read_ahead, pass, bandwidth_b_s: a row per pattern, `default` or `off`, and
    pass. Raises FsgreenError if the target is missing, too small, or stays in the cache.
    """
    import pandas as pd

    choose = random.Random(seed)
    steps = [(pattern, state) for pattern in PATTERNS for state in ("default", "off")]
    rows = []
    for number in range(passes):
        for pattern, state in choose.sample(steps, len(steps)):
            with opened_cold(target, 16 * NFS_READ_B) as (fd, size_b):
                if state == "off":
                    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
                span_b = min(SPAN_B, size_b // 2)
                base_b = choose.randrange((size_b - span_b) // REQUEST_B) * REQUEST_B
                rate_b_s = _turns_b_s(fd, base_b, span_b, PATTERNS[pattern], step_s)
            rows.append((pattern, state, number, rate_b_s))
    return pd.DataFrame(rows, columns=["pattern", "read_ahead", "pass", "bandwidth_b_s"])


def _turns_b_s(fd: int, base_b: int, span_b: int, streams: int, step_s: float) -> float:
    """Return the bandwidth of streams that begin at evenly spaced places and take turns."""
    stream_b = span_b // streams // NFS_READ_B * NFS_READ_B
    page = bytearray(NFS_READ_B)
    total_b = 0
    start_s = time.perf_counter()
    for turn_b in range(0, stream_b, NFS_READ_B):
        for stream in range(streams):
            total_b += os.preadv(fd, [page], base_b + stream * stream_b + turn_b)
        if time.perf_counter() - start_s >= step_s:
            break
    return total_b / (time.perf_counter() - start_s)
