"""The 77 claims of nfstricks03, and checks that no selector can say.

They are on how readers are run, on zones, on what a request waits for, and on read-ahead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.analysis.claims.checks import effect_over_effect
from fsgreen.analysis.claims.ledger import Check, functions_of
from fsgreen.analysis.claims.source import Numbers
from fsgreen.claims import ABOVE, Band, Part, about, band, by_construction, written
from fsgreen.papers.nfstricks03 import read_ahead_claims
from fsgreen.papers.nfstricks03.published import RECOMPUTED
from fsgreen.papers.nfstricks03.readers import MIB, TREATMENTS
from fsgreen.papers.nfstricks03.reference import Printed, setup
from fsgreen.papers.nfstricks03.sources import Readers, sources_of

__all__ = ["CHECKS", "RECOMPUTED", "printed", "sources_of"]

printed = Printed.load

MANY = (8, 16, 32)
"""Readers that count as many: where the lines of figure 2 are flat."""

SEVERAL_MINUTES = 3

HALF_A_PLACE_MIB = 0.5
"""256 MB are printed whole; of what is read a thousandth is the blocks of a file's map."""


# --- how readers are run ------------------------------------------------------------------------


def _volume(source: Readers, numbers: Numbers) -> Iterator[Part]:
    trials = source.trials
    ours = stats.Estimate.over_all(trials["bandwidth_b_s"] * trials["duration_s"] / MIB)
    whole_mib = numbers[0]["value"]
    target = Band(whole_mib - HALF_A_PLACE_MIB, whole_mib + HALF_A_PLACE_MIB, 0)
    yield source.part("MiB read by a trial", target, "256 MB", ours, unit="")


def _protocol(source: Readers, numbers: Numbers) -> Iterator[Part]:
    cells = source.trials.groupby([*TREATMENTS], dropna=False)
    least, value = int(cells.size().min()), numbers[0]["value"]
    runs, as_many = stats.Estimate.exactly(least, least), Band(value, math.inf, 0)
    part = source.part("fewest trials of a cell", as_many, "10 runs", runs, unit="")
    yield source.requiring(part, "ten-runs", least >= value)
    scatter = cells["duration_s"].std() / cells["duration_s"].mean()
    limit = numbers[1]["value"] / 100
    # A deviation of a few trials says next to nothing: none, then, of the range of all cells.
    enough = least >= stats.MIN_BLOCKS
    low, high = (scatter.min(), scatter.max()) if enough else (math.nan, math.nan)
    ours = stats.Estimate.spanning(scatter.median(), low, high, least)
    what = "deviation over mean, median, least and most of all cells"
    yield source.part(what, Band(0, limit, 0), "below 5 %", ours, unit="share")


def _cache_defeat(source: Readers, numbers: Numbers) -> Iterator[Part]:
    if "resident_percent" in source.trials:
        ours = stats.Estimate.over_all(source.trials["resident_percent"] / 100)
        what = "share of the files in memory before they are read"
        yield source.part(what, Band(0, 0.01, 0), "about 0 %", ours, unit="share")


def _metric(source: Readers, numbers: Numbers) -> Iterator[Part]:
    last_s = source.runs.finishes.groupby("trial")["ended_s"].max()
    ours = stats.Estimate.over_all(
        (source.trials.set_index("trial")["duration_s"] / last_s).dropna()
    )
    what = "length of a trial over the time of its last reader"
    yield source.part(what, Band(0.999, 1.001, 0), "the time of the last reader", ours)


# --- zones, by the files of the disks and by two disks at once ----------------------------------


def _of_file(what: str, value: float, target: Band, published: str) -> Part:
    """Return the part of a number that the file of a simulated disk has: nothing ran."""
    text, ours = f"{what} (its file)", stats.Estimate.exactly(value)
    fields = {"source": "its file"}
    return by_construction(Part.judged(text, ours, target, published, "simulated", **fields))


def _sector_ratio(source: Readers, numbers: Numbers) -> Iterator[Part]:
    typical, lowest = (number["value"] for number in numbers)
    for name, zones in source.zones.items():
        target = Band(lowest, about(typical).high, 0)
        what, text = f"innermost over outermost track of {name}", f"{lowest:g}x to {typical:g}x"
        yield _of_file(what, 1 / zones.ratio_x, target, text)


