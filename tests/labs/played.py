"""A lab that somebody works through: its cells run one after the other, figures left out."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from fsgreen import figures
from fsgreen.labs import versions
from fsgreen.labs.feedback import NotYet

FILES = {file.stem: file for file in versions.instructors()}


def notebook(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text())


def grade_id(cell: Mapping[str, Any]) -> str:
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


class Played:
    """A solved lab, with what every cell made; `refused` has what checks said of its answers."""

    def __init__(self, name: str, **parameters: object) -> None:
        self.book = versions.version(notebook(FILES[name]), "instructor")
        self.names: dict[str, Any] = {"__name__": "lab"}
        self.refused: dict[str, str] = {}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(figures, "png", lambda figure: b"")
            for drawing in ("relplot", "catplot", "displot"):
                patch.setattr(f"seaborn.{drawing}", MagicMock())
            for cell in self.book["cells"]:
                if cell["cell_type"] == "code":
                    self._run(cell, parameters)

    def _run(self, cell: Mapping[str, Any], parameters: Mapping[str, object]) -> None:
        try:
            exec("".join(cell["source"]), self.names)
        except NotYet as feedback:
            self.refused[grade_id(cell)] = str(feedback)
        if "parameters" in cell["metadata"].get("tags", []):
            self.names |= parameters

    def feedback(self, task: str, answer: str) -> str:
        """What a check says of an answer, an expression that may use what the cells made."""
        try:
            self.names["lab"].check(task, eval(answer, dict(self.names)))
        except NotYet as feedback:
            return str(feedback)
        return "right"
