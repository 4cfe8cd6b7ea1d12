"""The design in which every testbed measures all cells: each of them goes on for itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from fsgreen import paths
from fsgreen.campaign import Campaign
from fsgreen.design import Plan, PlannedTrial
from fsgreen.design.members import member
from fsgreen.errors import FsgreenError
from fsgreen.fleet.messages import Order
from fsgreen.fleet.orders import is_planned
from fsgreen.fleet.tally import Count, Tally


class Replicate:
    """What each testbed measures: the whole order."""

    is_over = False
    """Whether nothing is left for any testbed: here each has its own."""

    def __init__(self, order: Order, testbeds: Iterable[str]) -> None:
        self.order = order
        self._campaigns = {name: Campaign(member(order.campaign, name)) for name in testbeds}
        self._tallies = {name: Tally(each.folder) for name, each in self._campaigns.items()}
        self._plans: dict[str, Plan] = {}
        self._planned: dict[str, dict[str, PlannedTrial]] = {}

    def is_done(self, testbed: str) -> bool:
        """Return whether all trials of a testbed are here."""
        return self._plan(testbed) is not None and not self._campaigns[testbed].pending()

    def is_planned(self, value: dict[str, Any], testbed: str) -> bool:
        """Return whether `plan.json` of a testbed holds what it is to measure."""
        return is_planned(value, self.order, testbed)

    def planned(self, trial: str, testbed: str) -> PlannedTrial | None:
        """Return the trial of that name in the plan of a testbed, if there is one."""
        if testbed not in self._planned and (plan := self._plan(testbed)) is not None:
            self._planned[testbed] = {planned.trial: planned for planned in plan.trials}
        return self._planned.get(testbed, {}).get(trial)

    def next(self, _testbed: str) -> Order | None:
        """Return what a testbed is to measure now."""
        return self.order

    def count(self, testbed: str) -> Count:
        """Return how far a testbed is; raises FsgreenError where a trial is damaged."""
        plan, tally = self._plan(testbed), self._tallies[testbed]
        if plan is None:
            return Count()
        tally.look(plan)
        is_fixed = plan.profile.most_blocks is None
        due = plan.trials if is_fixed else self._campaigns[testbed].due()
        left = [planned for planned in due if planned.trial not in tally.here]
        to_go_s = tally.takes_s(Counter(planned.cell for planned in left))
        return Count(len(due) - len(left), len(due), to_go_s)

    def gives_up(self, _testbed: str, why: FsgreenError) -> None:
        """Raise why a testbed refuses: no other has its trials."""
        raise why

    def answers(self, _testbed: str) -> None:
        """Note that the worker of a testbed is there; it may still be ending a trial."""

    def is_lost(self, _testbed: str, *, for_good: bool) -> None:
        """Note that it does not answer any more, or that the testbed does not go on."""

    def _plan(self, testbed: str) -> Plan | None:
        """Return the plan of a testbed, which never changes; None as long as it is not here."""
        campaign = self._campaigns[testbed]
        if testbed not in self._plans and (campaign.folder / paths.PLAN).exists():
            self._plans[testbed] = campaign.plan()
        return self._plans.get(testbed)
