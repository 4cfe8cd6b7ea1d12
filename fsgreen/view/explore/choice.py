"""What is looked at: study, campaigns, workload, measure, and the levels of all that varies."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import pandas as pd

from fsgreen import reduce
from fsgreen.errors import FsgreenError
from fsgreen.view.explore import cells, here
from fsgreen.view.explore.controls import Follower, dropdown, offer, row, several
from fsgreen.view.explore.here import Measure
from fsgreen.view.explore.lines import Runner

MOST_LINES = 6
"""Lines of a control that offers several."""

NO_CAMPAIGN = FsgreenError("no campaign is chosen", next_step="choose one above")
NONE_HERE = FsgreenError("there is no campaign here yet", next_step="./run reproduce")


class Choice(widgets.VBox):
    """Controls, and what was chosen by them.

    The campaign is chosen first; the first that is here, if this one is not.

    `names` are the factors that vary among the cells of the campaigns. `fault` is why there are no
    cells.
    """

    def __init__(self, runner: Runner, campaign: str) -> None:
        self._runner = runner
        self._of_studies, faults = here.campaigns()
        self._cells = pd.DataFrame()
        self._when_changed: Callable[[], None] = lambda: None
        self._follower = Follower()
        self.names: list[str] = []
        self.fault: FsgreenError | None = None
        self.study = dropdown("study", [*self._of_studies])
        self.workload, self.by = dropdown("workload"), dropdown("measure")
        self.campaigns = several("campaigns")
        self.levels = row()
        super().__init__(
            [
                row(self.study, self.workload, self.by),
                row(self.campaigns, self.levels),
                widgets.HTML("<br>".join(map(html.escape, faults))),
            ]
        )
        of_campaign = (name for name, names in self._of_studies.items() if campaign in names)
        self.study.value = next(of_campaign, self.study.value)
        self._offer_campaigns(campaign)
        for control, change in (
            (self.study, self._offer_campaigns),
            (self.campaigns, self._offer_cells),
            (self.workload, self._offer_levels),
            (self.by, lambda: None),
        ):
            self._follow(control, change)

    @property
    def measure(self) -> Measure | None:
        """Return what cells are compared in; None where there are none."""
        measure: Measure | None = self.by.value
        return measure

    def wanted(self) -> dict[str, list[Any]]:
        """Return the levels that are chosen, of those factors of which not all are."""
        wanted: dict[str, list[Any]] = {"workload": [self.workload.value]}
        for control in self.levels.children:
            if len(control.index) < len(control.options):
                levels = [math.nan if level is None else level for level in control.value]
                wanted[_factor(control)] = levels
        return wanted

    def when_changed(self, call: Callable[[], None]) -> None:
        """Call something after each change."""
        self._when_changed = call

    def _follow(self, control: widgets.Widget, change: Callable[[], None]) -> None:
        """Do what a person's change asks for, and tell the one who wants to know."""

        def changed() -> None:
            change()
            self._when_changed()

        self._follower.follow(control, changed)

    def _offer_campaigns(self, campaign: str = "") -> None:
        names = self._of_studies.get(self.study.value, [])
        self.campaigns.options = names
        self.campaigns.rows = max(2, min(MOST_LINES, len(names)))
        self.campaigns.value = [campaign] if campaign in names else names[:1]
        self._offer_cells()

    def _offer_cells(self) -> None:
        """Read the cells of the campaigns, and offer what they have."""
        self._cells, self.fault = pd.DataFrame(columns=["workload"]), None
        try:
            for name in self.campaigns.value:
                reduce.read_study(name)  # declares its factors and metrics
            if names := self.campaigns.value:
                self._cells = self._runner.run(cells.table_lines(names))
            else:
                self.fault = NO_CAMPAIGN if self._of_studies else NONE_HERE
        except FsgreenError as error:
            self.fault = error
        self.names = cells.varied(self._cells)
        offer(self.by, [(measure.title, measure) for measure in here.measures(self._cells)])
        workloads = sorted(self._cells["workload"].unique())
        offer(self.workload, [(name, name) for name in workloads])
        self._offer_levels()

    def _offer_levels(self) -> None:
        """Offer the levels of the factors that vary in this workload; all are chosen at first.

        Of loads none is, where cells ran as fast as they could.
        """
        of_workload = self._cells[self._cells["workload"] == self.workload.value]
        controls = []
        for name in self.names:
            levels = _levels(of_workload[name])
            if name == "workload" or len(levels) < 2:
                continue
            control = several(name.replace("_", " "))
            control.options = [(cells.word(name, level), level) for level in levels]
            control.rows = min(MOST_LINES, len(levels))
            fastest = name == "load_ops_s" and None in levels
            control.index = [levels.index(None)] if fastest else [*range(len(levels))]
            self._follow(control, lambda: None)
            controls.append(control)
        self.levels.children = controls


def _factor(control: widgets.Widget) -> str:
    return str(control.description).replace(" ", "_")


def _levels(column: pd.Series) -> list[Any]:
    """Return the levels in a column in their order; None is that of an empty place."""
    known = sorted(column.dropna().unique(), key=lambda level: (isinstance(level, str), level))
    return [*known, None] if column.isna().any() else known
