"""Claims on how readers are run: what they read, how often, from where, and what is timed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.claims.source import Numbers
from fsgreen.claims import Band, Part
from fsgreen.papers.nfstricks03.reader_claims import Readers
from fsgreen.papers.nfstricks03.readers import MIB, TREATMENTS

Check = Callable[[Readers, Numbers], Iterator[Part]]


def _volume(source: Readers, numbers: Numbers) -> Iterator[Part]:
    trials = source.runs.trials
    read_mib = trials["bandwidth_b_s"] * trials["duration_s"] / MIB
    ours = _range(read_mib)
    whole_mib = numbers[0]["value"]
    target = Band(whole_mib * (1 - 1e-6), whole_mib * (1 + 1e-6), 0)
    part = source.part("MiB read by a trial", target, "256 MB", lambda: ours, unit="")
    yield from source.full_size([part])


def _protocol(source: Readers, numbers: Numbers) -> Iterator[Part]:
    cells = source.runs.trials.groupby([*TREATMENTS], dropna=False)
    least = float(cells.size().min())
    runs, value = stats.Estimate(least, least, least, int(least)), numbers[0]["value"]
    as_many = Band(value, math.inf, 0)
    part = source.part("fewest trials of a cell", as_many, "10 runs", lambda: runs, unit="")
    yield source.enough(part, value, "ten-runs")
    scatter = cells["duration_s"].std() / cells["duration_s"].mean()
    limit = numbers[1]["value"] / 100
    # A deviation of a few trials says next to nothing: none, then, of the range of all cells.
    enough = least >= stats.MIN_BLOCKS
    low, high = (scatter.min(), scatter.max()) if enough else (math.nan, math.nan)
    ours = stats.Estimate(scatter.median(), low, high, int(least))
    what = "deviation over mean, median, least and most of all cells"
    yield source.part(what, Band(0, limit, 0), "below 5 %", lambda: ours, unit="share")


def _cache_defeat(source: Readers, numbers: Numbers) -> Iterator[Part]:
    if "resident_percent" in source.runs.trials:
        ours = _range(source.runs.trials["resident_percent"] / 100)
        what = "share of the files in memory before they are read"
        yield source.part(what, Band(0, 0.01, 0), "about 0 %", lambda: ours, unit="share")


def _metric(source: Readers, numbers: Numbers) -> Iterator[Part]:
    trials = source.runs.trials.set_index("trial")
    last_s = source.runs.finishes.groupby("trial")["ended_s"].max()
    ours = _range((trials["duration_s"] / last_s).dropna())
    what = "length of a trial over the time of its last reader"
    yield source.part(what, Band(0.999, 1.001, 0), "the time of the last reader", lambda: ours)


def _range(values: pd.Series) -> stats.Estimate:
    """Return mean, least and most of all trials."""
    return stats.Estimate(values.mean(), values.min(), values.max(), len(values))


METHOD: Mapping[str, Check] = {
    function.__name__[1:]: function for function in (_volume, _protocol, _cache_defeat, _metric)
}
"""The functions above by their name in `claims.yaml`."""
