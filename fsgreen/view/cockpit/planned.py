"""The room that says what an order would take, what it can decide, and what would disturb it."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from fsgreen.errors import FsgreenError
from fsgreen.view.cockpit import markup
from fsgreen.view.cockpit.choose import Choose
from fsgreen.view.cockpit.order import Order

NOTHING = FsgreenError("nothing is chosen", next_step="compose a study and save it, or choose one")


class Planned(widgets.VBox):
    """The plan, its assay and the preflight table, each when it is asked for.

    Parameters
    ----------
    choose : Choose
        Where the order is chosen.
    """

    def __init__(self, choose: Choose) -> None:
        self._choose = choose
        self.shown = {
            "Plan": widgets.HTML(),
            "What it can decide": widgets.HTML(),
            "Preflight": widgets.HTML(),
        }
        makes = (_plan, _assay, _preflight)
        buttons = []
        for (title, place), make in zip(self.shown.items(), makes, strict=True):
            button = widgets.Button(description=title, layout={"width": "auto"})
            button.on_click(lambda _, place=place, make=make: self._show(place, make))
            buttons.append(button)
        self.buttons = widgets.HBox(buttons)
        super().__init__([self.buttons, *self.shown.values()])
        choose.when_changed(self.clear)

    def clear(self) -> None:
        """Show nothing of another order than the one that is chosen now."""
        for place in self.shown.values():
            place.value = ""

    def _show(self, place: widgets.HTML, make: Callable[[Order], str]) -> None:
        order = self._choose.order
        try:
            if order is None:
                raise self._choose.fault or NOTHING
            place.value = markup.says("looking ...")
            place.value = make(order)
        except FsgreenError as error:
            place.value = markup.fault(error)


def _plan(order: Order) -> str:
    return markup.lines(order.planned())


def _assay(order: Order) -> str:
    return markup.lines(order.decides())


def _preflight(order: Order) -> str:
    """Return what disturbs or limits, the worst first; what is well is counted."""
    findings = order.findings()
    told = [finding for finding in findings if finding.severity != "ok"]
    rows = [(one.severity, one.subject, one.state, one.remedy) for one in told]
    well = f"{len(findings) - len(told)} more were looked at and are well"
    return markup.table(("", "what", "state", "what mends it"), rows) + markup.says(well)
