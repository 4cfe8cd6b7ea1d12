"""Sequential and stride reads with the kernel's read-ahead and without (nfstricks03, section 7)."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fsgreen.devices.probe.target import PASSES, REQUEST_B, opened_cold

if TYPE_CHECKING:
    import pandas as pd

READ_B = 8 << 10
"""nfstricks03's size of an NFS read."""

SPAN_B = 256 << 20
"""The file of nfstricks03 that stride readers read."""

PATTERNS = {"sequential": 1, "stride": 8}
"""Streams that take turns, block by block; the stride reader of nfstricks03 has up to 8."""


def bandwidth_by_read_ahead(
    target: Path, *, seed: int, passes: int = PASSES, step_s: float = 0.25
) -> pd.DataFrame:
    """Measure cold reads of 8 KiB in one stream and in 8 that take turns.

    `off` is advice for the one descriptor (POSIX_FADV_RANDOM), which does what a `read_ahead_kb`
    of 0 does, and leaves nothing to put back.

    Returns
    -------
    DataFrame
        pattern, read_ahead, pass, bandwidth_b_s: a row per pattern, `default` or `off`, and pass.

    Raises
    ------
    FsgreenError
        If the target is missing, too small, or stays in the cache.
    """
    import pandas as pd

    choose = random.Random(seed)
    steps = [(pattern, state) for pattern in PATTERNS for state in ("default", "off")]
    rows = []
    for number in range(passes):
        for pattern, state in choose.sample(steps, len(steps)):
            with opened_cold(target, 16 * READ_B) as (fd, size_b):
                if state == "off":
                    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
                span_b = min(SPAN_B, size_b // 2)
                base_b = choose.randrange((size_b - span_b) // REQUEST_B) * REQUEST_B
                rate_b_s = _turns_b_s(fd, base_b, span_b, PATTERNS[pattern], step_s)
            rows.append((pattern, state, number, rate_b_s))
    return pd.DataFrame(rows, columns=["pattern", "read_ahead", "pass", "bandwidth_b_s"])


def _turns_b_s(fd: int, base_b: int, span_b: int, streams: int, step_s: float) -> float:
    """Return the bandwidth of streams that begin evenly spread and take turns."""
    stream_b = span_b // streams // READ_B * READ_B
    page = bytearray(READ_B)
    total_b = 0
    start_s = time.perf_counter()
    for turn_b in range(0, stream_b, READ_B):
        for stream in range(streams):
            total_b += os.preadv(fd, [page], base_b + stream * stream_b + turn_b)
        if time.perf_counter() - start_s >= step_s:
            break
    return total_b / (time.perf_counter() - start_s)
