"""How long trials take, by those that were seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from fsgreen.design import Cell, Plan
from fsgreen.trial import Trial


class Pace:
    """Seconds that a trial costs: those of all attempts over the number of those that count.

    A cell of which none counts takes what its workload takes, else what any trial takes, else the
    least that the plan declares.
    """

    def __init__(self, plan: Plan) -> None:
        self._declared_s = plan.profile.least_trial_s
        self._spent_s: defaultdict[Cell | str, float] = defaultdict(float)
        self._counted: defaultdict[Cell | str, int] = defaultdict(int)

    @classmethod
    def of(cls, plan: Plan, trials: Iterable[Trial]) -> Pace:
        """Return the pace of trials on disk, those included that do not count."""
        pace = cls(plan)
        for trial in trials:
            pace.see(trial)
        return pace

    def see(self, trial: Trial) -> None:
        """Note a trial on disk."""
        if trial.record.phases:
            duration_s = trial.record.phases[-1].end_s - trial.record.clock.monotonic_s
            if trial.record.beside is not None:
                duration_s /= len(trial.record.beside.trials)
            cell = Cell(**trial.record.cell)
            self.add(cell, duration_s, counts=trial.record.exit == "ok")

    def add(self, cell: Cell, duration_s: float, *, counts: bool) -> None:
        """Note an attempt at a trial, and whether it counts."""
        for group in self._groups(cell):
            self._spent_s[group] += duration_s
            self._counted[group] += counts

    def total_s(self, cells: Iterable[Cell]) -> float:
        """Return what a trial of each of the cells costs together."""
        return sum(map(self._trial_s, cells))

    def _trial_s(self, cell: Cell) -> float:
        for group in self._groups(cell):
            if self._counted[group]:
                return self._spent_s[group] / self._counted[group]
        return self._declared_s

    @staticmethod
    def _groups(cell: Cell) -> tuple[Cell | str, ...]:
        return cell, cell["workload"], "any"


def foretold_s(plan: Plan, cells: Iterable[Cell], seen: Plan, pace: Pace) -> float:
    """Return what a trial of each of these cells is likely to take under another plan, in seconds.

    What trials took beside their declared phases (making files, waiting for idle power, those that
    do not count) grows with the files. Readers end with their files, so that all of it does.

    Parameters
    ----------
    plan : Plan
        The plan to come.
    cells : iterable of Cell
        Some of its cells.
    seen : Plan
        The plan of the trials that were seen.
    pace : Pace
        That of these trials.
    """
    total_s = 0.0
    for cell in cells:
        workload = cell["workload"]
        was = seen.profile.scale.get(workload, 1.0)
        files_x = plan.profile.scale.get(workload, was) / was
        one_s = pace.total_s([cell])
        if "readers" in cell:
            total_s += one_s * files_x
        else:
            beside_s = max(0.0, one_s - seen.profile.least_trial_s)
            total_s += plan.profile.least_trial_s + beside_s * max(1.0, files_x)
    return total_s
