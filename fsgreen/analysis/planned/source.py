"""The cells of a plan as a source for claims, before any of them was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from fsgreen import stats
from fsgreen.analysis.cells import at_baseline
from fsgreen.analysis.claims.assay import Precision
from fsgreen.analysis.claims.cells import differing
from fsgreen.analysis.claims.source import Source
from fsgreen.analysis.planned.pilot import Pilot
from fsgreen.analysis.planned.reach import Expected, Reach, power_of
from fsgreen.claims import Band, Part
from fsgreen.design import Cell, Plan, Windows, columns, metrics
from fsgreen.reduce import at

OF_MKFS = ("block_b", "inode_b")
"""State columns that mkfs sets. They depend on neither the scale nor the memory."""


@dataclass(frozen=True)
class Planned(Source):
    """The cells of a plan, with the scatter of a pilot; without one, the scatter is unknown.

    `trials` has the levels of each cell, and what is known beforehand of the state of its trials.
    `narrower` has, by workload, a factor that errors are multiplied by, to try smaller errors.
    `asked` collects the labels of the cells that claims look at.
    """

    plan: Plan = field(kw_only=True)
    pilot: Pilot | None = field(kw_only=True)
    narrower: Mapping[str, float] = field(default_factory=dict, kw_only=True)
    asked: set[str] = field(default_factory=set, kw_only=True, compare=False)

    @classmethod
    def of(
        cls, plan: Plan, pilot: Pilot | None, needs: Mapping[str, str], treatments: Collection[str]
    ) -> Planned:
        """Return the cells of a plan that are in the state of its baseline, as a source."""
        bound = plan.bounds.get("equivalence_percent", math.nan) / 100
        table = at_baseline(_table(plan, pilot), plan, [*treatments])
        if pilot is None:
            return cls(table, bound, needs, treatments=[*treatments], plan=plan, pilot=None)
        source = pilot.source
        return cls(
            table,
            bound,
            needs,
            source.boundary,
            treatments=source.treatments,
            spelled=source.spelled,
            plan=plan,
            pilot=pilot,
        )

    def under(
        self,
        blocks: int | None = None,
        windows: Windows | None = None,
        labels: Collection[str] | None = None,
        narrower: Mapping[str, float] | None = None,
    ) -> Planned:
        """Return the same plan with other blocks, windows or errors, or with only some cells."""
        profile = self.plan.profile
        if windows is not None:
            measure_s = windows.count * windows.length_s
            profile = replace(profile, windows=windows, measure_s=measure_s)
        if blocks is not None:
            profile = replace(profile, blocks=blocks, most_blocks=None)
        trials = self.trials if labels is None else self.trials[self.trials["label"].isin(labels)]
        plan = replace(self.plan, profile=profile)
        return replace(
            self, trials=trials, plan=plan, asked=set(), narrower=narrower or self.narrower
        )

    @property
    def blocks(self) -> int:
        """Return the least number of blocks of a cell."""
        return self.plan.profile.blocks

    @property
    def cells(self) -> list[Cell]:
        """Return the cells."""
        labels = {*self.trials["label"]}
        return [cell for cell in self.plan.cells if cell.label in labels]

    def cell(self, cell: Cell) -> pd.DataFrame:
        """Return what is known of the future trials of a cell; empty if the plan lacks the cell."""
        trials = super().cell(cell)
        self.asked.update(trials["label"])
        return trials

    def meets(self, precondition: str, cell: Cell) -> bool:
        """Return whether the trials of the plan will meet a precondition."""
        return self.pilot is not None and self.pilot.source.would_meet(precondition, self.plan)

    def records(self, metric: str) -> bool:
        """Return whether trials will have the columns that a metric needs."""
        return self.pilot is None or self.pilot.source.records(metric)

    def untold(self, metric: str, cell: Cell) -> bool:
        """Return False, as only measured trials show what they lack."""
        return False

    def about_power(self, part: Part) -> Part:
        """Return a part about power as the pilot would decide it; unchanged without a pilot."""
        return part if self.pilot is None else self.pilot.source.about_power(part)

    def value(self, metric: str, cell: Cell) -> stats.Estimate:
        """Return the expected estimate of a metric of a cell.

        The metric `trials` is their number.
        """
        if metric == "trials":
            return stats.Estimate.exactly(self.blocks, self.blocks)
        if self.pilot is None:
            return Expected.of(None, self.blocks)
        ours = self.pilot.estimate(metric, cell)
        known = Precision.of(ours)
        if known is not None:
            reach = Reach(known.error * math.sqrt(ours.n), 1, known.of_logs)
            return Expected.of(reach, self.blocks)
        sd = self.pilot.components(metric, cell).total_percent / 100
        error = math.sqrt(math.expm1(sd**2))
        return Expected.of(Reach(error, 1) if error > 0 else None, self.blocks)

    def effect(
        self, metric: str, subject: Cell, baseline: Cell, other_metric: str | None = None
    ) -> stats.Estimate:
        """Return the expected estimate of a metric of one cell over that of another.

        Its precision comes from the pilot's interval of the two cells. If there is none, it comes
        from the scatter of all cells of the pilot that have the first cell's workload.
        """
        if self.pilot is None:
            return Expected.of(None, self.blocks)
        ours = self.pilot.estimate(metric, subject, baseline, other_metric)
        known = Precision.of(ours)
        if known is None:
            reach = self.shared_reach(metric, subject)
            if reach is not None and not self._pools(metric, subject, baseline):
                reach = replace(reach, degrees=1)
            return Expected.of(reach, self.blocks)
        # An interval from the scatter of all cells gains degrees of freedom with each cell.
        degrees = self._shared_degrees(subject) if ours.degrees > ours.n - 1 else 1
        error = known.error * math.sqrt(ours.n) * self._by_turns_x(subject)
        return Expected.of(Reach(error, degrees, known.of_logs), self.blocks)

    def shared_reach(self, metric: str, cell: Cell) -> Reach | None:
        """Return the reach of the ratio of two cells, from the scatter of all cells.

        These are the cells of the pilot with this cell's workload. None if it does not have two.
        """
        if self.pilot is None:
            return None
        sd = self.pilot.components(metric, cell).trial_percent / 100 * self._by_turns_x(cell)
        error = math.sqrt(2 * math.expm1(sd**2))
        return Reach(error, self._shared_degrees(cell)) if error > 0 else None

    def part(
        self,
        what: str,
        target: Band,
        published: str,
        ours: Callable[[], stats.Estimate] | stats.Estimate,
        *of: Cell,
        metric: str = metrics.THROUGHPUT.name,
        **fields: Any,
    ) -> Part:
        """Return a part with its power, or with what it lacks.

        Its verdict is "reproduced": the power is the probability of that verdict. That the cells
        will have a steady state in the metric is taken for granted.
        """
        if missing := self.missing(*of):
            return Part(what, "not testable here", published=published, **missing)
        known = ours() if callable(ours) else ours
        part = Part(what, "reproduced", "measured", published, target, known, **fields)
        return replace(part, power=power_of(part, self.blocks, self.bound))

    def _pools(self, metric: str, subject: Cell, baseline: Cell) -> bool:
        """Return whether an interval of two cells may use the scatter of all cells."""
        return metric in metrics.names() and differing(subject, baseline) <= {*self.treatments}

    def _by_turns_x(self, cell: Cell) -> float:
        assert self.pilot is not None
        workload = str(cell.get("workload"))
        turns_x = self.pilot.by_turns_x(workload, self.plan.profile.windows)
        return turns_x * self.narrower.get(workload, 1.0)

    def _shared_degrees(self, cell: Cell) -> int:
        """Return the degrees of freedom that a block adds for all cells of a workload."""
        of_work = super().cell(cell.only(["workload"]))
        return max(1, int(of_work["label"].nunique()) - 1)


def _table(plan: Plan, pilot: Pilot | None) -> pd.DataFrame:
    """Return the levels of each cell, and what is known beforehand of the state of its trials.

    There is a row for each trial of the pilot, so that a state may hold for some of them.
    """
    rows = []
    events = {"events_count": len(plan.profile.events)}
    for cell in plan.cells:
        levels = plan.levels(cell)
        known = dict.fromkeys(columns.STATE, math.nan)
        known["memory_limit_b"] = plan.memory_limit_b(cell) or math.nan
        states = (
            [known] if pilot is None else [{**known, **own} for own in _states(plan, cell, pilot)]
        )
        rows += [{"label": cell.label, **levels, **state, **events} for state in states or [known]]
    return pd.DataFrame(rows)


def _states(plan: Plan, cell: Cell, pilot: Pilot) -> list[dict[str, float]]:
    """Return the states of a cell's trials in the pilot, as far as they will be the same again.

    If the files, the memory or the device have another size, only the columns of `OF_MKFS` and the
    scaled size of the files are known.
    """
    trials = pilot.source.trials
    levels = {name: level for name, level in plan.levels(cell).items() if name in trials}
    levels.pop("memory_mib", None)
    was, will = pilot.plan.profile, plan.profile
    workload = cell["workload"]
    files_x = will.scale.get(workload, 1.0) / was.scale.get(workload, 1.0)
    limit_b = plan.memory_limit_b(cell)
    alike = files_x == 1 and was.image_b == will.image_b
    alike = alike and limit_b == pilot.plan.memory_limit_b(cell)
    kept = [name for name in (columns.STATE if alike else OF_MKFS) if name in trials]
    states = []
    for row in trials[at(trials, levels)].to_dict("records"):
        state = {name: float(row[name]) for name in kept}
        files_b = files_x * float(row.get("files_b", math.nan))
        limits = {} if limit_b is None else {"data_over_memory_x": files_b / limit_b}
        states.append({**state, "files_b": files_b, **limits})
    return states
