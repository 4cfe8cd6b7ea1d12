"""Which trials are kept ready side by side, and in which order they take turns (rule 47).

These are randomised multiple interleaved trials (Abedi and Brecht, ICPE 2017). Compared cells see
the same minutes of the machine, so changes that are slower than a window cancel.
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

    A group has trials of one block and one workload. If a workload has more cells than may be
    ready, cells that differ only in their option stay together as far as they fit. A cell is
    measured once in a block, so it is in only one group. If the plan has no windows, each trial is
    its own group.

    `trials` are those to measure, in the order of the plan, which is random within a block.
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
    """Return the largest number of trials of a plan that are ready side by side."""
    return max(map(len, groups(plan, plan.trials)))


def rounds(plan: Plan, group: Group) -> list[Group]:
    """Return the order of the windows of a group, by round. Each trial has one window per round.

    The order depends only on the plan's seed and on the trials of the group.
    """
    windows = plan.profile.windows
    assert windows is not None
    names = [planned.trial for planned in group]
    shuffled = random.Random(derive_seed(plan.seed, "windows", *names))
    return [tuple(shuffled.sample(group, len(group))) for _ in range(windows.count)]


def most_cells(plan: Plan) -> int:
    """Return the largest number of cells of a workload of the plan.

    If it is more than may be ready, some compared cells see different minutes of the machine.
    """
    return max(Counter(cell["workload"] for cell in plan.cells).values())


def _split(trials: Sequence[PlannedTrial], ready: int) -> list[Group]:
    """Pack trials into groups of at most `ready`. Cells that differ only in option go together."""
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
