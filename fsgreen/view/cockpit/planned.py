"""The room that says what an order would take, what it can decide, and what would disturb it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import ipywidgets as widgets

from fsgreen.errors import FsgreenError
from fsgreen.view.cockpit import markup
from fsgreen.view.cockpit.choose import Choose
from fsgreen.view.cockpit.order import Order

NOTHING = FsgreenError("nothing is chosen", next_step="compose a study and save it, or choose one")


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


PAGES: Mapping[str, Callable[[Order], str]] = {
    "Plan": _plan,
    "What it can decide": _assay,
    "Preflight": _preflight,
}


class Planned(widgets.VBox):
    """The plan, its assay and the preflight table, each when it is asked for.

    Parameters
    ----------
    choose : Choose
        Where the order is chosen.

    Attributes
    ----------
    buttons, shown : dict of str to widget
        Each of `PAGES`: the button that asks for it, and what it shows.
    """

    def __init__(self, choose: Choose) -> None:
        self._choose = choose
        self.shown = {title: widgets.HTML() for title in PAGES}
        self.buttons = {
            title: widgets.Button(description=title, layout={"width": "auto"}) for title in PAGES
        }
        super().__init__([widgets.HBox([*self.buttons.values()]), *self.shown.values()])
        for title, button in self.buttons.items():
            button.on_click(partial(self._show, title))
        choose.when_changed(self.clear)

    def clear(self) -> None:
        """Show nothing of another order than the one that is chosen now."""
        for page in self.shown.values():
            page.value = ""

    def _show(self, title: str, _: widgets.Button) -> None:
        page, order = self.shown[title], self._choose.order
        try:
            if order is None:
                raise self._choose.fault or NOTHING
            page.value = markup.says("looking ...")
            page.value = PAGES[title](order)
        except FsgreenError as error:
            page.value = markup.fault(error)
