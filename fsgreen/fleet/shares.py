"""The design in which testbeds that are equal share the blocks of one plan.

A block is measured on one testbed, so that nothing is compared across testbeds here either: were
cells shared out, the ratio of two of them would hold what is left of a difference between machines.
A testbed that is free takes the next block; where none is left, it begins one anew that a testbed
has which is lost. A block counts where it was given last, so that nothing is lost or doubled.
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from fsgreen import paths
from fsgreen.design import Cell, Plan, PlannedTrial
from fsgreen.design.members import member
from fsgreen.errors import FsgreenError
from fsgreen.fleet import given
from fsgreen.fleet.messages import Order
from fsgreen.fleet.tally import Count, Tally

GIVEN_UP_S = 60.0
"""How long a testbed may be lost before another begins its block anew."""


class Shares:
    """What each testbed measures: one block after the other, as long as there are any.

    Parameters
    ----------
    order : Order
        What is measured.
    plan : Plan
        That of all testbeds.
    testbeds : sequence of str
        Where.

    Raises
    ------
    FsgreenError
        If what an earlier start noted is damaged or of another plan, or a trial is damaged.
    """

    def __init__(self, order: Order, plan: Plan, testbeds: Sequence[str]) -> None:
        self.order = order
        self._plan = plan
        self._planned = {planned.trial: planned for planned in plan.trials}
        self._blocks: dict[int, dict[str, Cell]] = {}
        for planned in plan.trials:
            self._blocks.setdefault(planned.block, {})[planned.trial] = planned.cell
        self._left = Counter(planned.cell for planned in plan.trials)
        owners = given.owners(order.campaign)
        for block, name in owners.items():
            if block not in self._blocks:
                raise FsgreenError(
                    f"block {block} was given to {name}, and the plan has none of that number",
                    where=given.file_of(order.campaign),
                    next_step="undo the change of the study, or begin another campaign with --name",
                )
        self._has: dict[str, list[int]] = {name: [] for name in [*testbeds, *owners.values()]}
        for block, name in owners.items():
            self._has[name].append(block)
        self._free = deque(block for block in self._blocks if block not in owners)
        self._tallies = {name: Tally(paths.raw(member(order.campaign, name))) for name in self._has}
        self._lost_s = {
            name: time.monotonic() if name in testbeds else -math.inf for name in self._has
        }
        for name in self._has:
            self.count(name)

    @property
    def is_over(self) -> bool:
        """Whether every block is here whole."""
        return not self._blocks

    def is_done(self, _testbed: str) -> bool:
        """Return whether a testbed is done with: as soon as that holds of all."""
        return self.is_over

    def is_planned(self, value: dict[str, Any], _testbed: str) -> bool:
        """Return whether `plan.json` of any testbed holds the plan whose blocks are shared out."""
        return value == self._plan.to_json()

    def planned(self, trial: str, _testbed: str) -> PlannedTrial | None:
        """Return the trial of that name in the plan, if there is one."""
        return self._planned.get(trial)

    def next(self, testbed: str) -> Order | None:
        """Return what a testbed is to measure now: its block, or none where that is over.

        None where others are at all the blocks that are left.
        """
        mine = self._has[testbed]
        if not mine and not self.is_over and not self._take(testbed):
            return None
        return self.order.model_copy(update={"blocks": tuple(mine[:1])})

    def count(self, testbed: str) -> Count:
        """Return how far a testbed is; raises FsgreenError where a trial is damaged."""
        tally = self._tallies[testbed]
        tally.look(self._plan)
        for block in [*self._has[testbed]]:
            if self._blocks[block].keys() <= tally.here:
                self._has[testbed].remove(block)
                self._left -= Counter(self._blocks.pop(block).values())
        return Count(len(tally.here), 0, tally.takes_s(self._left))

    def answers(self, testbed: str) -> None:
        """Note that the worker of a testbed is there; it may still be ending a trial."""
        self._lost_s[testbed] = math.inf

    def is_lost(self, testbed: str, *, for_good: bool) -> None:
        """Note that it does not answer any more, or that the testbed does not go on."""
        since_s = -math.inf if for_good else time.monotonic()
        self._lost_s[testbed] = min(self._lost_s[testbed], since_s)

    def _take(self, testbed: str) -> bool:
        """Give a testbed a block that nobody has, or one of a testbed that is lost."""
        if self._free:
            block = self._free.popleft()
        else:
            latest_s = time.monotonic() - GIVEN_UP_S
            gone = (has for name, has in self._has.items() if self._lost_s[name] <= latest_s)
            left = next(filter(None, gone), None)
            if left is None:
                return False
            block = left.pop()
        given.give(self.order.campaign, block, testbed)
        self._has[testbed].append(block)
        return True
