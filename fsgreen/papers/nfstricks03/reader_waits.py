"""Claims on what a single request waits for, by runs in virtual time that record it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.analysis.claims.source import Numbers
from fsgreen.claims import Band, Part, about
from fsgreen.papers.nfstricks03.reader_claims import Readers

Check = Callable[[Readers, Numbers], Iterator[Part]]

SEVERAL_MINUTES = 3


def _starvation(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for disk, runs in _of(source, "elevator", starved=True):
        what = f"longest wait of a read of {disk}, over the time in which another scans up to it"
        ours = stats.mean_ci(runs["longest_s"] / runs["scan_s"])
        yield source.part(what, about(1), "until it has scanned the disk", partial(_known, ours))


def _minutes(source: Readers, numbers: Numbers) -> Iterator[Part]:
    target = Band(SEVERAL_MINUTES, math.inf, 0)
    for disk, runs in _of(source, "elevator", starved=True):
        ours = stats.mean_ci(runs["longest_s"] / 60)
        what = f"minutes that one read of {disk} waits, two readers"
        yield source.part(what, target, "several minutes", partial(_known, ours), unit="")


def _sweep_latency(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for disk, runs in _of(source, "n-cscan", starved=False):
        by_block = runs[runs["readers"] > 1].groupby("block")
        ours = stats.mean_ci([_exponent(block) for _, block in by_block])
        what = f"power of the queue's length at a sweep's begin that the wait on {disk} grows with"
        yield source.part(what, about(1), "proportional", partial(_known, ours), unit="")


def _known(ours: stats.Estimate) -> stats.Estimate:
    return ours


def _exponent(runs: pd.DataFrame) -> float:
    """Return the slope of the wait over the length of the queue, both as logarithms."""
    queue, wait_s = np.log(runs["queue_requests_count"]), np.log(runs["response_s"])
    return float(np.polyfit(queue, wait_s, 1)[0])


def _of(source: Readers, scheduler: str, *, starved: bool) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the runs under a scheduler by disk: those over a whole disk, or those of files."""
    if source.waits.empty:
        return
    runs = source.waits[source.waits["scheduler"] == scheduler]
    for disk, of_disk in runs[runs["scan_s"].notna() == starved].groupby("disk"):
        yield str(disk), of_disk


WAITS: Mapping[str, Check] = {
    function.__name__[1:]: function for function in (_starvation, _minutes, _sweep_latency)
}
"""The functions above by their name in `claims.yaml`."""
