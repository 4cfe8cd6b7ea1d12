"""The pilot of a plan: a campaign that predicts scatter, state and duration of its trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from fsgreen import paths, stats
from fsgreen.analysis.claims.source import Source
from fsgreen.analysis.kept import kept
from fsgreen.analysis.scatter import by_block
from fsgreen.campaign.pace import Pace, foretold_s
from fsgreen.design import Cell, Plan, Windows, factors
from fsgreen.reduce import read_plan, read_table
from fsgreen.rules.turns import components_of, left_by_turns
from fsgreen.trial import Trial, list_trials


@dataclass(frozen=True, eq=False)
class Pilot:
    """A campaign whose trials scatter as those of a plan will."""

    name: str
    plan: Plan
    testbed: str
    """The kind of its testbed."""
    source: Source
    """Its trials."""
    pace: Pace | None = None
    """How long its trials took."""
    turns: Mapping[str, stats.TurnComponents] = field(default_factory=dict)
    """Components of variance by workload, if its cells took turns."""
    left_x: Mapping[str, float] = field(default_factory=dict)
    """By workload, the share of an interval's width that would be left if cells took turns; only
    where they did not."""

    @classmethod
    def of(cls, campaign: str, testbed: str, source: Source) -> Pilot:
        """Read the pilot of this name; `source` has its trials.

        Raises FsgreenError if it has no plan, or its tables have not been made.
        """
        plan, trials = read_plan(campaign), list_trials(paths.raw(campaign))
        pace = Pace.of(plan, trials) if trials else None
        turns: dict[str, stats.TurnComponents] = {}
        left_x: dict[str, float] = {}
        if not plan.readers_only:
            table = source.trials[source.trials["load_ops_s"].isna()]
            series = read_table(campaign, "series")
            windows, tell = plan.profile.windows, _of_turns(trials)
            for workload, these in table.groupby("workload"):
                if windows is None:
                    left_x[str(workload)] = left_by_turns(these, series)
                elif _positive(these, series):
                    turns[str(workload)] = tell(these, series)
        left_x = {name: share for name, share in left_x.items() if not math.isnan(share)}
        return cls(campaign, plan, testbed, source, pace, turns, left_x)

    @kept
    def estimate(
        self, metric: str, cell: Cell, baseline: Cell | None = None, other_metric: str | None = None
    ) -> stats.Estimate:
        """Return the pilot's estimate of a cell, or of its ratio to another cell.

        It has no interval if the pilot has no trials of one of them.
        """
        cells = [cell] if baseline is None else [cell, baseline]
        if any(self.source.cell(cell).empty for cell in cells):
            return stats.Estimate.without_interval()
        if baseline is None:
            return self.source.value(metric, cell)
        return self.source.effect(metric, cell, baseline, other_metric)

    def components(self, metric: str, cell: Cell) -> stats.Components:
        """Return the components of variance of a metric over all cells with this cell's workload.

        NaN if the pilot does not have two of them in two blocks. Values that have no logarithm
        count as missing.
        """
        return self._components(metric, cell.only(factors.of_owner("workload")))

    @kept
    def _components(self, metric: str, work: Cell) -> stats.Components:
        of_work = factors.of_owner("workload")
        alike = [
            candidate
            for candidate in self.plan.cells
            if {**candidate.only(of_work), **work} == {**candidate.only(of_work)}
            and ("load_ops_s" in candidate) == ("load_ops_s" in work)
        ]
        measured = [candidate for candidate in alike if not self.source.cell(candidate).empty]
        rates = [by_block(self.source.sample(candidate, metric)) for candidate in measured]
        table = pd.DataFrame(rates).to_numpy(dtype=float) if rates else np.empty((0, 0))
        sound = np.where(np.isfinite(table) & (table > 0), table, math.nan)
        return stats.variance_components(sound)

    def by_turns_x(self, workload: str, windows: Windows | None) -> float:
        """Return the scatter of a trial with these windows, relative to that of a pilot's trial.

        1 if one of the two has no windows, as the effect of turns is then unknown. The windows of a
        trial are assumed to be independent, so that longer or more of them scatter less.
        """
        were, components = self.plan.profile.windows, self.turns.get(workload)
        if windows is None or were is None or components is None:
            return 1.0
        window_percent = components.window_percent * math.sqrt(were.length_s / windows.length_s)
        will = math.hypot(components.making_percent, window_percent / math.sqrt(windows.count))
        was_percent = components.window_percent / math.sqrt(were.count)
        was = math.hypot(components.making_percent, was_percent)
        return will / was if was > 0 else 1.0

    def block_s(self, plan: Plan, cells: Iterable[Cell]) -> float | None:
        """Return the likely duration of a block of these cells in seconds; None without a pace."""
        return None if self.pace is None else foretold_s(plan, cells, self.plan, self.pace)


def _of_turns(
    trials: Iterable[Trial],
) -> Callable[[pd.DataFrame, pd.DataFrame], stats.TurnComponents]:
    beside = {
        trial.name: trial.record.beside.trials
        for trial in trials
        if trial.record.beside is not None
    }
    return lambda table, series: components_of(table, series, beside)


def _positive(trials: pd.DataFrame, series: pd.DataFrame) -> bool:
    """Return whether work was done in each window, as a rate of zero has no logarithm."""
    rates = series.loc[series["trial"].isin(trials["trial"]), "throughput_ops_s"]
    return bool((rates > 0).all())
