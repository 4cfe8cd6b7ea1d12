"""An executor whose tasks are done on cores that are lent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, cast

from fsgreen.cluster import meeting
from fsgreen.executors import Common, Item, Processes, Result
from fsgreen.fleet.fleetfile import Fleet
from fsgreen.reduce.parts import reduced


@dataclass(frozen=True)
class Borrowed:
    """The cores that are lent at a place: they reduce trials, and nothing else.

    Other tasks are done in this process.
    """

    place: Fleet

    def gathering(self) -> AbstractContextManager[None]:
        """Have those register who lend cores, as long as the block lasts."""
        return meeting.gathering(self.place)

    def each(
        self, task: Callable[[Common, Item], Result], common: Common, items: Sequence[Item]
    ) -> Iterable[Result]:
        """Return what the task makes of each item; raises as the task or `Reduction` does."""
        if task is not reduced:
            return Processes(1).each(task, common, items)
        from fsgreen.cluster.borrowed import Reduction
        from fsgreen.fleet import membership

        membership.begin()
        plan, trials = cast(Any, common), cast(Any, items)
        return cast(Any, asyncio.run(Reduction(self.place, plan, trials).all()))
