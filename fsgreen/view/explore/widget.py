"""A chart in the browser: what a person chooses in it comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from fsgreen.view.explore.chart import Chart, to_json
from fsgreen.view.scripts import static


class ChartView(anywidget.AnyWidget):
    """Draws a `Chart`; `chosen` are the places of the rows or dots that are marked A and B."""

    _esm = static("explore.js")
    _css = static("explore.css")

    chart: Any = traitlets.Dict().tag(sync=True)
    about = traitlets.Unicode().tag(sync=True)
    revision = traitlets.Int().tag(sync=True)
    chosen: Any = traitlets.List(traitlets.Int(allow_none=True)).tag(sync=True)

    def __init__(self, when_chosen: Callable[[int, bool], None] | None = None) -> None:
        super().__init__()
        self._when_chosen = when_chosen
        self.on_msg(lambda _, content, __: self.hear(content))

    def show(self, chart: Chart, about: str, chosen: Sequence[int | None] = ()) -> None:
        """Draw a chart; `about` says in words what it shows."""
        with self.hold_sync():
            self.about, self.chosen = about, list(chosen)
            self.chart = to_json(chart)
            self.revision += 1

    def hear(self, content: Mapping[str, Any]) -> None:
        """Take word from the browser: a row or a dot was chosen, as the second with Shift."""
        nth = content.get("chose")
        if self._when_chosen is not None and type(nth) is int and nth >= 0:
            self._when_chosen(nth, content.get("second") is True)
