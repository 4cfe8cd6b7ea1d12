"""Latencies that are made up, for the tests of their profiles."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd


def cell(
    counts: Mapping[str, Sequence[Sequence[float]]],
    file_system: str = "ext2",
    option: str = "default",
) -> pd.DataFrame:
    """A cell of the web server: by operation, the counts of each bucket in each block."""
    rows = [
        ("webserver", file_system, option, block, operation, bucket, int(work_ops))
        for operation, blocks in counts.items()
        for block, profile in enumerate(blocks, start=1)
        for bucket, work_ops in enumerate(profile)
        if work_ops
    ]
    names = ["workload", "file_system", "option", "block", "operation", "bucket", "work_ops"]
    return pd.DataFrame(rows, columns=names)


def peak_at(bucket: float, ops: int = 10_000, width: float = 1.0) -> np.ndarray:
    """The counts of about `ops` operations in a bell around a bucket."""
    weights = np.exp(-0.5 * ((np.arange(31) - bucket) / width) ** 2)
    return np.round(ops * weights / weights.sum())


def engine_bucket(ns: int) -> tuple[int, int]:
    """The bucket that holds a latency: 32 to an octave, and below 64 ns one for each."""
    width = 1 << max(0, ns.bit_length() - 6)
    lower = ns // width * width
    return lower, lower + width
