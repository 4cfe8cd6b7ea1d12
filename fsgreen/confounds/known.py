"""The confounds that a testbed can have: how each is measured, and which factor declares it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from fsgreen.confounds.zones import with_zones


@dataclass(frozen=True)
class Confound:
    """Something beside what is compared that changes how fast a testbed is."""

    name: str
    """As in tables; never that of a factor."""
    part: str
    """The part of `confounds.json` that holds its curve."""
    by: str
    value: str
    """The columns of a level, and of what changes with it."""
    factors: frozenset[str]
    """Factors of a cell in which two cells differ where they differ in this."""
    within: str | None = None
    """A column inside whose levels it is looked at: reads and writes apart, say."""
    of_each_reader: bool = False
    """Whether it changes the times of single readers alone, and not what they do together."""
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = lambda curve: curve
    """What makes the curve of the part."""


def _rates(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the bandwidth of all readers together in each run, until the last has ended."""
    of_run = runs.groupby(["scheduler", "pass"])
    total_b = of_run["read_b"].sum()
    return (total_b / of_run["completion_s"].max()).rename("bandwidth_b_s").reset_index()


def _spreads(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the first and the last completion of each run, the earlier as the larger rate."""
    of_run = runs.groupby(["scheduler", "pass"])["completion_s"]
    ends = {"last": of_run.max(), "first": of_run.min()}
    return pd.concat(
        (1 / times_s).rename("rate_x").reset_index().assign(reader=reader)
        for reader, times_s in ends.items()
    )


PLACE = Confound(
    "place on the device",
    "offset",
    "place",
    "bandwidth_b_s",
    frozenset({"partition", "disk"}),
    prepare=with_zones,
)
FLIGHT = Confound(
    "requests in flight",
    "queue",
    "queue_depth",
    "throughput_ops_s",
    frozenset({"queue_depth", "disk"}),
)
SCHEDULER = Confound(
    "order of requests",
    "scheduler",
    "scheduler",
    "bandwidth_b_s",
    frozenset({"scheduler"}),
    prepare=_rates,
)
SHARING = Confound(
    "sharing among readers",
    "scheduler",
    "reader",
    "rate_x",
    frozenset({"scheduler"}),
    within="scheduler",
    of_each_reader=True,
    prepare=_spreads,
)
CACHE = Confound("state of the cache", "cache", "cache", "bandwidth_b_s", frozenset({"cache"}))
ALIGNMENT = Confound(
    "alignment",
    "alignment",
    "shift_b",
    "throughput_ops_s",
    frozenset({"option"}),
    within="action",
)
READ_AHEAD = Confound(
    "read-ahead",
    "read_ahead",
    "read_ahead",
    "bandwidth_b_s",
    frozenset({"kernel_read_ahead_kib"}),
    within="pattern",
)

KNOWN: Mapping[str, Confound] = {
    confound.name: confound
    for confound in (PLACE, FLIGHT, SCHEDULER, SHARING, CACHE, ALIGNMENT, READ_AHEAD)
}
"""Those of the testbed by name. Time of measurement and meter are of the campaign (`table`)."""
