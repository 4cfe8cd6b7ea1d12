"""Whether the device or memory served the reads of trials (rules 7, 42 and 45)."""

from __future__ import annotations

import pandas as pd

MEMORY_PERCENT = 5.0
"""If the device served less than this share of the bytes read, memory served the reads. It is also
the share that a warm cache may lack (rule 7)."""


def served_percent(trials: pd.DataFrame) -> pd.Series:
    """Return the share of the bytes read that came from the device, in per cent, by trial.

    It is above 100 if read-ahead or metadata made the device read more. It is NaN if a trial read
    nothing, or has no counter of the device.
    """
    read_b = trials["read_b"].where(trials["read_b"] > 0)
    return 100 * trials["device_read_b"] / read_b


def uncounted(trials: pd.DataFrame) -> pd.Series:
    """Return a boolean per trial: whether it read, but has no counter of the device."""
    return (trials["read_b"] > 0) & trials["device_read_b"].isna()


def by_workload(trials: pd.DataFrame) -> str:
    """Return the median share of each workload in words, the smallest first."""
    typical = served_percent(trials).groupby(trials["workload"]).median().dropna().sort_values()
    return ", ".join(
        f"{workload} {f'{percent:.0f}' if percent >= 10 else f'{percent:.2g}'} %"
        for workload, percent in typical.items()
    )