def _cylinders(source: Readers, numbers: Numbers) -> Iterator[Part]:
    target = band(numbers[1], "simulated", source.bound)
    for name, zones in source.zones.items():
        ratio = zones.within(3 / 4, 1).entries[0][2] / zones.entries[0][2]
        what = f"cylinders that a file takes at the begin of quarter 1 of {name}, over quarter 4"
        yield _of_file(what, ratio, target, written(numbers[1]))


def _per_revolution(source: Readers, numbers: Numbers) -> Iterator[Part]:
    target = band(numbers[0], "simulated", source.bound)
    for name, zones in source.zones.items():
        what = f"bytes of a revolution of {name}, outermost over innermost"
        yield _of_file(what, zones.ratio_x, target, f"nearly {written(numbers[0])}")


def _small_partition(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for name, zones in source.zones.items():
        part_x, whole_x = zones.within(0, 1 / 4).ratio_x, zones.ratio_x
        what = f"spread of rates in the outermost quarter of {name}, over that of the whole"
        ratio = (part_x - 1) / (whole_x - 1) if whole_x != 1 else math.nan
        yield _of_file(what, ratio, Band(0, 1 - 1e-9, -1), "smaller")


def _scsi_weaker(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for readers in MANY:
        cells = [setup(name, readers) for name in ("ide1", "ide4", "scsi1 tags", "scsi4 tags")]
        what = f"zone effect of ide over that of scsi with tags, {readers} readers"
        ours = partial(effect_over_effect, source, "rate", cells)
        yield source.part(what, ABOVE, "ide above scsi", ours, *cells)


def _udp_scsi_gains(source: Readers, numbers: Numbers) -> Iterator[Part]:
    scsi, ide = ("nfs scsi1 no tags udp", "nfs ide1 udp")
    cells = [setup(name, readers) for readers in (32, 1) for name in (scsi, ide)]
    what = "NFS by UDP, scsi1 without tags over ide1, of 32 readers over that of one"
    ours = partial(effect_over_effect, source, "rate", cells)
    yield source.part(what, ABOVE, "improves with the readers", ours, *cells)


# --- what one request waits for, in virtual time, which records it ------------------------------


def _starvation(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for disk, runs in _waits(source, "elevator", starved=True):
        what = f"longest wait of a read of {disk}, over the time in which another scans up to it"
        ours = stats.mean_ci(runs["longest_s"] / runs["scan_s"])
        yield source.part(what, about(1), "until it has scanned the disk", ours)


def _minutes(source: Readers, numbers: Numbers) -> Iterator[Part]:
    target = Band(SEVERAL_MINUTES, math.inf, 0)
    for disk, runs in _waits(source, "elevator", starved=True):
        ours = stats.mean_ci(runs["longest_s"] / 60)
        what = f"minutes that one read of {disk} waits, two readers"
        yield source.part(what, target, "several minutes", ours, unit="")


def _sweep_latency(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for disk, runs in _waits(source, "n-cscan", starved=False):
        by_block = runs[runs["readers"] > 1].groupby("block")
        ours = stats.mean_ci([_exponent(block) for _, block in by_block])
        what = f"power of the queue's length at a sweep's begin that the wait on {disk} grows with"
        yield source.part(what, about(1), "proportional", ours, unit="")


def _exponent(runs: pd.DataFrame) -> float:
    """Return the slope of the wait over the length of the queue, both as logarithms."""
    queue, wait_s = np.log(runs["queue_requests_count"]), np.log(runs["response_s"])
    return float(np.polyfit(queue, wait_s, 1)[0])


def _waits(source: Readers, scheduler: str, *, starved: bool) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the runs under a scheduler by disk: those over a whole disk, or those of files."""
    if source.waits.empty:
        return
    runs = source.waits[source.waits["scheduler"] == scheduler]
    for disk, of_disk in runs[runs["scan_s"].notna() == starved].groupby("disk"):
        yield str(disk), of_disk


CHECKS: Mapping[str, Check] = {
    **functions_of(vars(), "source"),
    **read_ahead_claims.CHECKS,
}
"""The functions above, and those on read-ahead, by their name in `claims.yaml`."""
