"""Latency profiles: histograms of trials in log2 buckets."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fsgreen.design import Cell
from fsgreen.design.begun import read_plan
from fsgreen.reduce.pool import poolable_trials


def log2_profile(histogram: pd.DataFrame) -> pd.DataFrame:
    """Return `operation`, `bucket` and `work_ops`; bucket k is from 2**k up to 2**(k + 1) ns.

    The sums are exact, as each of the engine's buckets (in `latency.parquet`) lies inside one of
    these. Operations of less than 1 ns are in bucket 0.

    Raises ValueError if a bucket lies in several of these, or is none.
    """
    columns = ["lower_ns", "upper_ns", "work_ops"]
    lower_ns, upper_ns, work_ops = histogram[columns].to_numpy(dtype=float).T
    bucket = np.frexp(np.maximum(lower_ns, 1))[1] - 1
    sound = (lower_ns >= 0) & (upper_ns > lower_ns) & (work_ops >= 0)
    sound &= upper_ns <= np.exp2(bucket + 1)
    sound &= histogram["operation"].map(lambda name: isinstance(name, str)).to_numpy(dtype=bool)
    if not sound.all():
        first = histogram[["operation", *columns]][~sound].iloc[0].to_dict()
        raise ValueError(f"not a bucket inside one of log2: {first}")
    bucketed = histogram.assign(bucket=bucket)
    return bucketed.groupby(["operation", "bucket"], as_index=False)["work_ops"].sum()


def trial_profiles(campaign: str) -> pd.DataFrame:
    """Return the profiles of all trials of a campaign that ran as fast as they could.

    The columns are the factors but the load, `block` and those of `log2_profile`; the trials
    are checked as `reduce.write` does.

    Raises FsgreenError if the campaign has no whole trial, or holds one that is damaged or foreign.
    """
    plan = read_plan(campaign)
    profiles = []
    for trial in poolable_trials(campaign):
        cell = plan.levels(Cell(**trial.record.cell))
        if cell.pop("load_ops_s") is None:
            profile = log2_profile(trial.table("latency"))
            profiles.append(profile.assign(**cell, block=trial.record.block))
    levels = [name for name in plan.levels(plan.baseline) if name != "load_ops_s"]
    names = [*levels, "block", "operation", "bucket", "work_ops"]
    return pd.concat(profiles)[names] if profiles else pd.DataFrame(columns=names)
