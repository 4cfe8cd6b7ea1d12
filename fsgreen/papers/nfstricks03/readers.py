"""Concurrent readers: how fast they are together, and when each of them is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.analysis.kept import kept
from fsgreen.analysis.scatter import total
from fsgreen.design import Cell, Plan
from fsgreen.errors import unknown
from fsgreen.papers.nfstricks03 import virtual
from fsgreen.papers.nfstricks03.experiments import NFS, WORKLOAD
from fsgreen.reduce import at, level_label, read_plan

METRICS = ("rate", "elapsed", "finish N", "spread", "bend", "step N", "reordered", "late", "ahead")
MIB = 2**20
REAL, VIRTUAL = "real time", "virtual time"

STRAIGHT = 1e-3
"""A line that leaves less than this share of the variance is straight: no figure shows its bend. In
virtual time that is when, within 10 ms, a reader begins."""


TREATMENTS = ("file_system", "disk", "partition", "queue_depth", "scheduler", "readers")
"""What readers read from, what orders their requests, and how many they are."""

OF_SERVER = (
    *("heuristic", "table", "transport"),
    *("strides", "nfsiods", "late_percent", "busy_loops"),
)
"""How a server reads ahead, and how a client asks; readers without a server have none of it."""

COUNTS: Mapping[str, tuple[str, ...]] = {
    "reordered": ("reordered_percent",),
    "late": ("nfs_late_count", "nfs_reads_count"),
    "ahead": ("nfs_ahead_b", "read_b"),
}
"""Columns that not all runs have, of the metrics that are made of them."""


def label(setup: Cell) -> str:
    """Return the levels of `TREATMENTS` as people write them, and those of a server."""
    from_disk = (
        "{file_system} {disk} partition {partition} queue {queue_depth} {scheduler} "
        "{readers} readers"
    ).format_map(setup)
    of_server = [level_label(name, setup[name]) for name in OF_SERVER if name in setup]
    return " ".join([from_disk, *([NFS] if of_server else []), *of_server])


def setup_of(levels: Mapping[str, Any]) -> Cell:
    """Return the setup of a row of levels: readers of files are not named as such."""
    cell = Cell(**levels)
    return cell.but(workload=None) if cell["workload"] == WORKLOAD else cell


@dataclass(frozen=True)
class Runs:
    """Trials of readers by one clock.

    Samples have the columns `block`, `above` and `below`, as `stats.effect` takes them; the value
    of a cell is total over total.
    """

    clock: str
    """`real time` or `virtual time`."""
    trials: pd.DataFrame
    """`trial`, `block`, the factors, `duration_s`, `bandwidth_b_s`; in virtual time also
    `reordered_percent`, the share of requests that were served before an older one that the disk
    had."""
    finishes: pd.DataFrame
    """`trial`, `rank` and `ended_s`, a row per reader."""
    scale: float
    """Share of the published size of the files."""
    flagged: frozenset[Cell] = frozenset()
    """Those of which the gate flagged a comparison."""

    @property
    def virtual(self) -> bool:
        """Return whether no kernel was there."""
        return self.clock == VIRTUAL

    def cell(self, setup: Mapping[str, Any]) -> pd.DataFrame:
        """Return the trials of a setup; none if it was not run.

        A setup without a workload is of readers of files, not of a server.
        """
        whole = {**dict.fromkeys(OF_SERVER), "workload": WORKLOAD, **setup}
        return self._at(frozenset(whole.items()))

    @kept
    def _at(self, levels: frozenset[tuple[str, Any]]) -> pd.DataFrame:
        return self.trials[at(self.trials, dict(levels))]

    def records(self, metric: str) -> bool:
        """Return whether these runs have what a metric is made of."""
        return set(COUNTS.get(metric, ())) <= set(self.trials)

    @kept
    def sample(self, setup: Cell, metric: str) -> pd.DataFrame:
        """Return a metric of a setup, trial by trial.

        `rate`: MiB read over seconds until the last reader was done (nfstricks03, 4.3); `elapsed`:
        those seconds; `finish N`: seconds until N readers were done; `spread`: the time of the last
        reader over that of the first; `bend`: the share of the variance of times that a straight
        line by rank leaves; `step N`: the time from the Nth to the next, over the mean of all such
        times; `reordered`: the share of requests that were served before an older one; `late`: the
        share of reads that a server took up after one that its client had numbered later; `ahead`:
        what a server asked for ahead, for each byte that was read.

        Raises FsgreenError if there is no such metric.
        """
        cell, last = self.cell(setup), setup["readers"]
        name, _, rank = metric.partition(" ")
        if name in ("rate", "elapsed"):
            seconds = cell["duration_s"]
            return (
                _sample(cell, cell["bandwidth_b_s"] * seconds / MIB, seconds)
                if name == "rate"
                else _sample(cell, seconds)
            )
        if name == "reordered":
            return _sample(cell, cell["reordered_percent"], 100.0)
        if name in ("late", "ahead"):
            return _sample(cell, *(cell[column] for column in COUNTS[name]))
        ended_s = self._ended_s(setup)
        match name:
            case "finish":
                return _sample(cell, ended_s[int(rank)])
            case "spread":
                return _sample(cell, ended_s[last], ended_s[1])
            case "bend":
                ranks = ended_s.columns.to_numpy(dtype=float)
                left = [1 - np.corrcoef(ranks, row)[0, 1] ** 2 for row in ended_s.to_numpy()]
                return _sample(cell, np.maximum(left, STRAIGHT))
            case "step":
                mean_s = (ended_s[last] - ended_s[1]) / (last - 1)
                return _sample(cell, ended_s[int(rank) + 1] - ended_s[int(rank)], mean_s)
        raise unknown("metric", metric, METRICS)

    def value(self, setup: Cell, metric: str) -> stats.Estimate:
        """Return a metric of a setup over all of its trials."""
        return total(self.sample(setup, metric))

    @kept
    def _ended_s(self, setup: Cell) -> pd.DataFrame:
        """Return when readers were done: a row for each trial of a setup, a column per rank."""
        trials = self.cell(setup)["trial"]
        own = self.finishes[self.finishes["trial"].isin(trials)]
        wide = own.pivot(index="trial", columns="rank", values="ended_s")
        return wide.reindex(trials)


def runs_of(campaign: str, trials: pd.DataFrame, finishes: pd.DataFrame) -> list[Runs]:
    """Return the runs of a campaign: those measured, and those in virtual time where there are any.

    `trials` and `finishes` are the tables of these names.
    """
    runs = [Runs(REAL, trials, finishes, scale_of(read_plan(campaign)))]
    simulated = virtual.read(campaign)
    if simulated is not None:
        runs.append(Runs(VIRTUAL, simulated.trials, simulated.finishes, scale_of(simulated.plan)))
    return runs


def scale_of(plan: Plan) -> float:
    """Return the share of the published size that the files of a plan have."""
    return plan.profile.scale[plan.baseline["workload"]]


def _sample(cell: pd.DataFrame, above: object, below: object = 1.0) -> pd.DataFrame:
    values = {"above": np.asarray(above, dtype=float), "below": np.asarray(below, dtype=float)}
    return pd.DataFrame({"block": cell["block"].to_numpy(), **values})
