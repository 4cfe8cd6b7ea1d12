"""What JupyterLab saves of the notebooks here: a look at one must be no change in git."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager

from fsgreen import paths, saving
from tests import clones

COMMITTED = "10_plan.ipynb"
LAB = "labs/energy_is_not_power.ipynb"
INSTRUCTOR = "labs/instructor/energy_is_not_power.ipynb"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of three notebooks, and one beside them that is not committed."""
    for name in (COMMITTED, LAB, INSTRUCTOR):
        (tmp_path / "notebooks" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(paths.notebooks() / name, tmp_path / "notebooks" / name)
    clones.commit(tmp_path)
    shutil.copy(paths.notebooks() / COMMITTED, tmp_path / "notebooks" / "mine.ipynb")
    monkeypatch.setattr(paths, "notebooks", lambda: tmp_path / "notebooks")
    return tmp_path


@pytest.fixture
def contents(project: Path) -> Iterator[FileContentsManager]:
    """What writes files for JupyterLab."""
    manager = FileContentsManager(root_dir=str(project))
    manager.register_pre_save_hook(saving.before_save)
    yield manager
    manager.notary.close()


def after_a_run(contents: FileContentsManager, path: str) -> dict[str, Any]:
    """What JupyterLab sends once all cells of a notebook were executed."""
    notebook = contents.get(path)["content"]
    notebook["metadata"]["kernelspec"]["display_name"] = "Python 3 (ipykernel)"
    notebook["metadata"]["language_info"] |= {"version": "3.11.2", "mimetype": "text/x-python"}
    for cell in notebook["cells"]:
        cell["metadata"]["trusted"] = True
        if cell["cell_type"] == "code":
            cell["outputs"] = [nbformat.v4.new_output("stream", text="12")]
            cell["execution_count"] = 3
    return {"type": "notebook", "format": "json", "content": notebook}


@pytest.mark.parametrize("name", [COMMITTED, INSTRUCTOR])
def test_a_run_of_a_committed_notebook_changes_nothing(
    project: Path, contents: FileContentsManager, name: str
) -> None:
    before = (project / "notebooks" / name).read_bytes()
    contents.save(after_a_run(contents, f"notebooks/{name}"), f"notebooks/{name}")
    assert (project / "notebooks" / name).read_bytes() == before


def test_what_somebody_writes_into_a_committed_notebook_is_saved(
    project: Path, contents: FileContentsManager
) -> None:
    model = after_a_run(contents, f"notebooks/{COMMITTED}")
    model["content"]["cells"][0]["source"] = "# My plan"
    contents.save(model, f"notebooks/{COMMITTED}")
    assert "# My plan" in (project / "notebooks" / COMMITTED).read_text()


@pytest.mark.parametrize("name", [LAB, "mine.ipynb"])
def test_students_and_notebooks_of_ones_own_keep_their_outputs(
    project: Path, contents: FileContentsManager, name: str
) -> None:
    """Who goes on tomorrow would find answers without what they were about."""
    contents.save(after_a_run(contents, f"notebooks/{name}"), f"notebooks/{name}")
    saved = nbformat.read(project / "notebooks" / name, as_version=4)
    assert all(cell.outputs for cell in saved.cells if cell.cell_type == "code")


def test_a_lab_that_is_only_opened_stays_as_it_is(
    project: Path, contents: FileContentsManager
) -> None:
    """JupyterLab writes the name of its kernel into every notebook that it opens."""
    before = (project / "notebooks" / LAB).read_bytes()
    model = contents.get(f"notebooks/{LAB}")
    model["content"]["metadata"]["kernelspec"]["display_name"] = "Python 3 (ipykernel)"
    contents.save(model, f"notebooks/{LAB}")
    assert (project / "notebooks" / LAB).read_bytes() == before


def test_other_files_are_saved_as_they_are(project: Path, contents: FileContentsManager) -> None:
    contents.save({"type": "file", "format": "text", "content": "a: 1\n"}, "notebooks/a.yaml")
    assert (project / "notebooks" / "a.yaml").read_text() == "a: 1\n"
