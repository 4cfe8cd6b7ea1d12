"""The versions of a lab: all come from the instructor's notebook, by nbgrader's own marks.

That notebook has the solutions between `### BEGIN SOLUTION` and `### END SOLUTION`, and tests that
students do not see between `### BEGIN HIDDEN TESTS` and `### END HIDDEN TESTS`.
"""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

from fsgreen import paths
from fsgreen.errors import FsgreenError

STUBS = {"code": "# YOUR CODE HERE", "markdown": "YOUR ANSWER HERE"}
"""What stands in a student's notebook for a solution, by the kind of its cell."""

VERSIONS = ("student", "solution", "instructor")

_SOLUTION = re.compile(
    r"^([ \t]*)### BEGIN SOLUTION\n(.*?)^[ \t]*### END SOLUTION\n?", re.DOTALL | re.MULTILINE
)
_HIDDEN = re.compile(
    r"^[ \t]*### BEGIN HIDDEN TESTS\n.*?^[ \t]*### END HIDDEN TESTS\n?", re.DOTALL | re.MULTILINE
)

Notebook = dict[str, Any]


def instructors() -> list[Path]:
    """Return the instructor's notebooks, one for each lab."""
    return sorted((paths.notebooks() / "labs" / "instructor").glob("*.ipynb"))


def version(notebook: Notebook, name: str) -> Notebook:
    """Return one of `VERSIONS` of an instructor's notebook, which stays as it is.

    The student's has stubs in place of solutions and no hidden tests, as nbgrader would release it;
    the solution has the solutions without the marks around them.
    """
    made = copy.deepcopy(notebook)
    if name == "instructor":
        return made
    for cell in made["cells"]:
        text = _HIDDEN.sub("", "".join(cell["source"]))
        stub = rf"\1{STUBS[cell['cell_type']]}\n" if name == "student" else r"\2"
        text = _SOLUTION.sub(stub, text).rstrip("\n")
        cell["source"] = text.splitlines(keepends=True)
    return made


def write(name: str, folder: Path, *, replace: bool = False) -> list[Path]:
    """Write a version of every lab to a folder; return the files.

    Raises FsgreenError if another notebook of that name is there, unless it may be replaced.
    """
    made = {folder / file.name: version(_read(file), name) for file in instructors()}
    for file, notebook in made.items():
        if file.exists() and not replace and _read(file) != notebook:
            raise FsgreenError(
                "another notebook is there, perhaps with somebody's answers",
                where=file,
                next_step=f"name a new folder, or: fsgreen labs FOLDER --version {name} --replace",
            )
    folder.mkdir(parents=True, exist_ok=True)
    for file, notebook in made.items():
        text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True)  # as Jupyter does
        file.write_text(text + "\n")
    return list(made)


def _read(file: Path) -> Notebook:
    notebook: Notebook = json.loads(file.read_text())
    return notebook
