"""Who answered what trials read: the device, or memory (rules 7, 42 and 45)."""

from __future__ import annotations

import pandas as pd

MEMORY_PERCENT = 5.0
"""Share of the bytes read below which the device did not answer: what a warm cache may lack (rule
7), seen from the other side."""


def served_percent(trials: pd.DataFrame) -> pd.Series:
    """Return the share of the bytes read in each trial that came from the device.

    Above 100 where read-ahead or names cost more; NaN where nothing was read, or no counter of the
    device is known.
    """
    read_b = trials["read_b"].where(trials["read_b"] > 0)
    return 100 * trials["device_read_b"] / read_b


def uncounted(trials: pd.DataFrame) -> pd.Series:
    """Return which trials read, and nobody counted what came from the device."""
    return (trials["read_b"] > 0) & trials["device_read_b"].isna()


def by_workload(trials: pd.DataFrame) -> str:
    """Return the typical share of each workload in words, the least first."""
    typical = served_percent(trials).groupby(trials["workload"]).median().dropna().sort_values()
    return ", ".join(
        f"{workload} {f'{percent:.0f}' if percent >= 10 else f'{percent:.2g}'} %"
        for workload, percent in typical.items()
    )
