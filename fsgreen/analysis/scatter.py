"""Cells that may be compared: their trials by block, and the scatter of all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.analysis import configuration
from fsgreen.design import Cell, metrics
from fsgreen.design.metrics import USUAL, Metric
from fsgreen.errors import FsgreenError
from fsgreen.reduce import at, blocks_by_clock, factors_of

TREATMENTS = ("file_system", "option")
"""The factors in which compared cells differ, unless a study names others."""


def conditions(names: Iterable[str], treatments: Iterable[str] = TREATMENTS) -> list[str]:
    """Return the names of the factors whose levels both cells of a comparison share."""
    apart = {*treatments, "load_ops_s"}
    return [name for name in names if name not in apart]


def sample(trials: pd.DataFrame, workload: str, cell: Cell, metric: str) -> pd.DataFrame:
    """Return `block`, `above` and `below` of each trial of a cell, as `stats.compare` reads them.

    Trials with a held load are left out.

    Raises FsgreenError if the trials are of several cells, for example with a warm and a cold
    cache.
    """
    chosen = least_set(
        trials[(trials["workload"] == workload) & at(trials, cell) & trials["load_ops_s"].isna()],
        cell,
    )
    for name in conditions(factors_of(trials), cell):
        if chosen[name].nunique(dropna=False) > 1:
            levels = ", ".join(sorted(map(str, chosen[name].unique())))
            raise FsgreenError(
                f"trials of {workload} {configuration.label(cell)} differ in {name}: {levels}",
                next_step=f"choose the trials of one {name}",
            )
    return totals(chosen, metrics.get(metric))


def least_set(trials: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    """Return the trials that set no factor beyond those of the cell; all if every trial sets it."""
    for name in factors_of(trials):
        if name not in cell:
            unset = trials[name].isna().to_numpy()
            if unset.any() and not unset.all():
                trials = trials[unset]
    return trials


def total(sample: pd.DataFrame) -> stats.Estimate:
    """Return the ratio of a sample's totals; with an interval if it has `stats.MIN_BLOCKS`."""
    value = stats.ratio_of_totals(sample["above"], sample["below"])
    return value if value.n >= stats.MIN_BLOCKS else replace(value, low=math.nan, high=math.nan)


def totals(cell: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """Return `block`, `above` and `below` of each trial that has the metric.

    `stats.compare` reads such a table.
    """
    above, below = metric.totals(cell)
    table = pd.DataFrame({"block": cell["block"], "above": above, "below": below})
    return table.dropna(subset=["above", "below"])


def by_block(sample: pd.DataFrame) -> pd.Series:
    """Return the ratio of a sample's totals in each block, indexed by block."""
    totals = sample.groupby("block")[["above", "below"]].sum()
    return totals["above"] / totals["below"]


@dataclass(frozen=True, eq=False)
class Group:
    """The cells that may be compared: those of one workload in one state."""

    conditions: Mapping[str, Any]
    """The levels that all of them share."""
    trials: pd.DataFrame
    """Their trials, rows of `trials.csv`."""
    treatments: Sequence[str]
    """The factors in which they differ."""
    compared_by: Sequence[Metric] = USUAL
    """The metrics in which they are compared."""
    among: int = 1
    """How many groups of cells the campaign has."""
    _models: dict[str, stats.MixedModel | None] = field(default_factory=dict)
    _coverages: dict[str, stats.OwnCoverage] = field(default_factory=dict)
    _cells: dict[Cell, pd.DataFrame] = field(default_factory=dict)

    def has(self, *cells: Cell) -> bool:
        """Return whether all of these cells were measured."""
        return {*cells} <= self._places.keys()

    def cell(self, cell: Cell) -> pd.DataFrame:
        """Return the trials of a cell that was measured."""
        if cell not in self._cells:
            self._cells[cell] = self.trials.iloc[self._places[cell]]
        return self._cells[cell]

    def model(self, metric: Metric) -> stats.MixedModel | None:
        """Return the mixed model of a metric, made at the first call; None without known blocks."""
        if metric.name not in self._models:
            blocks = self.trials["block"]
            above, below = metric.totals(self.trials)
            rates = {"cell": self._of_trials, "rate": above / below}
            table = pd.DataFrame({"block": blocks_by_clock(self.trials), **rates})
            table = table.dropna(subset="rate")
            known = blocks.notna().all()
            self._models[metric.name] = stats.mixed_model(table, "cell", "rate") if known else None
        return self._models[metric.name]

    def coverage(self, metric: Metric) -> stats.OwnCoverage:
        """Return the simulated coverage of intervals with the scatter of these trials.

        There must be a model of the metric.
        """
        model = self.model(metric)
        assert model is not None
        if metric.name not in self._coverages:
            among = self.among * len(self.compared_by)
            coverage = stats.own_coverage(model.whole, model.depends, among=among)
            self._coverages[metric.name] = coverage
        return self._coverages[metric.name]

    def scatter(self, metric: Metric, *cells: Cell) -> stats.Scatter | None:
        """Return the scatter for comparing these cells; None if their model does not hold."""
        model = self.model(metric)
        return None if model is None else model.scatter(*cells)

    @cached_property
    def _of_trials(self) -> list[Cell]:
        return [Cell(**row) for row in self.trials[[*self.treatments]].to_dict("records")]

    @cached_property
    def _places(self) -> Mapping[Cell, list[int]]:
        """The row numbers of each cell's trials, from one pass: a table per cell is slow."""
        places: dict[Cell, list[int]] = {}
        for nth, cell in enumerate(self._of_trials):
            places.setdefault(cell, []).append(nth)
        return places


def groups_of(
    trials: pd.DataFrame,
    treatments: Sequence[str] = TREATMENTS,
    compared_by: Sequence[Metric] = USUAL,
) -> list[Group]:
    """Return the cells that may be compared, in groups.

    Groups keep their models, so that several calls of `compared` can share them.
    """
    unlimited = trials[trials["load_ops_s"].isna()]
    shared = conditions(factors_of(trials), treatments)
    groups = unlimited.groupby(shared, dropna=False)
    return [
        Group(dict(zip(shared, key, strict=True)), these, treatments, compared_by, groups.ngroups)
        for key, these in groups
    ]


@dataclass(frozen=True, eq=False)
class Scatters:
    """The scatter of trials without a held load, from one model per workload, made when needed.

    With it, `stats.effect` gives the same result for two samples as `effects_table`.
    """

    trials: pd.DataFrame
    treatments: Sequence[str] = TREATMENTS
    _groups: dict[str, list[Group]] = field(default_factory=dict)

    def of(self, workload: str, metric: str, *cells: Cell) -> stats.Scatter | None:
        """Return the scatter for comparing these cells.

        None if the model does not hold for them (`MixedModel.refuses`), or if the trials of the
        workload are in several states.
        """
        if workload not in self._groups:
            of_workload = self.trials[self.trials["workload"] == workload]
            self._groups[workload] = groups_of(of_workload, self.treatments)
        groups = self._groups[workload]
        return groups[0].scatter(metrics.get(metric), *cells) if len(groups) == 1 else None
