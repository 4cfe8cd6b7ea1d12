"""Claims put to the test by runs of readers, in real or in virtual time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.claims.source import Numbers
from fsgreen.claims import ABOVE, Band, Part, about, band, by_construction, written
from fsgreen.design import Cell
from fsgreen.papers.nfstricks03.reader_claims import Pair, Readers
from fsgreen.papers.nfstricks03.reader_method import METHOD, Check
from fsgreen.papers.nfstricks03.reader_waits import WAITS
from fsgreen.papers.nfstricks03.reader_zones import ZONES, of_file
from fsgreen.papers.nfstricks03.readers import label
from fsgreen.papers.nfstricks03.reference import (
    EIGHT,
    FIGURE_3,
    READERS,
    setup,
)

DEFAULTS = (("ide1", "ide4"), ("scsi1 tags", "scsi4 tags"))
"""Outer and inner partition of each disk as it is by default."""

SEVERAL = tuple(readers for readers in READERS if readers > 1)
MANY = (8, 16, 32)
"""Readers that count as many: where the lines of figure 2 are flat."""


# --- runs and zones -----------------------------------------------------------------------------


def _runs(source: Readers, numbers: Numbers) -> Iterator[Part]:
    value = numbers[0]["value"]
    for name in FIGURE_3:
        for scheduler in ("elevator", "n-cscan"):
            one = setup(name, scheduler=scheduler)
            target, count = Band(value, math.inf, 0), partial(_count, source, one)
            part = source.part(f"trials of {label(one)}", target, "34 runs", count, one, unit="")
            yield source.enough(part, value, "thirty-four-runs")


def _read_time(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for outer, inner in DEFAULTS:
        pair = setup(outer, 1), setup(inner, 1)
        target = band(numbers[0], "simulated", source.bound)
        what = f"time of one reader, {outer} over {inner}"
        yield source.ratio(what, source.runs.duration, *pair, target, written(numbers[0]))
    for name, zones in source.zones.items():
        target = band(numbers[1], "simulated", source.bound)
        cylinders = zones.within(3 / 4, 1).entries[0][2] / zones.entries[0][2]
        what = f"cylinders that a file takes at the begin of quarter 1 of {name}, over quarter 4"
        yield of_file(what, cylinders, target, written(numbers[1]))


def _outer_faster(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for outer, inner in DEFAULTS:
        pairs = [(setup(outer, n), setup(inner, n)) for n in READERS]
        text = f"{outer} above {inner}"
        yield from source.weakest(f"{outer} over {inner}", source.runs.rate, pairs, ABOVE, text)


def _scsi_weaker(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for readers in MANY:
        pairs = [(setup(outer, readers), setup(inner, readers)) for outer, inner in DEFAULTS]
        what = f"zone effect of ide over that of scsi with tags, {readers} readers"
        ours = partial(_effect_over_effect, source, *pairs)
        yield source.part(what, ABOVE, "ide above scsi", ours, *pairs[0], *pairs[1])


def _obscures(source: Readers, numbers: Numbers) -> Iterator[Part]:
    larger = Band(1 / (1 - source.bound), math.inf, 1)
    text = "above any small change"
    for outer, inner in DEFAULTS:
        pair = setup(outer), setup(inner)
        what = f"{outer} over {inner}, {EIGHT} readers"
        yield source.ratio(what, source.runs.rate, *pair, larger, text)


# --- the tagged queue ---------------------------------------------------------------------------


def _reorders(source: Readers, numbers: Numbers) -> Iterator[Part]:
    if "reordered_percent" not in source.runs.trials:
        return
    for name, target, text in (
        ("scsi1 no tags", Band(0, 0, 0), "served in the order of issue"),
        ("scsi1 tags", Band(1e-9, 1, 0), "served in another order"),
    ):
        what = f"share of requests that the disk serves before an older one, {name}"
        yield source.value(what, source.runs.reordered, setup(name), target, text, "share")


def _off_faster(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for off, on in (("scsi1 no tags", "scsi1 tags"), ("scsi4 no tags", "scsi4 tags")):
        pairs = [(setup(off, n), setup(on, n)) for n in SEVERAL]
        yield from source.weakest(
            f"{off} over {on}", source.runs.rate, pairs, ABOVE, "off above on"
        )


def _spike(source: Readers, numbers: Numbers) -> Iterator[Part]:
    pairs = [(setup("scsi1 tags", 1), setup("scsi1 tags", n)) for n in SEVERAL]
    what = "scsi1 tags, one reader over several"
    yield from source.weakest(what, source.runs.rate, pairs, ABOVE, "one reader above several")


def _on_rate(source: Readers, numbers: Numbers) -> Iterator[Part]:
    mb_s = numbers[0]["value"]
    for readers in MANY:
        what = f"MiB/s of scsi1 tags, {readers} readers"
        one, target = setup("scsi1 tags", readers), Band(mb_s, about(mb_s).high, 0)
        yield source.value(what, source.runs.rate, one, target, "a little over 15 MB/s")


def _off_rate(source: Readers, numbers: Numbers) -> Iterator[Part]:
    least = about(numbers[0]["value"]).low
    for readers in READERS:
        what = f"MiB/s of scsi1 no tags, {readers} readers"
        one = setup("scsi1 no tags", readers)
        yield source.value(what, source.runs.rate, one, Band(least, math.inf, 0), "27 MB/s or more")
    for readers in MANY:
        pair = setup("scsi1 no tags", readers), setup("scsi1 tags", readers)
        what, target = f"off over on, {readers} readers", band(numbers[1], "simulated", 0)
        part = source.ratio(what, source.runs.rate, *pair, target, written(numbers[1]))
        yield by_construction(part)


def _off_shape(source: Readers, numbers: Numbers) -> Iterator[Part]:
    spike = setup("scsi1 tags", 1)
    pairs = [(setup("scsi1 no tags", readers), spike) for readers in READERS]
    what, target = "no tags over the spike of one reader with tags", about(1)
    yield from source.weakest(what, source.runs.rate, pairs, target, written(numbers[0]))


# --- schedulers ---------------------------------------------------------------------------------


def _ide1_times(source: Readers, numbers: Numbers) -> Iterator[Part]:
    ranks = zip((1, 2, 3, EIGHT), numbers, strict=True)
    parts = [_finish(source, "ide1", rank, number) for rank, number in ranks]
    *first, last = source.full_size(parts)
    yield from first
    yield by_construction(last)


def _scsi1_times(source: Readers, numbers: Numbers) -> Iterator[Part]:
    pairs = zip((1, EIGHT), numbers, strict=True)
    parts = [_finish(source, "scsi1 no tags", rank, number) for rank, number in pairs]
    yield from source.full_size(parts)


def _straight(source: Readers, numbers: Numbers) -> Iterator[Part]:
    pair = setup("scsi1 no tags"), setup("ide1")
    what = "what a straight line leaves of the times, scsi1 no tags over ide1"
    yield source.ratio(what, source.runs.bend, *pair, ABOVE, "ide1 straighter")


def _last_over_first(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for number, name in zip(numbers, ("ide1", "scsi1 no tags") * 2, strict=True):
        target = band(number, "simulated", source.bound)
        yield _spread(source, name, "elevator", target, written(number))


def _fair(source: Readers, numbers: Numbers) -> Iterator[Part]:
    target = band(numbers[0], "simulated", source.bound)
    for name in FIGURE_3[:2]:
        yield _spread(source, name, "n-cscan", target, "less than 20 % apart")


def _half(source: Readers, numbers: Numbers) -> Iterator[Part]:
    target = band(numbers[0], "simulated", source.bound)
    for name in FIGURE_3[:2]:
        pair = setup(name, scheduler="n-cscan"), setup(name)
        what = f"throughput of {name}, N-CSCAN over elevator"
        yield source.ratio(what, source.runs.rate, *pair, target, "below 0.5x")


def _slowest_against_fastest(source: Readers, numbers: Numbers) -> Iterator[Part]:
    target = band(numbers[0], "simulated", source.bound)
    for name in FIGURE_3[:2]:
        pair = setup(name), setup(name, scheduler="n-cscan")
        what = f"{name}, last of the elevator over first of N-CSCAN"
        ours = partial(_last_over_first_of, source, *pair)
        part = source.part(what, target, written(numbers[0]), ours, *pair, unit="change")
        yield source.of_readers(part, source.runs.spread, *pair)


def _tags_fairer(source: Readers, numbers: Numbers) -> Iterator[Part]:
    elevator, tags = setup("scsi1 no tags"), setup("scsi1 tags")
    n_cscan = elevator.but(scheduler="n-cscan")
    for what, take, above, below in (
        ("spread, elevator over N-CSCAN", source.runs.spread, elevator, n_cscan),
        ("spread, N-CSCAN over tags", source.runs.spread, n_cscan, tags),
        ("throughput, elevator over N-CSCAN", source.runs.rate, elevator, n_cscan),
        ("throughput, N-CSCAN over tags", source.runs.rate, n_cscan, tags),
    ):
        yield source.ratio(
            f"scsi1, {what}", take, above, below, ABOVE, "the first above the second"
        )


def _jump(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for name in FIGURE_3[:2]:
        one = setup(name, scheduler="n-cscan")
        what = f"{name} under N-CSCAN, from the sixth to the seventh over the mean step"
        yield source.value(what, lambda s: source.runs.step(s, 6), one, ABOVE, "a jump", "x")


def _rises(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for name in ("ide1", "ide4"):
        what = f"{name}, {READERS[-1]} readers over one"
        pair = setup(name, READERS[-1]), setup(name, READERS[0])
        yield source.ratio(what, source.runs.rate, *pair, ABOVE, "rises slightly")


def _finish(source: Readers, name: str, rank: int, number: Mapping[str, Any]) -> Part:
    what, value = f"seconds until {rank} of {EIGHT} readers of {name} were done", number["value"]
    return source.value(
        what, lambda s: source.runs.finish(s, rank), setup(name), about(value), f"{value:g} s"
    )


def _spread(source: Readers, name: str, scheduler: str, target: Band, published: str) -> Part:
    what = f"{name} under {scheduler}, last reader over first"
    return source.value(
        what, source.runs.spread, setup(name, scheduler=scheduler), target, published, "x"
    )


def _last_over_first_of(source: Readers, slow: Cell, fast: Cell) -> stats.Estimate:
    return stats.effect(source.runs.finish(slow, EIGHT), source.runs.finish(fast, 1))


def _effect_over_effect(source: Readers, pair: Pair, other: Pair) -> stats.Estimate:
    return stats.effect(_one_over_other(source, *pair), _one_over_other(source, *other))


def _count(source: Readers, one: Cell) -> stats.Estimate:
    n = len(source.runs.cell(one))
    return stats.Estimate(n, n, n, n)


def _one_over_other(source: Readers, one: Cell, other: Cell) -> pd.DataFrame:
    """Return the throughput of one setup over that of another, block by block."""
    rates = [source.runs.rate(s).groupby("block")[["above", "below"]].sum() for s in (one, other)]
    above, below = (rate["above"] / rate["below"] for rate in rates)
    both = pd.DataFrame({"above": above, "below": below}).dropna()
    return both.reset_index()


CHECKS: Mapping[str, Check] = {**METHOD, **ZONES, **WAITS} | {
    function.__name__[1:]: function
    for function in (
        _runs,
        _read_time,
        _outer_faster,
        _scsi_weaker,
        _obscures,
        _reorders,
        _off_faster,
        _spike,
        _on_rate,
        _off_rate,
        _off_shape,
        _ide1_times,
        _scsi1_times,
        _straight,
        _last_over_first,
        _fair,
        _half,
        _slowest_against_fastest,
        _tags_fairer,
        _jump,
        _rises,
    )
}
"""The functions above, and those on method, zones and waits, by their name in `claims.yaml`."""
