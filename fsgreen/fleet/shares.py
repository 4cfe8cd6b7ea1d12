"""The design in which testbeds that are equal share the blocks of one plan.

A block is measured on one testbed, so that nothing is compared across testbeds here either: were
cells shared out, the ratio of two of them would hold what is left of a difference between machines.
A testbed that is free takes the next block; where none is left, it begins one anew that a testbed
has which is lost. One that a testbed gave up, as a trial of it broke a rule each time, is free for
the others. A block counts where it was given last, so that nothing is lost or doubled.
"""

from __future__ import annotations

import math
import time
from collections import Counter
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

    The plan is that of all testbeds. Raises FsgreenError if what an earlier start noted is damaged
    or of another plan, or a trial is damaged.
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
        self._free = [block for block in self._blocks if block not in owners]
        self._tallies = {name: Tally(paths.raw(member(order.campaign, name))) for name in self._has}
        self._lost_s = {
            name: time.monotonic() if name in testbeds else -math.inf for name in self._has
        }
        self._gave_up: dict[str, dict[int, FsgreenError]] = {name: {} for name in self._has}
        for name in self._has:
            self.count(name)
        self._before = {name: len(tally.here) for name, tally in self._tallies.items()}

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

        Raises FsgreenError if all testbeds have given up all of these: why this one did the last.
        """
        mine, gave_up = self._has[testbed], self._gave_up[testbed]
        if gave_up and self._are_given_up():
            raise [*gave_up.values()][-1]
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

    def gives_up(self, testbed: str, why: FsgreenError) -> None:
        """Have others begin the block anew that a testbed refuses, so that it takes another.

        Raises FsgreenError if it has brought no trial since it refused before, or home began:
        `why`.
        """
        here = len(self._tallies[testbed].here)
        if here == self._before[testbed]:
            raise why
        self._before[testbed] = here
        self._gave_up[testbed].update(dict.fromkeys(self._has[testbed], why))
        self._free.extend(self._has[testbed])
        self._has[testbed].clear()

    def is_lost(self, testbed: str, *, for_good: bool) -> None:
        """Note that it does not answer any more, or that the testbed does not go on."""
        since_s = -math.inf if for_good else time.monotonic()
        self._lost_s[testbed] = min(self._lost_s[testbed], since_s)

    def _are_given_up(self) -> bool:
        """Return whether all blocks that are left were given up by all testbeds that go on."""
        going = (name for name, lost_s in self._lost_s.items() if lost_s > -math.inf)
        left = self._blocks.keys()
        return bool(left) and all(left <= self._gave_up[name].keys() for name in going)

    def _take(self, testbed: str) -> bool:
        """Give a testbed a block that nobody has, or that of one which is lost, if there is any."""
        latest_s, gave_up = time.monotonic() - GIVEN_UP_S, self._gave_up[testbed]
        gone = (has for name, has in self._has.items() if self._lost_s[name] <= latest_s)
        takes = ((has, each) for has in (self._free, *gone) for each in has if each not in gave_up)
        found = next(takes, None)
        if found is None:
            return False
        left, block = found
        left.remove(block)
        given.give(self.order.campaign, block, testbed)
        self._has[testbed].append(block)
        return True
