"""What a paper prints, as the reference data have it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import pandas as pd

from fsgreen import paths, schema


@dataclass(frozen=True)
class PrintedPaper:
    """The figures and the method of a paper; its tables are those of the class of each paper.

    Parameters
    ----------
    folder : Path
        Where the published numbers lie.
    """

    paper: ClassVar[str]
    folder: Path

    @classmethod
    def load(cls) -> Self:
        """Return the published numbers that come with the project."""
        return cls(paths.reference())

    @cached_property
    def method(self) -> dict[str, Any]:
        """Parameters of the method."""
        return dict(_load(self.folder / "methods.yaml")["methods"][self.paper])

    def points(self, figure: str) -> list[dict[str, Any]]:
        """Return the points of a figure (`1`, `3a`, ...) that the text states or implies."""
        return list(self._figures[f"{self.paper}-fig{figure}"]["points"])

    def table(self, number: int) -> pd.DataFrame:
        """Return a table of the paper, as its file has it."""
        return pd.read_csv(self.folder / f"{self.paper}_table{number}.csv")

    @cached_property
    def _figures(self) -> dict[str, dict[str, Any]]:
        return {entry["id"]: entry for entry in _load(self.folder / "figures.yaml")["figures"]}


def _load(file: Path) -> Any:
    return schema.plain(file.read_text())
