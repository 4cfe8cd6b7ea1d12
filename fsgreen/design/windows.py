"""Which trials are kept ready side by side, and in which order they take turns (rule 47).

Randomised multiple interleaved trials (Abedi and Brecht, ICPE 2017): cells that are compared see
the same minutes of the machine, so that what moves more slowly than a window cancels.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from fsgreen.design.blocks import PlannedTrial, derive_seed
from fsgreen.design.cell import DEFAULT, Cell
from fsgreen.design.plan import Plan

Group = tuple[PlannedTrial, ...]


def groups(plan: Plan, trials: Sequence[PlannedTrial]) -> list[Group]:
    """Return the groups of trials that take turns, in the order in which they are measured.

    A group has trials of one block and one workload. Where a workload has more cells than may be
    ready, those that share a default option stay together as far as they fit; a trial is measured
    once in a block, and so its cell is in one group alone. Each trial is a group of its own where
    the plan has no windows.

    Parameters
    ----------
    plan : Plan
        The plan that they are of.
    trials : sequence of PlannedTrial
        What is to be measured, in the order of the plan, which is random within a block.
    """
    windows = plan.profile.windows
    if windows is None:
        return [(planned,) for planned in trials]
    made: list[Group] = []
    for _, of_block in groupby(trials, key=lambda planned: planned.block):
        by_workload: dict[object, list[PlannedTrial]] = {}
        for planned in of_block:
            by_workload.setdefault(planned.cell["workload"], []).append(planned)
        for together in by_workload.values():
            made += _split(together, windows.ready)
    return made


def most_ready(plan: Plan) -> int:
    """Return how many trials of a plan are ready side by side at most."""
    return max(map(len, groups(plan, plan.trials)))


def rounds(plan: Plan, group: Group) -> list[Group]:
    """Return the order of the windows of a group: in each round, every trial has one.

    It depends on the plan's seed and the trials of the group alone.
    """
    windows = plan.profile.windows
    assert windows is not None
    names = [planned.trial for planned in group]
    shuffled = random.Random(derive_seed(plan.seed, "windows", *names))
    return [tuple(shuffled.sample(group, len(group))) for _ in range(windows.count)]


def most_cells(plan: Plan) -> int:
    """Return how many cells a workload of the plan has at most.

    Above what may be ready, some see different minutes of the machine, as all do without windows.
    """
    return max(Counter(cell["workload"] for cell in plan.cells).values())


def _split(trials: Sequence[PlannedTrial], ready: int) -> list[Group]:
    """Pack trials into groups of `ready` at most, those with one default option into one."""
    alike: dict[Cell, list[PlannedTrial]] = {}
    for planned in trials:
        alike.setdefault(planned.cell.but(option=DEFAULT), []).append(planned)
    split: list[list[PlannedTrial]] = []
    for together in alike.values():
        if not split or len(split[-1]) + len(together) > ready:
            split.append([])
        for planned in together:
            if len(split[-1]) == ready:
                split.append([])
            split[-1].append(planned)
    return [tuple(group) for group in split if group]
