"""Bandwidth with a cold and with a warm page cache."""

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


def bandwidth_by_cache(
    target: Path, *, seed: int, passes: int = PASSES, step_s: float = 0.25
) -> pd.DataFrame:
    """Measure sequential reads through the page cache that holds nothing, and again what they left.

    A pass reads on from a random place for `step_s`, at most 64 MiB, then the same once more. That
    the cache was cold is verified.

    Returns
    -------
    DataFrame
        cache, pass, bandwidth_b_s: a row per state of the cache and pass.

    Raises
    ------
    FsgreenError
        If the target is missing, smaller than two reads, or stays in the cache.
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
            start_s = time.perf_counter()
            position_b = base_b
            while position_b < end_b and time.perf_counter() - start_s < step_s:
                position_b += os.preadv(fd, [page], position_b)
            cold_s = time.perf_counter() - start_s
            start_s = time.perf_counter()
            for again_b in range(base_b, position_b, READ_B):
                os.preadv(fd, [page], again_b)
            warm_s = time.perf_counter() - start_s
            rows += [
                (state, number, (position_b - base_b) / spent_s)
                for state, spent_s in (("cold", cold_s), ("warm", warm_s))
            ]
    return pd.DataFrame(rows, columns=["cache", "pass", "bandwidth_b_s"])
