"""Bandwidth by place, as a disk with zones is faster at its edge (nfstricks03, section 5.1)."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fsgreen.devices.probe.target import BUDGET_S, REQUEST_B, buffer, opened

if TYPE_CHECKING:
    import pandas as pd

READ_B = 256 << 10
"""Size of a read."""

LONGEST_B = 8 << 20
"""Most bytes that are read at one place."""


def throughput_by_offset(
    target: Path,
    *,
    seed: int,
    count: int = 48,
    length_b: int | None = None,
    passes: int = 3,
    budget_s: float = BUDGET_S,
) -> pd.DataFrame:
    """Measure sequential read bandwidth at `count` offsets that are spread evenly over `target`.

    At each place, a first read that is not timed brings the head there. Each pass visits the
    offsets in its own random order. The first pass is always made. A further pass starts only if it
    is expected to end within `budget_s`.

    `count` is the number of places, and `passes` that of visits to each; 48 places tell up to 16
    zones apart. `length_b` bytes are read at each, a multiple of 256 KiB; by default as many as fit
    `budget_s`, the seconds for all passes, at the speed of the middle, from 256 KiB to 8 MiB.
    Returns offset_b, pass, bandwidth_b_s: a row per offset and pass. Raises FsgreenError if the
    target is missing, smaller than two reads, or lacks direct I/O.
    """
    import pandas as pd

    choose = random.Random(seed)
    rows = []
    with opened(target, 2 * READ_B) as (fd, size_b), buffer(READ_B) as memory:

        def read_s(begin_b: int, end_b: int) -> float:
            start_s = time.perf_counter()
            for position_b in range(begin_b, end_b, READ_B):
                os.preadv(fd, [memory], position_b)
            return time.perf_counter() - start_s

        if length_b is None:
            middle_b = size_b // 2 // REQUEST_B * REQUEST_B
            arrival_s = read_s(middle_b, middle_b + READ_B)
            end_b = min(middle_b + 5 * READ_B, size_b)
            rate_b_s = (end_b - middle_b) / (read_s(middle_b, end_b) or 1e-9)
            rest_s = max(budget_s / passes / count - arrival_s, 0.0)
            length_b = int(min(rate_b_s * rest_s, LONGEST_B, size_b // count))
            length_b = max(length_b // READ_B, 1) * READ_B
        span_b = size_b - READ_B - length_b
        offsets = [
            index * span_b // max(count - 1, 1) // REQUEST_B * REQUEST_B for index in range(count)
        ]
        began_s = time.monotonic()
        for number in range(passes):
            if number and (time.monotonic() - began_s) * (number + 1) / number > budget_s:
                break
            for offset_b in choose.sample(offsets, count):
                read_s(offset_b, offset_b + READ_B)
                begin_b = offset_b + READ_B
                spent_s = read_s(begin_b, begin_b + length_b)
                rows.append((offset_b, number, length_b / spent_s))
    return pd.DataFrame(rows, columns=["offset_b", "pass", "bandwidth_b_s"])
