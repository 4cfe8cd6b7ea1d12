"""Running one notebook: its parameters, its failures, and what counts as a change of it."""

from pathlib import Path

import nbformat
import pytest

from fsgreen import paths, pipeline
from fsgreen.errors import FsgreenError


def write_notebook(folder: Path, *code: str) -> Path:
    """A notebook with the parameters `campaign` and `limit_s`, and these cells."""
    parameters = nbformat.v4.new_code_cell(
        'campaign: str = "toy"  # a name\nlimit_s: float = 1.5  # seconds\nfull: bool = False  # ?'
    )
    parameters.metadata["tags"] = ["parameters"]
    notebook = nbformat.v4.new_notebook(
        cells=[parameters, *map(nbformat.v4.new_code_cell, code)],
        metadata={"kernelspec": {"name": "python3", "display_name": "P", "language": "python"}},
    )
    file = folder / "05_toy.ipynb"
    nbformat.write(notebook, file)
    return file


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Notebooks and data in a folder of the test."""
    monkeypatch.setattr(paths, "notebooks", lambda: tmp_path)
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path / "data"))
    return tmp_path


@pytest.mark.notebook
def test_a_notebook_gets_its_parameters_and_is_kept_with_outputs(toy: Path) -> None:
    write_notebook(toy, "print(campaign, limit_s + 1, full)")
    done = pipeline.run_notebook("05_toy", {"campaign": "mine", "limit_s": "2e0", "full": "true"})
    assert done == toy / "data" / "results" / "mine" / "notebooks" / "05_toy.ipynb"
    assert "mine 3.0 True" in done.read_text()
    assert [file.name for file in done.parent.iterdir()] == ["05_toy.ipynb"]


@pytest.mark.notebook
def test_a_failing_cell_is_named_and_its_notebook_kept(toy: Path) -> None:
    write_notebook(toy, "raise ValueError('no such watt')")
    with pytest.raises(FsgreenError, match="no such watt") as caught:
        pipeline.run_notebook("05_toy")
    failed = toy / "data" / "results" / "toy" / "notebooks" / "05_toy.failed.ipynb"
    assert caught.value.where == str(failed)
    assert [file.name for file in failed.parent.iterdir()] == ["05_toy.failed.ipynb"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"campain": "x"}, "did you mean campaign"),
        ({"limit_s": "soon"}, "limit_s is of type float"),
        ({"full": "["}, "full is of type bool"),
        ({"full": "perhaps"}, "full is of type bool"),
    ],
)
def test_a_wrong_parameter_is_refused_before_anything_runs(toy, parameters, message) -> None:
    write_notebook(toy)
    with pytest.raises(FsgreenError, match=message):
        pipeline.run_notebook("05_toy", parameters)
    assert not (toy / "data").exists()


def test_an_unknown_notebook_names_the_known_ones() -> None:
    with pytest.raises(FsgreenError, match="60_analyse"):
        pipeline.run_notebook("60_analyze")


def test_a_notebook_that_is_no_step_is_for_the_lab() -> None:
    with pytest.raises(FsgreenError, match=r"not part of the pipeline(.|\n)*next:  \./run lab"):
        pipeline.run_notebook("labs/fool_yourself_with_a_disk")


def test_looking_at_a_notebook_does_not_change_its_digest(toy: Path) -> None:
    """Otherwise each run in JupyterLab would make its stage out of date."""
    file = write_notebook(toy, "1 + 1")
    before = pipeline.code_digest(file)
    notebook = nbformat.read(file, as_version=4)
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="2")]
    notebook.cells[1].execution_count = 7
    notebook.cells.append(nbformat.v4.new_markdown_cell("a remark"))
    nbformat.write(notebook, file)
    assert pipeline.code_digest(file) == before
    notebook.cells[1].source = "1 + 2"
    nbformat.write(notebook, file)
    assert pipeline.code_digest(file) != before
