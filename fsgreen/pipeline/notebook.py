"""One notebook: its parameters, and running it with papermill."""

from __future__ import annotations

import ast
import json
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from fsgreen import paths
from fsgreen.errors import FsgreenError, unknown


@dataclass(frozen=True)
class Parameter:
    """One line of a notebook's parameters cell: `name: type = literal  # what, unit`."""

    name: str
    type: str
    default: Any

    def read(self, value: object) -> Any:
        """Return a value of the declared type; a text, as a command line has it, is read as one.

        Raises FsgreenError if it is of another type.
        """
        parsed = self._from_text(value) if isinstance(value, str) else value
        fitting = {self.type, "int"} if self.type == "float" else {self.type}
        if type(parsed).__name__ not in fitting:
            raise FsgreenError(
                f"the parameter {self.name} is of type {self.type}: not {value!r}",
                next_step=f"for example: -p {self.name} {self.default}",
            )
        return parsed

    def _from_text(self, text: str) -> object:
        if self.type == "str":
            return text
        with suppress(ValueError, yaml.YAMLError):
            return float(text) if self.type == "float" else yaml.safe_load(text)
        return text


def run_notebook(name: str, parameters: Mapping[str, object] | None = None) -> Path:
    """Run a notebook and return the executed copy, kept in the results of its campaign or study.

    `name` is the notebook's file name without `.ipynb`; `parameters` are values for names of its
    parameters cell. Raises FsgreenError if there is no such notebook or parameter, if it is no step
    of the pipeline, if a value has the wrong type, or if a cell fails; the failed copy is kept and
    named.
    """
    import papermill

    from fsgreen.pipeline import cells

    source = _find(name)
    declared = notebook_parameters(source)
    if not {"campaign", "study"} & declared.keys():
        raise FsgreenError(
            f"{name} is not part of the pipeline: it is there to read and to try",
            where=source,
            next_step="./run lab",
        )
    chosen = {key: parameter.default for key, parameter in declared.items()}
    for key, value in (parameters or {}).items():
        if key not in declared:
            raise unknown("parameter", key, declared, where=source)
        chosen[key] = declared[key].read(value)
    of = "campaign" if "campaign" in declared else "study"
    place = paths.results if of == "campaign" else paths.ledger
    folder = place(chosen[of]) / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    running, failed = folder / f"{name}.running.ipynb", folder / f"{name}.failed.ipynb"
    start_s = time.monotonic()
    try:
        papermill.execute_notebook(
            source,
            running,
            parameters=chosen,
            cwd=source.parent if source.is_relative_to(paths.root()) else paths.root(),
            progress_bar={"desc": name, "leave": False} if sys.stderr.isatty() else False,
            engine_name=cells.NAME,
            request_save_on_cell_execute=False,
        )
        failed.unlink(missing_ok=True)
        done = running.replace(folder / f"{name}.ipynb")
    except papermill.PapermillExecutionError as error:
        running.replace(failed)
        raise FsgreenError(
            f"{name} stopped with {error.ename}: {error.evalue}",
            where=failed,
            next_step=f"mend that, then: fsgreen notebook {name} -p {of} {chosen[of]}",
        ) from error
    finally:
        running.unlink(missing_ok=True)
    print(f"{name} {chosen[of]}: {time.monotonic() - start_s:.1f} s", flush=True)
    return done


def notebook_parameters(notebook: Path) -> dict[str, Parameter]:
    """Return what the cell of a notebook that is tagged `parameters` declares."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    (cell,) = (cell for cell in cells if "parameters" in cell["metadata"].get("tags", ()))
    return {
        line.target.id: Parameter(
            line.target.id, ast.unparse(line.annotation), ast.literal_eval(line.value)
        )
        for line in ast.parse("".join(cell["source"])).body
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value
    }


def _find(name: str) -> Path:
    file = paths.notebook(name)
    if not file.is_file():
        folders = (paths.notebooks(), paths.root() / "notebooks")
        known = [notebook.stem for folder in folders for notebook in folder.glob("*.ipynb")]
        raise unknown("notebook", name, known, where=paths.notebooks())
    return file
