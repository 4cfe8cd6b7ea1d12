"""How long trials take, estimated from earlier ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from fsgreen.design import Cell, Plan
from fsgreen.trial import Trial


class Pace:
    """The seconds per trial that counts: the time of all attempts over the number that count.

    If no trial of a cell counts, the pace of its workload is taken, else that of all trials, else
    the least duration that the plan declares.
    """

    def __init__(self, plan: Plan) -> None:
        self._declared_s = plan.profile.least_trial_s
        self._spent_s: defaultdict[Cell | str, float] = defaultdict(float)
        self._counted: defaultdict[Cell | str, int] = defaultdict(int)

    @classmethod
    def of(cls, plan: Plan, trials: Iterable[Trial]) -> Pace:
        """Return the pace of trials on disk. It includes those that do not count."""
        pace = cls(plan)
        for trial in trials:
            pace.see(trial)
        return pace

    def see(self, trial: Trial) -> None:
        """Add a trial on disk."""
        if trial.record.phases:
            duration_s = trial.record.phases[-1].end_s - trial.record.clock.monotonic_s
            if trial.record.beside is not None:
                duration_s /= len(trial.record.beside.trials)
            cell = Cell(**trial.record.cell)
            self.add(cell, duration_s, counts=trial.record.exit == "ok")

    def add(self, cell: Cell, duration_s: float, *, counts: bool) -> None:
        """Add an attempt at a trial, and whether it counts."""
        for group in self._groups(cell):
            self._spent_s[group] += duration_s
            self._counted[group] += counts

    def total_s(self, cells: Iterable[Cell]) -> float:
        """Return the total seconds of one trial of each cell."""
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
    """Return the likely total seconds of one trial of each cell under another plan.

    The time beyond the declared phases (making files, waiting for idle power, attempts that do not
    count) grows with the files. Readers end with their files, so all of their time grows.

    `plan` is the plan of the future trials, and `cells` are some of its cells. `seen` and `pace`
    are those of the past trials.
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
