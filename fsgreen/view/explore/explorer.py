"""The explorer: from cells to their trials and traces, and to what tells two cells apart."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

import ipywidgets as widgets

from fsgreen.errors import FsgreenError
from fsgreen.view.explore import cells, effect, pair, real, trials
from fsgreen.view.explore.cells import Spot
from fsgreen.view.explore.choice import Choice
from fsgreen.view.explore.controls import TURN, Follower, dropdown, row
from fsgreen.view.explore.here import Measure
from fsgreen.view.explore.lines import Runner, Shown
from fsgreen.view.explore.views import View

NO_CELL = FsgreenError("no cell is chosen", next_step="choose campaigns and levels above")
SAME = FsgreenError("A and B are the same cell", next_step="choose another one above")
ALONE = FsgreenError(
    "there is only one cell",
    next_step="choose another workload, or more campaigns and levels, above",
)


class Explorer:
    """Views that follow each other: what is chosen in one is shown in the next.

    It begins with `campaign`, or with the first that is here.

    - `choose`: what is shown: study, campaigns, workload, measure, and the levels of other factors.
    - `cells`, `trials`, `trial`: the cells side by side, the trials of cell A, the traces of one.
    - `pick`: cells `a` and `b` by their names.
    - `effect`, `beside`, `latencies`, `settings`: cell A over cell B: how far apart, what goes
      along, operation by operation, what was set.
    - `checks`: whether that difference is real.
    """

    def __init__(self, campaign: str = "fast10") -> None:
        self._runner = Runner()
        self._spots: list[Spot] = []
        self._trials: list[str] = []
        self._pair: pair.Pair | None = None
        self._of_trials: tuple[Spot, Measure | None] | None = None
        self._follower = Follower()
        self.choose = Choice(self._runner, campaign)
        self.a, self.b = dropdown("cell A"), dropdown("cell B")
        self.pick = row(self.a, self.b)
        self.cells = View(self._chose_cell)
        self.trials = View(self._chose_trial)
        self.trial, self.effect, self.beside = View(), View(), View()
        self.latencies, self.settings = View(), View()
        self.checks = widgets.HTML()
        self.redraw()
        self.choose.when_changed(self.redraw)
        for cell in (self.a, self.b):
            self._follower.follow(cell, self._chose_pair)

    def redraw(self) -> None:
        """Show what is chosen now; A and B stay where they are still shown."""
        with TURN:
            self._redraw()

    def _redraw(self) -> None:
        self._spots, self._of_trials = [], None
        before = [self.a.value, self.b.value]
        if self.choose.fault is not None:
            self.cells.fail(self.choose.fault)
        else:
            self.cells.show(self._make_cells)
        places = _places(before, self._spots)
        with self._follower.quietly():
            for control, place in zip((self.a, self.b), places, strict=True):
                control.options = [(spot.name, spot) for spot in self._spots]
                control.index = place
        self._chose_pair()

    def _make_cells(self) -> Shown:
        chosen = self.choose
        if chosen.measure is None:
            raise FsgreenError("these campaigns have no cells yet", next_step="fsgreen status")
        shown, self._spots = cells.shown(
            self._runner, chosen.campaigns.value, chosen.wanted(), chosen.measure, chosen.names
        )
        return shown

    def _chose_cell(self, nth: int, second: bool) -> None:
        """Take a cell as A or B; one that is the other already changes places with it."""
        if nth >= len(self._spots):
            return
        chosen, other = (self.b, self.a) if second else (self.a, self.b)
        with self._follower.quietly():
            if other.index == nth:
                other.index = chosen.index
            chosen.index = nth
        self._chose_pair()

    def _chose_pair(self) -> None:
        if self.a.value is None:
            self._clear()
            return
        self.cells.chart.chosen = [self.a.index, self.b.index]
        of_trials = self.a.value, self.choose.measure
        if of_trials != self._of_trials:
            self._show_trials()
            self._of_trials = of_trials
        two = pair.Pair(self.a.value, self.b.value or self.a.value)
        if two != self._pair:
            self._show_pair(two)
            self._pair = two

    def _clear(self) -> None:
        """Show nothing of cells where none is chosen."""
        self._pair, self._of_trials, self._trials = None, None, []
        for view in (self.trials, self.trial):
            view.fail(NO_CELL)
        self._clear_pair(NO_CELL)

    def _clear_pair(self, error: FsgreenError) -> None:
        self.checks.value = ""
        for view in (self.effect, self.beside, self.latencies, self.settings):
            view.fail(error)

    def _show_trials(self) -> None:
        spot, measure = self.a.value, self.choose.measure
        assert measure is not None
        shown = self.trials.show(lambda: trials.shown(self._runner, spot, measure), [0, None])
        before = self._trials
        self._trials = [] if shown is None else [*shown.table["trial"]]
        if self._trials and self._trials != before:
            self._show_trial(0)

    def _chose_trial(self, nth: int, second: bool) -> None:
        if nth < len(self._trials):
            self.trials.chart.chosen = [nth, None]
            self._show_trial(nth)

    def _show_trial(self, nth: int) -> None:
        campaign, name = self.a.value.campaign, self._trials[nth]
        self.trial.show(lambda: trials.one(self._runner, campaign, name))

    def _show_pair(self, two: pair.Pair) -> None:
        if two.one == two.other:
            self._clear_pair(SAME if len(self._spots) > 1 else ALONE)
            return
        shown = self.effect.show(lambda: effect.shown(self._runner, two))
        checks = iter(()) if shown is None else real.checks(self._runner, two, shown.table)
        self.checks.value = _listed(checks)
        self.beside.show(lambda: pair.beside(self._runner, two))
        self.latencies.show(lambda: pair.latencies(self._runner, two))
        self.settings.show(lambda: pair.settings(self._runner, two))


def _places(before: Sequence[Spot | None], spots: Sequence[Spot]) -> list[int | None]:
    """Return where A and B are among the cells that are shown; at first the best two.

    A single cell is A, whatever it was before.
    """
    places = [spots.index(spot) if spot in spots else None for spot in before]
    for nth, place in enumerate(places):
        if place is None:
            places[nth] = next((n for n in range(len(spots)) if n not in places), None)
    return places if places[0] is not None else places[::-1]


def _listed(checks: Iterator[real.Check]) -> str:
    """Return checks as a table for people."""
    try:
        rows = "".join(
            f"<tr><th>{html.escape(check.question)}</th><td><b>{check.answer}</b></td>"
            f"<td>{html.escape(check.evidence)}</td></tr>"
            for check in checks
        )
    except FsgreenError as error:
        return f"<pre>{html.escape(str(error))}</pre>"
    return f'<table class="fsgreen-table">{rows}</table>'
