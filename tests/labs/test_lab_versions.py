"""One notebook for each lab: what students get is made from the instructor's, and hides answers."""

from pathlib import Path

import pytest
from played import FILES, grade_id, notebook

from fsgreen import paths
from fsgreen.cli import main
from fsgreen.errors import FsgreenError
from fsgreen.labs import versions

EACH = pytest.mark.parametrize("name", FILES)


def sources(book: versions.Notebook) -> list[str]:
    return ["".join(cell["source"]) for cell in book["cells"]]


def test_there_are_seven() -> None:
    assert len(FILES) == 7


@EACH
def test_the_students_notebook_is_made_from_the_instructors(name: str) -> None:
    """Otherwise a mended task would be mended for one of them."""
    committed = notebook(paths.notebooks() / "labs" / f"{name}.ipynb")
    made = versions.version(notebook(FILES[name]), "student")
    renew = "./run labs notebooks/labs --version student --replace"
    assert committed == made, f"make them anew: {renew}"


@EACH
def test_students_see_no_solution_and_no_hidden_test(name: str) -> None:
    book = notebook(FILES[name])
    student = versions.version(book, "student")
    for cell, hers in zip(book["cells"], student["cells"], strict=True):
        text, shown = "".join(cell["source"]), "".join(hers["source"])
        graded = cell["metadata"].get("nbgrader", {})
        assert ("### BEGIN SOLUTION" in text) == graded.get("solution", False)
        if graded.get("solution"):
            assert versions.STUBS[cell["cell_type"]] in shown
            hidden = text.split("### BEGIN SOLUTION\n")[1].split("### END SOLUTION")[0]
            assert not {line for line in hidden.splitlines() if line} & set(shown.splitlines())
        assert "HIDDEN" not in shown


@EACH
def test_the_solution_has_no_marks_left(name: str) -> None:
    text = "\n".join(sources(versions.version(notebook(FILES[name]), "solution")))
    assert "### " not in text.replace("\n## ", "")
    assert not any(stub in text for stub in versions.STUBS.values())


@EACH
def test_nbgrader_can_tell_its_cells_apart(name: str) -> None:
    """It refuses a notebook with a name given twice, or a graded cell without points."""
    cells = [cell for cell in notebook(FILES[name])["cells"] if grade_id(cell)]
    names = [grade_id(cell) for cell in cells]
    assert len(names) == len(set(names))
    for cell in cells:
        graded = cell["metadata"]["nbgrader"]
        assert graded["grade"] == ("points" in graded)
        assert graded["locked"] == (graded["grade"] and not graded["solution"])


def test_versions_are_written_and_answers_never_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "course"
    assert main(["labs", str(folder), "--version", "solution"]) == 0
    written = capsys.readouterr().out.split()
    assert [Path(file).stem for file in written] == list(FILES)
    [file] = [Path(one) for one in written if Path(one).stem == "energy_is_not_power"]
    file.write_text(file.read_text().replace("# Energy", "# My energy"))
    with pytest.raises(FsgreenError, match="somebody's answers"):
        versions.write("solution", folder)
    assert "# My energy" in file.read_text()
    versions.write("solution", folder, replace=True)
    assert "# My energy" not in file.read_text()
