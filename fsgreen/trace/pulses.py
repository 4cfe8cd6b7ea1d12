"""Load pulses: a pattern that fits in only one place of a trace, and the location of its edges."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate, groupby

import numpy as np
from numpy.typing import ArrayLike

from fsgreen.errors import FsgreenError
from fsgreen.trace.table import Array
from fsgreen.trace.timing import MAX_GAP_INTERVALS

DEGREE = 5
POLYNOMIALS = ((2,), (3,), (1, 2, 3), (1, 2, 4), (1, 3, 4), (2, 3, 4))
"""Middle exponents of the primitive polynomials x^5 + ... + 1 over GF(2) (Golomb, Shift Register
Sequences). Each makes a sequence of 31 chips that is uncorrelated with its own shifts."""

MIN_STEP = 0.3
"""If the step of an edge is less than this share of the median step, other load hides the edge."""


def pulse_runs(seed: int, chip_s: float = 1.0) -> tuple[float, ...]:
    """Return the lengths in seconds of the runs in which the load is on, off, on, ... and on.

    The runs have one to five chips of `chip_s`, at most 31 chips in total. They are a
    maximum-length sequence that begins with a chip that is on. Its correlation with itself, shifted
    by a chip or more, is below 0.5. The seed chooses one of 96 patterns.
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
    """Return the times at which the load goes on, off, on, ... and off: one more than runs."""
    return tuple(accumulate(runs, initial=start_s))


def on_time_s(edges_s: ArrayLike, time_s: ArrayLike) -> Array:
    """Return how long the load was on before each time: the integral of the step function."""
    edges = np.asarray(edges_s, float)
    on = np.concatenate(([0.0], np.cumsum(np.diff(edges) * (np.arange(len(edges) - 1) % 2 == 0))))
    return np.interp(np.asarray(time_s, float), edges, on)


def expected_share(edges_s: ArrayLike, time_s: ArrayLike) -> Array:
    """Return, for each interval between successive times, the share in which the load was on."""
    return np.diff(on_time_s(edges_s, time_s)) / np.diff(np.asarray(time_s, float))


def located_edges(
    time_s: Array, energy_j: Array, host_s: Array, expected_s: Array, doubt_s: float
) -> tuple[Array, Array]:
    """Return the host's and the meter's times of the edges that can be located.

    An edge is expected within `doubt_s` of its `expected_s`: its window. The levels before and
    after it come from the readings between its window and those of its neighbours. Its place is
    where a step between these levels has the energy of the window.

    `time_s` has the time of each reading, and `energy_j` the energy up to it, both of shape
    (readings,). A reading averages the interval that it ends, so the energy is exact only at
    readings. `host_s` has the host's time of each edge, and `expected_s` its expected time on the
    meter's clock, both of shape (edges,). `doubt_s` is half the length of a window. Raises
    FsgreenError if fewer than a third of the edges, or fewer than three, can be located.
    """
    interval_s = float(np.median(np.diff(time_s)))
    spare_s = expected_s[1] - expected_s[0]
    bounds = np.concatenate(([expected_s[0] - spare_s], expected_s, [expected_s[-1] + spare_s]))
    places, steps_w = [], []
    for nth, edge_s in enumerate(expected_s):
        left, right = bounds[nth] + doubt_s, bounds[nth + 2] - doubt_s
        window_s = (left, edge_s - doubt_s, edge_s + doubt_s, right)
        begin, opened, closed, end = np.searchsorted(time_s, window_s) - (0, 1, 0, 1)
        if not 0 <= begin < opened < closed < end < len(time_s):
            continue
        if np.diff(time_s[begin : end + 1]).max() > MAX_GAP_INTERVALS * interval_s:
            continue
        before_w = (energy_j[opened] - energy_j[begin]) / (time_s[opened] - time_s[begin])
        after_w = (energy_j[end] - energy_j[closed]) / (time_s[end] - time_s[closed])
        window_j = energy_j[closed] - energy_j[opened]
        step_w = after_w - before_w
        if (step_w > 0) != (nth % 2 == 0) or step_w == 0:
            continue
        moment_s = (after_w * time_s[closed] - before_w * time_s[opened] - window_j) / step_w
        places.append((host_s[nth], moment_s))
        steps_w.append(abs(step_w))
    clear = np.array(steps_w) >= MIN_STEP * np.median(steps_w) if steps_w else np.zeros(0, bool)
    if clear.sum() < max(3, len(host_s) / 3):
        raise FsgreenError(
            f"only {int(clear.sum())} of {len(host_s)} edges of the pulses can be located",
            where="clock of the meter",
            next_step="pulse with chips of four readings or more, on an idle machine",
        )
    host, meter = np.array(places)[clear].T
    return host, meter
