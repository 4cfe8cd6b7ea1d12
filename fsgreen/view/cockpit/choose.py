"""The rooms in which it is chosen what is measured and where, and seen what that would take."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial

import ipywidgets as widgets

from fsgreen import design, paths
from fsgreen.errors import FsgreenError
from fsgreen.view import markup
from fsgreen.view.cockpit import harness, offered
from fsgreen.view.cockpit.order import Order
from fsgreen.view.explore.controls import Follower, dropdown, offer, row, text
from fsgreen.view.explore.here import studies
from fsgreen.words import plural

BLOCK = (
    "To measure a disk of yours erases it. The command line alone does that: docs/measuring.md, "
    "A real disk"
)


class Choose(widgets.VBox):
    """Study, profile and testbed, and the name of the campaign.

    It begins with what a cockpit measures now. Where nothing runs, the study is chosen as it was
    last measured here; none if there is none of that name.

    `fault` is why nothing can be measured.
    """

    def __init__(self, study: str) -> None:
        self.fault: FsgreenError | None = None
        self._when_changed: list[Callable[[], None]] = []
        self._follower = Follower()
        self.study, self.profile = dropdown("study"), dropdown("profile")
        self.testbed = dropdown("testbed", offered.places())
        self.folder = text("folder", "where the testbed works: its own choice", width="26em")
        self.campaign = text("campaign", width="26em")
        self.command = widgets.HTML()
        super().__init__(
            [
                widgets.HTML(markup.style()),
                row(self.study, self.profile, self.testbed),
                row(self.folder, self.campaign),
                self.command,
            ]
        )
        self._follower.follow(self.study, lambda: self._changed(self._turn))
        for control in (self.profile, self.testbed, self.folder, self.campaign):
            self._follower.follow(control, self._changed)
        runs = harness.running()
        self.offer(study if runs is None else runs.study)

    @property
    def order(self) -> Order | None:
        """Return what is chosen, None where nothing can be."""
        if self.fault is not None or self.profile.value is None:
            return None
        name = self.campaign.value.strip() or self._usual_name()
        return Order(self.study.value, self.profile.value, name, self.testbed.value, self._where())

    def when_changed(self, call: Callable[[], None]) -> None:
        """Call something after each change, too."""
        self._when_changed.append(call)

    def offer(self, study: str) -> None:
        """Offer all studies that are here now, and choose one.

        Another than before is chosen as it was measured last; of the same all choices stay.
        """
        with self._follower.quietly():
            self._changed(lambda: self._offer(study))

    def _offer(self, study: str) -> None:
        before, names = self.study.value, studies()
        self.study.options = names
        self.study.value = study if study in names else None
        if self.study.value == before:
            self._offer_profiles()
        else:
            self._turn()

    def _turn(self) -> None:
        """Turn to another study."""
        self._offer_profiles()
        self._take_up()

    def _offer_profiles(self) -> None:
        self.fault, profiles = None, []
        try:
            if self.study.value is not None:
                profiles = [*design.load_study(self.study.value).profiles]
        except FsgreenError as error:
            self.fault = error
        offer(self.profile, [(name, name) for name in profiles])

    def _take_up(self) -> None:
        """Choose what a campaign of this study was measured with that was begun here last."""
        self.folder.value = self.campaign.value = ""
        last = None if self.study.value is None else harness.newest(self.study.value)
        if last is None or last.profile not in {name for name, _ in self.profile.options}:
            return
        self.profile.value = last.profile
        if last.testbed in self.testbed.options:
            self.testbed.value = last.testbed
        self.folder.value = last.folder
        self.campaign.value = "" if last.campaign == self._usual_name() else last.campaign

    def _changed(self, change: Callable[[], None] = lambda: None) -> None:
        """Do what a person's change asks for, show the command, and tell those who want to know."""
        change()
        chosen, self.command.value = self.order, ""
        self.campaign.placeholder = "" if chosen is None else self._usual_name()
        if self.fault is not None:
            self.command.value = markup.fault(self.fault)
        elif chosen is not None:
            self.command.value = markup.lines([chosen.typed]) + markup.says(BLOCK)
        for call in self._when_changed:
            call()

    def _where(self) -> str:
        """Return the folder as the process finds it, which works in that of the project."""
        typed = self.folder.value.strip()
        return str(paths.root() / os.path.expanduser(typed)) if typed else ""

    def _usual_name(self) -> str:
        return f"{self.study.value}-{self.profile.value}"


NOTHING = FsgreenError("nothing is chosen", next_step="compose a study and save it, or choose one")


def _preflight(order: Order) -> str:
    """Return what disturbs or limits, the worst first; what is well is counted."""
    findings = order.findings()
    told = [finding for finding in findings if finding.severity != "ok"]
    rows = [(finding.severity, finding.subject, finding.state, finding.remedy) for finding in told]
    others = plural(len(findings) - len(told), "other thing")
    well = f"{others} that could disturb it: in order"
    return markup.table(("", "what", "state", "what mends it"), rows) + markup.says(well)


PAGES: Mapping[str, Callable[[Order], str]] = {
    "Plan": lambda order: markup.lines(order.planned()),
    "What it can decide": lambda order: markup.lines(order.decides()),
    "Preflight": _preflight,
}


class Planned(widgets.VBox):
    """The plan, its assay and the preflight table, each when it is asked for.

    For each of `PAGES`, `buttons` has the button that asks for it, and `shown` what it shows.
    """

    def __init__(self, choose: Choose) -> None:
        self._choose = choose
        self.shown = {title: widgets.HTML() for title in PAGES}
        self.buttons = {
            title: widgets.Button(description=title, layout={"width": "auto"}) for title in PAGES
        }
        super().__init__(
            [
                widgets.HTML(markup.style()),
                widgets.HBox([*self.buttons.values()]),
                *self.shown.values(),
            ]
        )
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
