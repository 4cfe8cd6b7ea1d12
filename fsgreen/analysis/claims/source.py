"""What claims are judged on: trials of a campaign, or of a model in virtual time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from fsgreen import stats
from fsgreen.analysis.cells import is_steady
from fsgreen.analysis.claims.assay import with_power
from fsgreen.analysis.claims.cells import differing, spelled
from fsgreen.analysis.claims.states import State, outside
from fsgreen.analysis.kept import kept
from fsgreen.analysis.scatter import TREATMENTS, Scatters, least_set, sample, total
from fsgreen.claims import OTHER_STATE, Band, Part
from fsgreen.confounds import Gate
from fsgreen.design import Cell, Plan, metrics
from fsgreen.design.metrics import THROUGHPUT
from fsgreen.errors import FsgreenError, unknown
from fsgreen.reduce import at, factors_of
from fsgreen.stats import distributions

Numbers = Sequence[Mapping[str, Any]]
"""The published numbers of a claim."""

TRIALS, DEVIATION = OF_CELLS = ("trials", "deviation")
"""Metrics that no single trial has: how many there are, and how far their throughput scatters."""


@dataclass(frozen=True)
class Source:
    """Trials, and what it takes to judge claims on them."""

    trials: pd.DataFrame
    """The table `trials.csv`, or one like it."""
    bound: float
    """Relative difference within which two cells are equal, from the plan."""
    needs: Mapping[str, str]
    """Texts for what a test would take, by name; a level of that name is one that nothing has."""
    boundary: str = ""
    """What the power of the trials includes; `modelled` power decides nothing (rule 19)."""
    gate: Gate | None = None
    """Knows what a campaign held; in virtual time there is nothing that was not declared."""
    clock: str = ""
    """Real or virtual time, where a study has both."""
    treatments: Sequence[str] = TREATMENTS
    """Factors over which cells share the model of their scatter; without any there is no model."""
    spelled: Callable[[Cell], str] = field(default=spelled, repr=False)
    """Gives a cell as people write it."""
    of_each_reader: Sequence[str] = ()
    """Metrics of single readers, which a total hides from the gate."""
    inherent: Mapping[str, float] = field(default_factory=dict)
    """What is so of all trials by how they are made, by columns of a trial's state: virtual time
    has no counters."""

    @cached_property
    def scatters(self) -> Scatters:
        """How far the trials scatter."""
        return Scatters(self.trials, self.treatments)

    @kept
    def cell(self, cell: Cell) -> pd.DataFrame:
        """Return the trials of a cell, as fast as they go unless it has a load."""
        chosen = at(self.trials, cell)
        if "load_ops_s" in self.trials and "load_ops_s" not in cell:
            chosen &= self.trials["load_ops_s"].isna()
        return least_set(self.trials, chosen, cell)

    @cached_property
    def _levels(self) -> set[Any]:
        """The levels that trials have."""
        return {level for name in factors_of(self.trials) for level in self.trials[name].unique()}

    def missing(self, *cells: Cell) -> dict[str, Any]:
        """Return what a part on cells lacks, as fields of a `Part`, or nothing."""
        unknown_levels = {*self.needs} - self._levels
        needs = {
            cell: [level for level in cell.values() if level in unknown_levels]
            for cell in cells
            if self.cell(cell).empty
        }
        texts = dict.fromkeys(self.needs[level] for levels in needs.values() for level in levels)
        lacks = tuple(self.spelled(cell) for cell, levels in needs.items() if not levels)
        fields = {"needs": "; ".join(texts), "lacks": lacks}
        return {name: value for name, value in fields.items() if value}

    def steadily(self, part: Part, metric: str = THROUGHPUT.name) -> Part:
        """Return a part as it is, or inconclusive if a cell of it has no steady state (rule 24).

        What is about energy needs a steady power, too.
        """
        known = metrics.get(metric) if metric in metrics.names() else THROUGHPUT
        steady = all(is_steady(self.cell(Cell(**cell)), known) for cell in part.cells)
        return part if steady else replace(part, verdict="inconclusive")

    @kept
    def sample(self, cell: Cell, metric: str) -> pd.DataFrame:
        """Return block, above and below of a metric, or of a column whose mean is taken.

        Raises FsgreenError where there is no such metric or column, or the cell has no workload.
        """
        if metric not in (*metrics.names(), *self.trials):
            raise unknown(
                "metric or column of trials.csv", metric, [*metrics.names(), *self.trials]
            )
        if "workload" not in cell:
            raise FsgreenError(
                f"the cell {self.spelled(cell)} of a claim names no workload",
                next_step="name it in the claim: where: {workload: webserver}",
            )
        levels = {name: level for name, level in cell.items() if name != "workload"}
        known = metric in metrics.names()
        name = metric if known else "throughput"
        chosen = sample(self.cell(cell), cell["workload"], Cell(**levels), name)
        if known:
            return chosen
        return chosen.assign(above=self.trials.loc[chosen.index, metric], below=1.0)

    def records(self, metric: str) -> bool:
        """Return whether the trials have what a metric is made of; there is no part without."""
        return True

    @kept
    def untold(self, metric: str, cell: Cell) -> bool:
        """Return whether trials of a cell do not tell a metric, as where no counter was read."""
        if self.cell(cell).empty or metric in OF_CELLS:
            return False
        told = self.sample(cell, metric)[["above", "below"]].to_numpy(dtype=float)
        return not np.isfinite(told).all()

    def meets(self, precondition: str, cell: Cell) -> bool:
        """Return whether a precondition of a part on a cell is met, by the name of its need.

        None is, but where a paper's own source can tell.
        """
        return False

    def would_meet(self, precondition: str, plan: Plan) -> bool:
        """Return whether the trials of another plan would meet a precondition, as `meets` does."""
        return False

    def value(self, metric: str, cell: Cell) -> stats.Estimate:
        """Return a metric of a cell, total over total; with an interval from enough trials on.

        The metric `trials` counts them; `deviation` is that of their throughput, over its mean.
        """
        if metric == TRIALS:
            n = len(self.cell(cell))
            return stats.Estimate.exactly(n, n)
        if metric == DEVIATION:
            return _deviation(self.cell(cell)["throughput_ops_s"])
        return total(self.sample(cell, metric))

    @kept
    def effect(
        self, metric: str, subject: Cell, baseline: Cell, other_metric: str | None = None
    ) -> stats.Estimate:
        """Return a metric of one cell over that of another, by the model where it may be used.

        `other_metric` is what is taken of the second, where it is another.
        """
        above = self.sample(subject, metric)
        below = self.sample(baseline, other_metric or metric)
        apart = differing(subject, baseline)
        if metric not in metrics.names() or not apart <= set(self.treatments):
            return stats.effect(above, below)
        of_model = [cell.only(self.treatments) for cell in (subject, baseline)]
        scatter = self.scatters.of(subject["workload"], metric, *of_model)
        return stats.effect(above, below, scatter)

    def same_by_model(
        self, metric: str, subject: Cell, baseline: Cell, other_metric: str | None = None
    ) -> bool:
        """Return whether a model gave two cells the same to the bit: it knows no difference.

        That they do not differ is then how it was made. Trials of a machine are never so alike.
        """
        if not self.inherent:
            return False
        above, below = (
            self.sample(cell, of).sort_values("block")[["above", "below"]].to_numpy()
            for cell, of in ((subject, metric), (baseline, other_metric or metric))
        )
        return np.array_equal(above, below)

    def part(
        self,
        what: str,
        target: Band,
        published: str,
        ours: Callable[[], stats.Estimate] | stats.Estimate,
        *of: Cell,
        metric: str = THROUGHPUT.name,
        **fields: Any,
    ) -> Part:
        """Return the part in which an estimate of a metric meets a band; or what it lacks.

        What makes the estimate is asked only where no cell of `of` lacks trials.
        """
        text = self.text(what)
        missing = self.missing(*of)
        if missing:
            unit = {} if self.clock else {key: fields[key] for key in ("unit",) if key in fields}
            return Part(
                text, "not testable here", published=published, source=self.clock, **unit, **missing
            )
        estimate = ours() if callable(ours) else ours
        fields |= {"source": self.clock, "cells": of}
        part = Part.judged(text, estimate, target, published, "measured", **fields)
        return with_power(self.steadily(part, metric), self.bound)

    def text(self, what: str) -> str:
        """Return what a part is called, with the clock where the study has two."""
        return f"{what} ({self.clock})" if self.clock else what

    def gated(self, part: Part, subject: Cell, baseline: Cell, metric: str) -> Part:
        """Return a part with what the gate says of two cells; what differs is compared.

        Two workloads are not compared by what holds their files.
        """
        apart = differing(subject, baseline)
        if self.gate is None or part.ours is None or "workload" in apart:
            return part
        candidate, against = (
            self.cell(cell)[factors_of(self.trials)].iloc[0].to_dict()
            for cell in (subject, baseline)
        )
        ruling = self.gate.rule(
            candidate,
            against,
            apart,
            part.ours,
            of_each_reader=metric.partition(" ")[0] in self.of_each_reader,
        )
        return replace(part, gate=ruling.state)

    def requiring(self, part: Part, precondition: str, met: bool) -> Part:
        """Return a part, undecided where its precondition, by the name of the need, is not met."""
        if met or not part.tested:
            return part
        needs = self.needs[precondition]
        return Part(part.what, "not testable here", published=part.published, needs=needs)

    def in_state(
        self, part: Part, states: Iterable[State], cells: Iterable[Mapping[str, Any]] | None = None
    ) -> Part:
        """Return a part as it is, or undecided on trials in another state (rule 45).

        Without the cells that it rests on it rests on all.
        """
        if not part.tested:
            return part
        own = None if cells is None else [Cell(**cell) for cell in cells]
        on = self._every() if own is None else ((cell, self.cell(cell)) for cell in own)
        if self.inherent:
            on = ((cell, rows.assign(**self.inherent)) for cell, rows in on)
        misses = outside(states, on)
        if not misses:
            return part
        return replace(part, verdict=OTHER_STATE, basis=None, found=tuple(misses))

    def _every(self) -> Iterator[tuple[Cell, pd.DataFrame]]:
        """Yield each cell with its trials."""
        names = factors_of(self.trials)
        for levels, rows in self.trials.groupby(names, dropna=False):
            known = {k: level for k, level in zip(names, levels, strict=True) if pd.notna(level)}
            yield Cell(**known), rows

    def about_power(self, part: Part) -> Part:
        """Return a part about power as it is, or undecided where power is modelled (rule 19)."""
        if self.boundary != "modelled":
            return part
        needs = self.needs["wall-meter"]
        return replace(part, verdict="not testable here", basis=None, needs=needs)


def _deviation(values: pd.Series) -> stats.Estimate:
    """Return the standard deviation over the mean, with the interval of normal trials."""
    n, share = len(values), float(values.std() / values.mean())
    if n < stats.MIN_BLOCKS:
        return stats.Estimate.without_interval(share, n)
    tails = distributions.chi2_quantile([1 - stats.LEVEL / 2, stats.LEVEL / 2], n - 1)
    low, high = (share * math.sqrt((n - 1) / tail) for tail in tails)
    return stats.Estimate(share, low, high, n)
