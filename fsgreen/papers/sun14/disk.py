"""The power of the SSD over the time of the trials of a campaign."""

from __future__ import annotations

import pandas as pd

from fsgreen.reduce import factors_of, read_table

METER = "disk"
"""The meter of the SSD alone, as the aggregative indicator is over it."""

RANGE = "power_range_w"
"""Between the least and the greatest bin of a trial: how far its power moves."""


def of_disk(campaign: str) -> pd.DataFrame:
    """Return the rows of `power_over_time.csv` of the SSD, with the levels of the trials."""
    bins, trials = (read_table(campaign, name) for name in ("power_over_time", "trials"))
    levels = trials[["trial", *factors_of(trials)]]
    return bins[bins["meter"] == METER].merge(levels, on="trial")


def with_range(trials: pd.DataFrame, bins: pd.DataFrame) -> pd.DataFrame:
    """Return trials with the column `RANGE`; NaN for one that has no bins in `bins`."""
    by_trial = bins.groupby("trial")["power_w"]
    moves_w = (by_trial.max() - by_trial.min()).astype(float)
    return trials.assign(**{RANGE: trials["trial"].map(moves_w)})
