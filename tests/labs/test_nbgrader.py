"""nbgrader itself takes each lab from the instructor's notebook to points and feedback."""

import copy
import csv
import json
import os
import subprocess

import mail_trials
import pytest
import virtual_samples
from played import FILES, notebook

from fsgreen import paths
from fsgreen.labs import versions
from tests import clones, documented

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "FSGREEN_NIGHTLY" not in os.environ,
        reason="installs nbgrader and grades for minutes: FSGREEN_NIGHTLY=1 ./run test "
        "tests/labs/test_nbgrader.py",
    ),
    pytest.mark.skipif(
        paths.program("fsgreen-simdisk") is None, reason="needs the engine: ./run engine"
    ),
]

INSTALL, COURSE, CONFIGURATION, GRADE = documented.tested("docs/labs.md")
"""What the teacher's page says of nbgrader, for the lab `energy`."""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course folder with a source for each lab, made as the page says; runs commands in it."""
    folder = tmp_path_factory.mktemp("checkout")
    clones.stand_in(folder)
    (folder / "notebooks").symlink_to(paths.notebooks())
    mail_trials.write(folder / "data")
    virtual_samples.write(folder / "data")
    environment = clones.environment(paths.code()) | {
        "HOME": str(folder),
        "FSGREEN_DATA": str(folder / "data"),
    }

    def run(script, where=folder):
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=where,
            env=environment,
            capture_output=True,
            text=True,
        )

    installed = run(INSTALL)
    if installed.returncode:
        pytest.skip(f"needs nbgrader from a package registry: {installed.stderr[-300:]}")
    environment["PATH"] = f"{folder}/nbgrader-env/bin:{environment['PATH']}"
    made = run(COURSE)
    assert made.returncode == 0, made.stderr
    (folder / "course" / "nbgrader_config.py").write_text(CONFIGURATION)

    def graded(command, lab):
        done = run(command.replace("energy", lab), folder / "course")
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"

    return folder / "course", graded


def submit(course, student, lab, book):
    """Hand in a notebook."""
    file = course / "submitted" / student / lab / f"{lab}.ipynb"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(book))


def solved(released, instructors):
    """What was released, with the solutions in place of the stubs."""
    made = copy.deepcopy(released)
    solution = versions.version(instructors, "solution")
    for cell, answer in zip(made["cells"], solution["cells"], strict=True):
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = answer["source"]
    return made


def points(book):
    """The points that checks give, and all."""
    graded = [cell["metadata"].get("nbgrader", {}) for cell in book["cells"]]
    every = [cell for cell in graded if cell.get("grade")]
    checked = sum(cell["points"] for cell in every if not cell["solution"])
    return checked, sum(cell["points"] for cell in every)


def text(cell):
    return "".join(cell["source"])


@pytest.mark.parametrize("name", FILES)
def test_nbgrader_releases_grades_and_comments_a_lab(course, name):
    """A teacher with thirty notebooks has no use for marks that only look like nbgrader's."""
    folder, graded = course
    book = notebook(FILES[name])
    source = folder / "source" / name / f"{name}.ipynb"
    source.parent.mkdir(exist_ok=True)
    source.write_bytes(FILES[name].read_bytes())
    generate, *others = [line.partition("#")[0] for line in GRADE.splitlines()]

    graded(generate, name)
    released = notebook(folder / "release" / name / f"{name}.ipynb")
    students = versions.version(book, "student")
    assert [text(cell).strip() for cell in released["cells"]] == [
        text(cell).strip() for cell in students["cells"]
    ]

    submit(folder, "solver", name, solved(released, book))
    submit(folder, "idler", name, released)
    for command in (*others, "nbgrader export"):
        graded(command, name)
    with (folder / "grades.csv").open() as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file) if row["assignment"] == name}
    checked, every = points(book)
    assert float(rows["solver"]["score"]) == checked
    assert float(rows["idler"]["score"]) == 0
    assert float(rows["solver"]["max_score"]) == every
    said = (folder / "feedback" / "idler" / name / f"{name}.html").read_text()
    assert "Not yet: " in said and "most recent call last" not in said
