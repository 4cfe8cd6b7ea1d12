"""Notebooks without a kernel show what they would show with one."""

from pathlib import Path

import nbformat
import papermill
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from fsgreen.pipeline import cells


def run(folder: Path, *code: str) -> list[nbformat.NotebookNode]:
    """The cells of a notebook after a run, or after the cell that failed."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=[*map(new_code_cell, code)], metadata={"kernelspec": kernel})
    source, done = folder / "source.ipynb", folder / "done.ipynb"
    nbformat.write(notebook, source)
    try:
        papermill.execute_notebook(source, done, engine_name=cells.NAME, progress_bar=False)
    finally:
        shown = nbformat.read(done, as_version=4)
        nbformat.validate(shown)
    return shown.cells


def test_what_a_cell_shows_is_kept_in_its_order(tmp_path: Path) -> None:
    (cell,) = run(
        tmp_path,
        "from IPython.display import Markdown, display\n"
        "print('one')\nprint('two')\ndisplay(Markdown('*three*'))\nprint('four')\n5",
    )
    kinds = [output.output_type for output in cell.outputs]
    assert kinds == ["stream", "display_data", "stream", "execute_result"]
    assert cell.outputs[0].text == "one\ntwo\n"
    assert cell.outputs[1].data["text/markdown"] == "*three*"
    assert cell.outputs[3].data["text/plain"] == "5"
    assert cell.outputs[3].execution_count == cell.execution_count == 1


def test_a_semicolon_and_none_show_nothing(tmp_path: Path) -> None:
    assert [cell.outputs for cell in run(tmp_path, "5;", "None")] == [[], []]


def test_figures_are_shown_as_pictures_and_no_window_opens(tmp_path: Path) -> None:
    (cell,) = run(tmp_path, "import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    (figure,) = cell.outputs
    assert figure.output_type == "display_data"
    assert figure.data["image/png"].startswith("iVBOR")


def test_a_bar_of_progress_leaves_no_trace_and_a_warning_stays(tmp_path: Path) -> None:
    bar, warned = run(
        tmp_path,
        "import sys\nprint('\\r 10 %\\r 90 %\\r     \\r', end='', file=sys.stderr)",
        "print('low battery', file=sys.stderr)",
    )
    assert bar.outputs == []
    (stderr,) = warned.outputs
    assert stderr.name == "stderr"
    assert "low battery" in stderr.text


def test_nothing_runs_after_a_cell_that_failed(tmp_path: Path) -> None:
    with pytest.raises(papermill.PapermillExecutionError, match="no such watt"):
        run(tmp_path, "before = 1", "raise ValueError('no such watt')", "print('after')")
    done = nbformat.read(tmp_path / "done.ipynb", as_version=4)
    assert "after" not in str([cell.outputs for cell in done.cells[-1:]])


def test_what_was_stopped_from_outside_is_no_failed_cell(tmp_path: Path) -> None:
    """Ctrl-C ends the pipeline; a cell that swallowed it would let the next one run."""
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "raise KeyboardInterrupt", "open('went-on', 'w')")
    assert not (tmp_path / "went-on").exists()


def test_one_notebook_leaves_nothing_to_the_next(tmp_path: Path) -> None:
    run(tmp_path, "left = 1")
    (cell,) = run(tmp_path, "'left' in globals()")
    assert cell.outputs[0].data["text/plain"] == "False"


def test_a_cell_can_start_processes(tmp_path: Path) -> None:
    """The reduction of a large campaign works on all cores."""
    code = (
        "from multiprocessing import get_context\n"
        "with get_context('spawn').Pool(1) as pool:\n    made = pool.map(abs, [-1])\nmade"
    )
    (cell,) = run(tmp_path, code)
    assert cell.outputs[0].data["text/plain"] == "[1]"


def test_no_kernel_is_started_so_none_can_be_interrupted_while_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """jupyter_client interrupts a kernel before it asks it to end: one that had just answered
    wrote `KeyboardInterrupt caught in kernel` into the output of the pipeline."""
    from jupyter_client.manager import KernelManager

    monkeypatch.setattr(KernelManager, "__init__", None)
    run(tmp_path, "1")
