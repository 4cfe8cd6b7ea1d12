"""The room in which it is chosen what is measured and where: an `Order` from controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import ipywidgets as widgets

from fsgreen import design
from fsgreen.errors import FsgreenError
from fsgreen.view.cockpit import harness, markup, offered
from fsgreen.view.cockpit.draft import studies
from fsgreen.view.cockpit.order import Order
from fsgreen.view.explore.controls import STYLE, dropdown, offer, row

BLOCK = (
    "A disk of yours loses all that it holds when it is measured. That is for the command line "
    "alone: docs/measuring.md, A real disk"
)


class Choose(widgets.VBox):
    """Study, profile and testbed, and the name of the campaign.

    Parameters
    ----------
    study : str
        The study that is chosen first, as it was last measured here; none if there is none of that
        name.

    Attributes
    ----------
    fault : FsgreenError, optional
        Why nothing can be measured.
    """

    def __init__(self, study: str) -> None:
        self.fault: FsgreenError | None = None
        self._when_changed: list[Callable[[], None]] = []
        self._follows = True
        self.study, self.profile = dropdown("study"), dropdown("profile")
        self.testbed = dropdown("testbed", offered.places())
        self.folder = _text("folder", "where the testbed works: its own choice")
        self.campaign = _text("campaign", "")
        self.command = widgets.HTML()
        super().__init__(
            [
                row(self.study, self.profile, self.testbed),
                row(self.folder, self.campaign),
                self.command,
            ]
        )
        self.study.observe(lambda _: self._changed(self._offer_profiles), "value")
        for control in (self.profile, self.testbed, self.folder, self.campaign):
            control.observe(lambda _: self._changed(), "value")
        self.offer(study)

    @property
    def order(self) -> Order | None:
        """Return what is chosen, None where nothing can be."""
        if self.fault is not None or self.profile.value is None:
            return None
        name = self.campaign.value.strip() or f"{self.study.value}-{self.profile.value}"
        return Order(
            self.study.value,
            self.profile.value,
            name,
            self.testbed.value,
            self.folder.value.strip(),
        )

    def when_changed(self, call: Callable[[], None]) -> None:
        """Call something after each change, too."""
        self._when_changed.append(call)

    def offer(self, study: str) -> None:
        """Offer all studies that are here now, and choose one as it was measured last."""
        self._changed(lambda: self._offer(study))

    def _offer(self, study: str) -> None:
        names = studies()
        self.study.options = names
        self.study.value = study if study in names else None
        self._offer_profiles()

    def _offer_profiles(self) -> None:
        self.fault, profiles = None, []
        try:
            if self.study.value is not None:
                profiles = [*design.load_study(self.study.value).profiles]
        except FsgreenError as error:
            self.fault = error
        offer(self.profile, [(name, name) for name in profiles])
        self._take_up()

    def _take_up(self) -> None:
        """Choose what a campaign of this study was measured with that was begun here last."""
        self.folder.value = self.campaign.value = ""
        order = None if self.study.value is None else harness.newest(self.study.value)
        if order is None or order.profile not in {name for name, _ in self.profile.options}:
            return
        self.profile.value = order.profile
        if order.testbed in self.testbed.options:
            self.testbed.value = order.testbed
        self.folder.value = order.folder
        is_named = order.campaign != f"{order.study}-{order.profile}"
        self.campaign.value = order.campaign if is_named else ""

    def _changed(self, change: Callable[[], None] = lambda: None) -> None:
        """Do what a person's change asks for, show the command, and tell those who want to know."""
        if not self._follows:
            return
        with self._quietly():
            change()
        order, self.command.value = self.order, ""
        self.campaign.placeholder = f"{self.study.value}-{self.profile.value}"
        if self.fault is not None:
            self.command.value = markup.fault(self.fault)
        elif order is not None:
            self.command.value = markup.lines([order.typed]) + markup.says(BLOCK)
        for call in self._when_changed:
            call()

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """Set controls without following them."""
        self._follows = False
        try:
            yield
        finally:
            self._follows = True


def _text(description: str, placeholder: str) -> widgets.Text:
    return widgets.Text(
        description=description,
        placeholder=placeholder,
        continuous_update=False,
        style=STYLE,
        layout={"width": "26em"},
    )
