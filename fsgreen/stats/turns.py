"""What it would buy if cells took turns in windows, instead of one after the other (rule 47)."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

FEWEST_WINDOWS = 8
"""Samples of a trial, below which its two halves by turns are too few to compare."""


def left_by_turns(series: Iterable[ArrayLike], trial_sd: float) -> float:
    """Return the share of an interval's width that would be left if two cells took turns.

    Odd and even samples of a trial are two cells that take turns and do not differ. By how much
    they do, against how far whole trials scatter inside blocks, is 1 where samples are independent,
    and less where the level moves slowly enough for neighbours to share it (Abedi & Brecht 2017;
    Bulej et al. 2020). NaN where too few trials are long enough.

    Parameters
    ----------
    series : iterable of array_like
        A rate at equal distances in time, for each trial.
    trial_sd : float
        Standard deviation of the logarithms of trials inside blocks.
    """
    logs = []
    for values in series:
        rates = np.asarray(values, dtype=float)
        rates = rates[: rates.size - rates.size % 2]
        if rates.size >= FEWEST_WINDOWS and (rates > 0).all():
            logs.append(math.log(rates[::2].sum() / rates[1::2].sum()))
    if len(logs) < 2 or not trial_sd > 0:
        return math.nan
    # Each half has half the time of a trial, and a comparison has two trials.
    return float(np.sqrt(np.mean(np.square(logs)))) / (2 * trial_sd)
