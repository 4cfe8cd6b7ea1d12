"""Lines of pandas: those that a person reads are those that made what is shown."""

from __future__ import annotations

import contextlib
import io
import math
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from fsgreen import paths
from fsgreen.design import Cell
from fsgreen.reduce import of_this_version
from fsgreen.view.explore.chart import Chart

MOST_MADE = 200
"""Views that are kept, so that a person who goes back and forth does not wait."""

NAN = 'float("nan")'


@dataclass(frozen=True)
class Lines:
    """Lines that end with a table called `view`.

    They read tables of `campaigns`. Those of `opening` import and read; what these leave is kept
    until the results change. Those of `making` make `view`.
    """

    campaigns: Sequence[str]
    opening: str
    making: str

    @property
    def text(self) -> str:
        """Return all of them, to be pasted into a cell."""
        return f"{self.opening.strip()}\n\n{self.making.strip()}\nview\n"


@dataclass(frozen=True)
class Shown:
    """A view: its table, the lines that made it, its chart if any, and what it says in words.

    `name` is what its files are called.
    """

    name: str
    lines: Lines
    table: pd.DataFrame
    says: str
    chart: Chart | None = None


@dataclass
class Runner:
    """Runs lines once, and again when a campaign has newer results."""

    _kept: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    _made: OrderedDict[str, tuple[int, dict[str, Any]]] = field(default_factory=OrderedDict)

    def run(self, lines: Lines) -> pd.DataFrame:
        """Return the table that lines make; raises as `names` does."""
        table: pd.DataFrame = self.names(lines)["view"]
        return table

    def names(self, lines: Lines) -> dict[str, Any]:
        """Return everything that lines name, `view` among it.

        Raises FsgreenError if a table has not been made, or was made by another version.
        """
        newest = max(map(_changed_ns, lines.campaigns))
        if self._made.get(lines.text, (None,))[0] != newest:
            names = dict(self.opened(lines))
            with of_this_version(lines.campaigns[0]):
                exec(compile(lines.making, "<lines of this view>", "exec"), names)
            self._made[lines.text] = newest, names
            if len(self._made) > MOST_MADE:
                self._made.popitem(last=False)
        return self._made[lines.text][1]

    def opened(self, lines: Lines) -> Mapping[str, Any]:
        """Return what the opening leaves: tables by their names."""
        newest = max(map(_changed_ns, lines.campaigns))
        if lines.opening not in self._kept or self._kept[lines.opening][0] != newest:
            names: dict[str, Any] = {}
            with quiet():
                exec(compile(lines.opening, "<opening of this view>", "exec"), names)
            self._kept[lines.opening] = newest, names
        return self._kept[lines.opening][1]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Leave out what is said of where a notebook writes: this one only reads."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def spelled(value: Any) -> str:
    """Return a level, or several, as Python has them; an empty cell of a table is NaN."""
    if isinstance(value, Cell | Mapping):
        return "{" + ", ".join(f"{name!r}: {spelled(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(spelled, value)) + "]"
    if isinstance(value, float) and math.isnan(value):
        return NAN
    return repr(value.item() if hasattr(value, "item") else value)


def _changed_ns(campaign: str) -> int:
    """Return when a table of a campaign was last made; 0 before the first."""
    folder = paths.data() / "results" / paths.checked(campaign)
    own = paths.data() / "scratch" / folder.name
    files = (file for place in (folder, own) for file in place.glob("*.csv"))
    return max((file.stat().st_mtime_ns for file in files), default=0)
