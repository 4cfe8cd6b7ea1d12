"""Claims on the zones of a disk, by the file of each simulated disk: nothing runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from fsgreen import stats
from fsgreen.analysis.claims.source import Numbers
from fsgreen.claims import Band, Part, about, band, judge, written
from fsgreen.papers.nfstricks03.reader_claims import Readers

Check = Callable[[Readers, Numbers], Iterator[Part]]


def of_file(what: str, value: float, target: Band, published: str) -> Part:
    """Return the part of a number that the file of a simulated disk has."""
    ours = stats.Estimate(value, value, value, 1)
    text, verdict = f"{what} (its file)", judge(ours, target)
    return Part(text, verdict, "simulated", published, target, ours, source="its file")


def _sector_ratio(source: Readers, numbers: Numbers) -> Iterator[Part]:
    typical, lowest = (number["value"] for number in numbers)
    for name, zones in source.zones.items():
        target = Band(lowest, about(typical).high, 0)
        text = f"{lowest:g}x to {typical:g}x"
        yield of_file(f"innermost over outermost track of {name}", 1 / zones.ratio_x, target, text)


def _per_revolution(source: Readers, numbers: Numbers) -> Iterator[Part]:
    target = band(numbers[0], "simulated", source.bound)
    for name, zones in source.zones.items():
        what = f"bytes of a revolution of {name}, outermost over innermost"
        yield of_file(what, zones.ratio_x, target, f"nearly {written(numbers[0])}")


def _small_partition(source: Readers, numbers: Numbers) -> Iterator[Part]:
    for name, zones in source.zones.items():
        part_x, whole_x = zones.within(0, 1 / 4).ratio_x, zones.ratio_x
        what = f"spread of rates in the outermost quarter of {name}, over that of the whole"
        ratio = (part_x - 1) / (whole_x - 1) if whole_x != 1 else math.nan
        yield of_file(what, ratio, Band(0, 1 - 1e-9, -1), "smaller")


ZONES: Mapping[str, Check] = {
    function.__name__[1:]: function
    for function in (_sector_ratio, _per_revolution, _small_partition)
}
"""The functions above by their name in `claims.yaml`."""
