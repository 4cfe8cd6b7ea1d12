"""Concurrent readers: how fast they are together, and when each of them is done."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fsgreen import stats, virtual
from fsgreen.design import Cell, Plan
from fsgreen.reduce import at, read_plan

MIB = 2**20
REAL, VIRTUAL = "real time", "virtual time"

ROUNDING = 1e-12
"""A line is no straighter than this share of its variance."""


TREATMENTS = ("disk", "partition", "queue_depth", "scheduler", "readers")
"""What readers read from, what orders their requests, and how many they are."""


def label(setup: Cell) -> str:
    """Return the levels of `TREATMENTS` as people write them."""
    return (
        "{disk} partition {partition} queue {queue_depth} {scheduler} {readers} readers"
    ).format_map(setup)


@dataclass(frozen=True)
class Runs:
    """Trials of readers by one clock.

    Samples have the columns `block`, `above` and `below`, as `stats.effect` takes them; the value
    of a cell is total over total.

    Attributes
    ----------
    clock : str
        `real time` or `virtual time`.
    trials : DataFrame
        `trial`, `block`, the factors, `duration_s`, `bandwidth_b_s`; in virtual time also
        `reordered_percent`, the share of requests that were served before an older one that the
        disk had.
    finishes : DataFrame
        `trial`, `rank` and `ended_s`, a row per reader.
    scale : float
        Share of the published size of the files.
    flagged : frozenset of Cell
        Those of which the gate flagged a comparison.
    """

    clock: str
    trials: pd.DataFrame
    finishes: pd.DataFrame
    scale: float
    flagged: frozenset[Cell] = frozenset()

    @property
    def virtual(self) -> bool:
        """Return whether no kernel was there."""
        return self.clock == VIRTUAL

    def cell(self, setup: Cell) -> pd.DataFrame:
        """Return the trials of a setup; none if it was not run."""
        return self.trials[at(self.trials, setup)]

    def rate(self, setup: Cell) -> pd.DataFrame:
        """Return MiB read over seconds until the last reader was done (nfstricks03, 4.3)."""
        cell = self.cell(setup)
        return _sample(cell, cell["bandwidth_b_s"] * cell["duration_s"] / MIB, cell["duration_s"])

    def duration(self, setup: Cell) -> pd.DataFrame:
        """Return seconds until the last reader was done."""
        cell = self.cell(setup)
        return _sample(cell, cell["duration_s"])

    def reordered(self, setup: Cell) -> pd.DataFrame:
        """Return the share of requests that were served before an older one, where it is known."""
        cell = self.cell(setup)
        return _sample(cell, cell["reordered_percent"], 100.0)

    def finish(self, setup: Cell, rank: int) -> pd.DataFrame:
        """Return seconds until so many readers were done; the last one is that of all."""
        cell, ended_s = self._ended_s(setup)
        return _sample(cell, ended_s[rank])

    def spread(self, setup: Cell) -> pd.DataFrame:
        """Return the time of the last reader over that of the first."""
        cell, ended_s = self._ended_s(setup)
        return _sample(cell, ended_s[setup["readers"]], ended_s[1])

    def bend(self, setup: Cell) -> pd.DataFrame:
        """Return the share of the variance of times that a straight line by rank leaves."""
        cell, ended_s = self._ended_s(setup)
        ranks = ended_s.columns.to_numpy(dtype=float)
        left = [1 - np.corrcoef(ranks, row)[0, 1] ** 2 for row in ended_s.to_numpy()]
        return _sample(cell, np.maximum(left, ROUNDING))

    def step(self, setup: Cell, rank: int) -> pd.DataFrame:
        """Return the time from one finisher to the next, over the mean of all such times."""
        cell, ended_s = self._ended_s(setup)
        mean_s = (ended_s[setup["readers"]] - ended_s[1]) / (setup["readers"] - 1)
        return _sample(cell, ended_s[rank + 1] - ended_s[rank], mean_s)

    def _ended_s(self, setup: Cell) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the trials of a setup, and a row for each with a column per rank."""
        cell = self.cell(setup)
        own = self.finishes[self.finishes["trial"].isin(cell["trial"])]
        wide = own.pivot(index="trial", columns="rank", values="ended_s")
        return cell, wide.reindex(cell["trial"])


def total(sample: pd.DataFrame) -> stats.Estimate:
    """Return the value of a sample, total over total; with an interval from enough trials on."""
    found = stats.ratio_of_totals(sample["above"], sample["below"])
    return found if found.n >= stats.MIN_BLOCKS else replace(found, low=math.nan, high=math.nan)


def runs_of(campaign: str, trials: pd.DataFrame, finishes: pd.DataFrame) -> list[Runs]:
    """Return the runs of a campaign: those measured, and those in virtual time where there are any.

    Parameters
    ----------
    campaign : str
        Its name.
    trials, finishes : DataFrame
        The tables `trials.csv` and `finishes.csv`.
    """
    found = [Runs(REAL, trials, finishes, _scale(read_plan(campaign)))]
    simulated = virtual.read(campaign)
    if simulated is not None:
        found.append(Runs(VIRTUAL, simulated.trials, simulated.finishes, _scale(simulated.plan)))
    return found


def _scale(plan: Plan) -> float:
    return plan.profile.scale[plan.baseline["workload"]]


def _sample(cell: pd.DataFrame, above: object, below: object = 1.0) -> pd.DataFrame:
    values = {"above": np.asarray(above, dtype=float), "below": np.asarray(below, dtype=float)}
    return pd.DataFrame({"block": cell["block"].to_numpy(), **values})
