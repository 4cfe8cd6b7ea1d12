"""The cockpit: a study composed, planned, measured and watched in widgets.

Each room goes on from what is chosen in the one before. Everything that it does a command does,
too, and by the same functions.
"""

from __future__ import annotations

from fsgreen.view.cockpit.choose import Choose, Planned
from fsgreen.view.cockpit.compose import Compose
from fsgreen.view.cockpit.run import Run

__all__ = ["Cockpit"]


class Cockpit:
    """From a study, a file of `studies/` or one to come, to what can be trusted of its campaign.

    `compose` has controls, and the file of the study that they make; `choose` what is measured, and
    where, and the command that does the same; `plan` what it would take, what it can decide, and
    what would disturb it; `run` start, pause, and how far it is; `trust` what came of it, and what
    became of each rule.
    """

    def __init__(self, study: str = "mine") -> None:
        self.choose = Choose(study)
        self.compose = Compose(study, self.choose.offer)
        self.plan = Planned(self.choose)
        self.run = Run(self.choose)
        self.trust = self.run.trust
