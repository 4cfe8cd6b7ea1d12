"""A pattern of load pulses that can be found in a power trace in one place only."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate, groupby

import numpy as np
from numpy.typing import ArrayLike

from fsgreen.trace.table import Array

DEGREE = 5
POLYNOMIALS = ((2,), (3,), (1, 2, 3), (1, 2, 4), (1, 3, 4), (2, 3, 4))
"""Middle exponents of the primitive polynomials x^5 + ... + 1 over two elements (Golomb, Shift
Register Sequences): each makes a sequence of 31 chips that is uncorrelated with its own shifts."""


def pulse_runs(seed: int, chip_s: float = 1.0) -> tuple[float, ...]:
    """Return how long the load is on, off, on, ... and on, in seconds.

    At most 31 chips of `chip_s`, in runs of one to five: a maximum-length sequence that begins at
    one of its chips that are on. Shifted by a chip or more it correlates with itself by less than
    0.5. The seed chooses one of 96 patterns.
    """
    draw = random.Random(seed)
    taps = (0, *draw.choice(POLYNOMIALS))
    chips = [1, 0, 0, 0, 0]
    while len(chips) < 2**DEGREE - 1:
        chips.append(sum(chips[len(chips) - DEGREE + tap] for tap in taps) % 2)
    first = draw.choice([place for place, on in enumerate(chips) if on])
    runs = [len(list(run)) * chip_s for _, run in groupby(chips[first:] + chips[:first])]
    return tuple(runs if len(runs) % 2 else runs[:-1])


def pulse_edges(start_s: float, runs: Sequence[float]) -> tuple[float, ...]:
    """Return the times at which the load goes on, off, on, ... and off."""
    return tuple(accumulate(runs, initial=start_s))


def on_time_s(edges_s: ArrayLike, time_s: ArrayLike) -> Array:
    """Return for how long the load was on until each time: the integral of the step function."""
    edges = np.asarray(edges_s, float)
    on = np.concatenate(([0.0], np.cumsum(np.diff(edges) * (np.arange(len(edges) - 1) % 2 == 0))))
    return np.interp(np.asarray(time_s, float), edges, on)


def expected_share(edges_s: ArrayLike, time_s: ArrayLike) -> Array:
    """Return the share of each interval between successive times in which the load was on."""
    return np.diff(on_time_s(edges_s, time_s)) / np.diff(np.asarray(time_s, float))
