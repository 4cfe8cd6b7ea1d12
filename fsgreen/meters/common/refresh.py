"""Meters that answer faster than they measure: the same value again is no new one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fsgreen.meters.core.readings import NAN

LOW = 0.1
"""The quantile of the times between changes that is taken for one period: see `refresh_s`."""

MIN_CHANGES = 4


def refresh_s(time_s: Sequence[float], values: Sequence[float]) -> float:
    """Estimate how often a meter measures anew from when its value changes, in seconds.

    A change can only come with a new measurement, so the times between changes are whole numbers
    of periods, each seen up to one question late. The low quantile of them stands for one period,
    tells how many each is, and their sum over that number is the period. Two measurements that
    give the same value are then two periods, where the plain mean of the runs would count one.

    NaN where the value changes too seldom to tell: vary the load, and watch for longer. A period
    below the time between two questions cannot be seen, and comes out as that time.
    """
    changes_s = [
        t for (_, before), (t, now) in pairwise(zip(time_s, values, strict=True)) if now != before
    ]
    between_s = np.diff(changes_s)
    if len(between_s) < MIN_CHANGES:
        return NAN
    periods = np.maximum(1, np.rint(between_s / np.quantile(between_s, LOW)))
    return float(between_s.sum() / periods.sum())
