"""Latency profiles: how far two cells are apart, whether by more than chance, and their peaks.

A profile counts operations in log2 buckets, as OSprof does (Joukov et al. 2006): bucket k holds
those that took from 2**k to 2**(k + 1) ns.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from fsgreen.stats.sample import Floats
from fsgreen.stats.summary import Estimate, mean_ci

ARRANGEMENTS = 10_000
"""Ways to part the trials of two cells that are tried: all of them up to eight blocks."""

FEW_OPS = 10
"""Added to each bucket before peaks are sought, so that a few stragglers make none; our choice."""


@dataclass(frozen=True)
class Peak:
    """A local maximum of a profile, and the share of operations between its two valleys."""

    bucket: int
    share: float


def total_profile(profile: pd.DataFrame) -> Floats:
    """Return operations by bucket, from bucket 0 on, over all rows with `bucket` and `work_ops`."""
    return np.bincount(profile["bucket"], weights=profile["work_ops"]).astype(float)


def emd(candidate: ArrayLike, baseline: ArrayLike) -> Floats:
    """Return the earth mover's distance of two profiles in buckets: 1 is a factor of two.

    Both are scaled to the same mass, so that the number of operations does not matter. In one
    dimension the distance is the area between the cumulative shares (Vallender 1974). OSprof finds
    by it the operations that differ between two runs (Joukov et al. 2006).

    `candidate` and `baseline`, shape (..., buckets), are the operations in each bucket; a profile
    without any has no distance (NaN).
    """
    return np.asarray(np.abs(_reached(candidate) - _reached(baseline)).sum(axis=-1))


def shift(candidate: ArrayLike, baseline: ArrayLike) -> Floats:
    """Return how many buckets the candidate is slower in the mean; negative where it is faster.

    The size of the shift is at most the distance; it is less where some operations became faster
    and others slower. Parameters as in `emd`.
    """
    return np.asarray((_reached(baseline) - _reached(candidate)).sum(axis=-1))


def peaks(counts: ArrayLike) -> list[Peak]:
    """Return the peaks of a profile, fastest first.

    Each path that an operation can take (a cache, a lock, a disk) makes a peak of its own (Joukov
    et al. 2006). A bucket counts as one if it has twice the operations of the valleys that part it
    from higher ones, with `FEW_OPS` added to all.

    `counts`, shape (buckets,), are the operations in each bucket.
    """
    profile = np.asarray(counts, dtype=float)
    indices, _ = scipy.signal.find_peaks(np.log2(np.pad(profile, 1) + FEW_OPS), prominence=1)
    if not len(indices):
        return []
    buckets = [int(index) - 1 for index in indices]
    valleys = [a + int(np.argmin(profile[a:b])) for a, b in itertools.pairwise(buckets)]
    shares = np.add.reduceat(profile, [0, *valleys]) / profile.sum()
    return [Peak(bucket, float(share)) for bucket, share in zip(buckets, shares, strict=True)]


def compare_profiles(candidate: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    """Return how far the profiles of two cells are apart, the operation that differs most first.

    `emd_buckets` is the mean distance of the two cells in a block, with its Student-t interval.
    It is above zero by noise alone: `scatter_buckets`, the mean distance of two trials of one
    cell, says how far. `shift_buckets` is positive where the candidate is slower.

    `difference_p` belongs to "the cells do not differ": the share of all ways to part the trials
    into two groups that set these as far apart as the cells are, by the distance between groups
    over that inside them (Rizzo & Szekely 2010). What a block does to both cells lowers the power
    only. `family_p` takes the largest ratio among all operations instead (Westfall & Young 1993):
    five blocks have 126 ways, of which Holm's correction for seven operations never gets to 5 %.

    The cells have the columns `block`, `operation`, `bucket` and `work_ops`. Blocks count that both
    have. Raises ValueError if they have no block in common.
    """
    blocks = sorted(set(candidate["block"]) & set(baseline["block"]))
    if not blocks:
        raise ValueError("the two cells have no block in common")
    n = len(blocks)
    operations, counts = _stacked(candidate, baseline, blocks)
    shifts = shift(counts[:, :n], counts[:, n:]).mean(axis=-1)
    distances = emd(counts[:, :, None], counts[:, None, :])
    known = np.asarray(np.isfinite(distances).all(axis=(1, 2)))
    p_values = np.full((len(operations), 2), math.nan)
    if n > 1:
        p_values[known] = _separation_p(distances[known], n)
    rows = []
    for index, operation in enumerate(operations):
        between = np.diagonal(distances[index, :n, n:])
        apart = mean_ci(between) if known[index] else Estimate.without_interval(n=n)
        rows.append(
            {
                "operation": operation,
                "n": n,
                "candidate_ops": int(counts[index, :n].sum()),
                "baseline_ops": int(counts[index, n:].sum()),
                "emd_buckets": apart.value,
                "emd_low_buckets": max(apart.low, 0.0) if apart.has_interval else math.nan,
                "emd_high_buckets": apart.high,
                "scatter_buckets": _inside(distances[index], n),
                "shift_buckets": shifts[index],
                "difference_p": p_values[index, 0],
                "family_p": p_values[index, 1],
            }
        )
    table = pd.DataFrame(rows)
    return table.sort_values("emd_buckets", ascending=False, kind="stable", ignore_index=True)


def _reached(counts: ArrayLike) -> Floats:
    """Return the share of operations up to each bucket."""
    sums = np.cumsum(np.asarray(counts, dtype=float), axis=-1)
    total = sums[..., -1:]
    return np.divide(sums, total, out=np.full_like(sums, math.nan), where=total > 0)


def _stacked(
    candidate: pd.DataFrame, baseline: pd.DataFrame, blocks: list[int]
) -> tuple[list[str], Floats]:
    """Return operations, and counts of shape (operations, blocks of both cells, buckets)."""
    both = pd.concat([candidate.assign(cell=0), baseline.assign(cell=1)])
    sums = both.groupby(["operation", "cell", "block", "bucket"])["work_ops"].sum()
    operations = sorted(both["operation"].unique())
    buckets = range(int(both["bucket"].max()) + 1)
    whole = pd.MultiIndex.from_product([operations, (0, 1), blocks, buckets])
    counts = sums.reindex(whole, fill_value=0).to_numpy(dtype=float)
    return operations, counts.reshape(len(operations), 2 * len(blocks), len(buckets))


def _inside(distances: Floats, n: int) -> float:
    """Return the mean distance of two trials of the same cell; NaN with one trial each."""
    pairs = np.triu_indices(n, 1)
    both = np.concatenate([distances[:n, :n][pairs], distances[n:, n:][pairs]])
    return float(both.mean()) if both.size else math.nan


def _separation_p(distances: Floats, n: int) -> Floats:
    """Return raw and family p of each operation, shape (operations, 2).

    `distances` has shape (operations, 2n, 2n); the first n trials are those of the candidate.
    """
    groups = _arrangements(n)
    inside = sum(((g @ distances) * g).sum(axis=-1) for g in (groups, 1 - groups)) / (2 * n)
    between = distances.sum(axis=(1, 2))[:, None] / (4 * n) - inside
    limit = np.where(between > 0, math.inf, 0.0)
    ratio = np.divide(between, inside, out=limit, where=inside > 0)
    # Equal arrangements may differ in the last bits.
    actual = ratio[:, :1] * (1 - 1e-9)
    family = ratio.max(axis=0, initial=0.0)
    return np.column_stack([(ratio >= actual).mean(axis=1), (family >= actual).mean(axis=1)])


def _arrangements(n: int) -> Floats:
    """Return ways to choose a group of n among 2n trials as rows of 0 and 1, the actual one first.

    The first trial is always chosen, for the two groups have no order.
    """
    ways = math.comb(2 * n - 1, n - 1)
    if ways > ARRANGEMENTS:
        drawn = np.tile(np.repeat([1.0, 0.0], n), (ARRANGEMENTS, 1))
        drawn[1:] = np.random.default_rng(0).permuted(drawn[1:], axis=1)
        return drawn
    chosen = [(0, *rest) for rest in itertools.combinations(range(1, 2 * n), n - 1)]
    groups = np.zeros((ways, 2 * n))
    groups[np.arange(ways)[:, None], chosen] = 1
    return groups
