"""Controls that people know from any notebook, all of which can be used from the keyboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

import ipywidgets as widgets

STYLE = {"description_width": "initial"}
WIDE = {"width": "auto", "min_width": "12em", "max_width": "100%"}


TURN = RLock()
"""Held by whatever does what a person asked for, so that the next begins when it has ended.

JupyterLab has messages from the page handled in two threads: that of the cells, and one beside it.
"""


class Follower:
    """Does what changes of controls ask for, but for changes that it makes itself meanwhile."""

    def __init__(self) -> None:
        self._follows = True

    def follow(self, control: widgets.Widget, change: Callable[[], None]) -> None:
        """Call `change` whenever a person has changed the value of a control."""

        def changed(_: Any) -> None:
            with TURN:
                if self._follows:
                    with self.quietly():
                        change()

        control.observe(changed, "value")

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Set controls without following them."""
        before, self._follows = self._follows, False
        try:
            yield
        finally:
            self._follows = before


def dropdown(description: str, options: Sequence[Any] = ()) -> widgets.Dropdown:
    """Return a control to choose one of several."""
    return widgets.Dropdown(description=description, options=options, style=STYLE, layout=WIDE)


def several(description: str) -> widgets.SelectMultiple:
    """Return a control to choose any of several."""
    return widgets.SelectMultiple(description=description, style=STYLE, layout=WIDE)


def text(description: str, placeholder: str = "", width: str = "auto") -> widgets.Text:
    """Return a control to type in; it is heard once Enter is pressed or it is left."""
    return widgets.Text(
        description=description,
        placeholder=placeholder,
        continuous_update=False,
        style=STYLE,
        layout={"width": width},
    )


def button(description: str, tooltip: str, icon: str) -> widgets.Button:
    """Return a control to press."""
    return widgets.Button(description=description, tooltip=tooltip, icon=icon)


def row(*controls: widgets.Widget) -> widgets.HBox:
    """Return controls side by side, below each other where there is no room."""
    return widgets.HBox(controls, layout={"flex_flow": "row wrap", "grid_gap": "0 12px"})


def offer(control: widgets.Dropdown, options: Sequence[tuple[str, Any]]) -> None:
    """Offer choices, and keep the one that was chosen if it is among them, else the first."""
    before = control.value
    values = [value for _, value in options]
    control.options = options
    control.index = values.index(before) if before in values else 0 if values else None
