"""A view in the notebook: what it says, its chart, its lines of pandas, its table, its files."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.figures import style
from fsgreen.tables import as_html
from fsgreen.view import markup
from fsgreen.view.explore.chart import Chart, to_json
from fsgreen.view.explore.controls import TURN, button
from fsgreen.view.explore.lines import Shown
from fsgreen.view.explore.picture import draw


class ChartView(anywidget.AnyWidget):
    """Draws a `Chart`; `chosen` are the places of the rows or dots that are marked A and B."""

    _esm = markup.static("explore.js")
    _css = markup.static("explore.css")

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
            with TURN:
                self._when_chosen(nth, content.get("second") is True)


class View(widgets.VBox):
    """A place for a `Shown`, with buttons for its lines, its table and its files.

    `when_chosen` is called with the place of the row or dot that a person chose, and whether it is
    the second.
    """

    def __init__(self, when_chosen: Callable[[int, bool], None] | None = None) -> None:
        self.shown: Shown | None = None
        """What is shown now."""
        self.says = widgets.HTML()
        self.chart = ChartView(when_chosen)
        self.lines = _toggle("Lines of pandas", "the lines that made this view", "code")
        self.table = _toggle("Table", "the same as a table", "table")
        self.keep = button("Save", "write figure (PNG) and data (CSV)", "save")
        self.kept = widgets.HTML()
        self.more = widgets.HTML()
        self._buttons = widgets.HBox([self.lines, self.table, self.keep, self.kept])
        super().__init__([self.says, self.chart, self._buttons, self.more])
        self.add_class("fsgreen-view")
        self.lines.observe(lambda _: self._tell_more(), "value")
        self.table.observe(lambda _: self._tell_more(), "value")
        self.keep.on_click(lambda _: self.save())

    def show(self, make: Callable[[], Shown], chosen: Sequence[int | None] = ()) -> Shown | None:
        """Show what `make` returns; or, in its place, why there is nothing and what to do."""
        try:
            shown = make()
        except FsgreenError as error:
            self.fail(error)
            return None
        self.shown = shown
        self.says.value = markup.says(shown.says)
        if shown.chart is not None:
            self.chart.show(shown.chart, shown.says, chosen)
        self.kept.value = ""
        self._arrange()
        return shown

    def fail(self, error: FsgreenError) -> None:
        """Say why there is nothing to show, and what to do."""
        self.shown = None
        self.says.value = markup.fault(error)
        self._arrange()

    def save(self) -> list[Path]:
        """Write figure and data into `data/scratch/explore`; return the files."""
        if self.shown is None:
            return []
        folder = paths.data() / "scratch" / "explore"
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / f"{self.shown.name}.csv"]
        self.shown.table.to_csv(files[0], index=False, float_format="%.7g", lineterminator="\n")
        if self.shown.chart is not None:
            file = folder / f"{self.shown.name}.png"
            file.write_bytes(style.png(draw(self.shown.chart, self.shown.says)))
            files.append(file)
        names = " and ".join(file.name for file in files)
        self.kept.value = html.escape(f"saved in {folder}: {names}")
        return files

    def _arrange(self) -> None:
        drawn = self.shown is not None and self.shown.chart is not None
        self.chart.layout.display = None if drawn else "none"
        self._buttons.layout.display = "none" if self.shown is None else None
        self.table.layout.display = None if drawn else "none"
        self._tell_more()

    def _tell_more(self) -> None:
        parts = []
        if self.shown is not None and self.lines.value:
            parts.append(markup.lines([self.shown.lines.text]))
        if self.shown is not None and (self.table.value or self.shown.chart is None):
            parts.append(as_html(self.shown.table))
        self.more.value = "".join(parts)


def _toggle(description: str, tooltip: str, icon: str) -> widgets.ToggleButton:
    return widgets.ToggleButton(description=description, tooltip=tooltip, icon=icon)
