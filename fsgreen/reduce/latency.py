"""Latency histograms, merged over threads and trials; quantiles come last, never averaged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fsgreen.design import factors
from fsgreen.design.columns import QUANTILES


def quantiles_s(histogram: pd.DataFrame, levels: Sequence[float]) -> list[float]:
    """Return quantiles of a histogram in seconds, as the upper bound of the bucket they fall in.

    The columns are `upper_ns` and `work_ops`, in any order; buckets may be there several times.
    Levels are between 0 and 1.
    """
    upper_ns, work_ops = (histogram[name].to_numpy() for name in ("upper_ns", "work_ops"))
    total = int(work_ops.sum())
    if total == 0:
        return [math.nan] * len(levels)
    order = np.argsort(upper_ns)
    reached, upper_s = np.cumsum(work_ops[order]), upper_ns[order].astype(float) / 1e9
    ranks = [max(1, math.ceil(level * total)) for level in levels]
    return [float(upper_s[np.searchsorted(reached, rank)]) for rank in ranks]


def latency_table(cells: Iterable[tuple[Mapping[str, Any], pd.DataFrame]]) -> pd.DataFrame:
    """Return one row per cell and flowop, over all threads and trials of the cell.

    There is a pair of cell and histogram per trial, with the columns of `latency.parquet`.
    """
    of_cell: dict[tuple[Any, ...], list[pd.DataFrame]] = {}
    for cell, histogram in cells:
        of_cell.setdefault(tuple(cell.items()), []).append(histogram)
    # Summed by cell first: the buckets of all trials at once would take gigabytes.
    merged = pd.concat(
        [
            pd.concat(several)
            .groupby(["flowop", "operation", "upper_ns"], as_index=False)["work_ops"]
            .sum()
            .assign(**dict(levels))
            for levels, several in of_cell.items()
        ]
    )
    named = factors.names(merged.columns)
    numbers = [name for name in named if factors.get(name).numeric]
    merged[numbers] = merged[numbers].astype(float)
    keys = [*named, "flowop", "operation"]
    rows = [
        {
            **dict(zip(keys, key, strict=True)),
            "work_ops": int(group["work_ops"].sum()),
            **dict(zip(QUANTILES, quantiles_s(group, list(QUANTILES.values())), strict=True)),
        }
        for key, group in merged.groupby(keys, dropna=False)
    ]
    return pd.DataFrame(rows)
