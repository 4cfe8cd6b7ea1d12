"""How fast one core is now: a fixed integer loop, timed.

Frequency, temperature and a hypervisor that gives away half of the core all show in it, where no
file of the kernel tells a guest.
"""

from __future__ import annotations

import time

LOOPS = 20_000
"""Turns of the loop in one run: a millisecond or two."""

RUNS = 11
"""Of which the best counts: what interrupts a run makes it longer, nothing makes it shorter."""


def loops_per_s() -> float:
    """Return turns of the loop in a second, the best of `RUNS` runs.

    It compares one machine with itself: another version of Python runs the same loop at another
    speed. docs/host.md has how far readings scatter.
    """
    return LOOPS / min(_run_s() for _ in range(RUNS))


def _run_s() -> float:
    start_s = time.perf_counter()
    value = 1
    for _ in range(LOOPS):
        value = (value * 69069 + 1) & 0xFFFFFFFF  # Marsaglia's generator: each turn needs the last
    return time.perf_counter() - start_s
