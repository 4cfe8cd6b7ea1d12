"""The numbers that a paper prints, from the reference data, and claims recomputed from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import pandas as pd

from fsgreen import paths, schema
from fsgreen.claims import Band, Part, band, unit_of, written
from fsgreen.stats import Estimate


def by(column: str, number: int) -> cached_property[pd.DataFrame]:
    """Return a cached property: the paper's table of that number, indexed by one of its columns."""
    return cached_property(lambda printed: printed.table(number).set_index(column))


@dataclass(frozen=True)
class PrintedPaper:
    """The figures and the method of a paper, from the folder of its published numbers.

    The subclass of each paper adds its tables.
    """

    paper: ClassVar[str]
    folder: Path

    @classmethod
    def load(cls) -> Self:
        """Return the published numbers that come with the project."""
        return cls(paths.reference())

    @cached_property
    def method(self) -> dict[str, Any]:
        """The parameters of the paper's method."""
        return dict(_load(self.folder / "methods.yaml")["methods"][self.paper])

    def points(self, figure: str) -> list[dict[str, Any]]:
        """Return the points of a figure (`1`, `3a`, ...) that the text states or implies."""
        return list(self._figures[f"{self.paper}-fig{figure}"]["points"])

    def table(self, number: int) -> pd.DataFrame:
        """Return a table of the paper, unchanged from its file."""
        return pd.read_csv(self.folder / f"{self.paper}_table{number}.csv")

    @cached_property
    def _figures(self) -> dict[str, dict[str, Any]]:
        return {entry["id"]: entry for entry in _load(self.folder / "figures.yaml")["figures"]}


def _load(file: Path) -> Any:
    return schema.plain(file.read_text())


def implied(number: Mapping[str, Any], what: str, value: float) -> Part:
    """Return a part: whether a printed number agrees with `value`, which others imply."""
    target = band(number, "published", bound=0.0)
    return inside(what, value, target, written(number), unit_of(number))


def holds(what: str, condition: bool, published: str) -> Part:
    """Return a part that is reproduced if a condition holds on what is printed."""
    return Part(what, "reproduced" if condition else "not reproduced", "published", published)


def inside(
    what: str,
    value: float,
    target: Band,
    published: str,
    unit: Literal["x", "change", "share", ""] = "",
) -> Part:
    """Return a part: whether a number computed from printed ones lies in a band."""
    return Part.judged(what, Estimate.exactly(value), target, published, "published", unit=unit)


def beyond(what: str) -> Part:
    """Return a part that no printed number decides. `needs.yaml` has the text of its need."""
    return Part(what, "not testable here", needs="numbers-not-printed")
