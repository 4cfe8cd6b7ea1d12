"""The power of each meter over the time of a trial: means of bins of one width."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from fsgreen.trace import MeterInfo
from fsgreen.trial import Trial

BINS = 100
"""About how many bins a trial has at most: one that ends late may have a few more."""

READINGS = 2
"""The fewest readings of a meter in a bin. With less, a bin would be what is between two."""


def width_s(length_s: float, rate_hz: float) -> float:
    """Return the width of a bin: the least of 1, 2 or 5 times a power of ten that is wide enough.

    Two digits of `length_s`, how long was measured, count, so that trials of one plan have one
    width. `rate_hz` is that of readings.
    """
    least_s = max(float(f"{length_s / BINS:.1e}"), READINGS / rate_hz)
    exponent = math.floor(math.log10(least_s))
    widths_s = (float(f"{digits}e{exponent}") for digits in (1, 2, 5, 10))
    return next(width for width in widths_s if width >= least_s)


def bins_s(trial: Trial) -> dict[str, np.ndarray]:
    """Return the edges of the bins of each meter, on the clock of the trial.

    The first begins with what was measured; a rest at its end has no bin. A trial in windows has no
    bins, as others worked between them.
    """
    if len(trial.measured) > 1:
        return {}
    start_s = trial.measured[0].start_s
    return {
        name: start_s + _since_start_s(trial, info) for name, info in trial.record.meters.items()
    }


def power_over_time(trial: Trial, binned_w: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Return a row for each bin of each meter of a trial, as in `power_over_time.csv`.

    `time_s` is the end of the bin, from the start of what was measured: that of the first is the
    width of all. `power_w` is the mean; NaN if the trace does not cover the bin. `binned_w` has by
    the name of the meter the power in the bins of `bins_s`, shape (bins,).
    """
    infos = trial.record.meters
    ends_s = [_since_start_s(trial, infos[name])[1:] for name in binned_w]
    meters = [name for name, power_w in binned_w.items() for _ in power_w]
    return pd.DataFrame(
        {
            "trial": trial.name,
            "meter": pd.Series(meters, dtype=str),
            "boundary": pd.Series([infos[name].boundary for name in meters], dtype=str),
            "time_s": np.concatenate([np.empty(0), *ends_s]),
            "power_w": np.concatenate([np.empty(0), *binned_w.values()]),
        }
    )


def _since_start_s(trial: Trial, info: MeterInfo) -> np.ndarray:
    """Return the edges of the bins of a meter from the start of what was measured."""
    length_s = trial.measured[0].duration_s
    width = width_s(length_s, info.rate_hz)
    return width * np.arange(1 + int(length_s / width + 1e-6))
