"""The notebooks: thin, without outputs, and each runs in a kernel of its own."""

import ast
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mail_trials
import nbformat
import pytest
import shipped
import small_labs
import virtual_samples
from mounts_of_greenfs import needs_a_mount

from fsgreen import paths, pipeline, reduce, saving
from fsgreen.labs import versions
from fsgreen.pipeline import closure

NOTEBOOKS = sorted(paths.notebooks().glob("*.ipynb"))
LABS = sorted((paths.notebooks() / "labs").glob("*.ipynb"))
EACH = pytest.mark.parametrize("notebook", [*NOTEBOOKS, *LABS], ids=lambda file: file.stem)
APART = sorted({*NOTEBOOKS, *LABS} - {*closure.stages().values()})
"""Those that are no stage of the pipeline: tests/pipeline/test_reproduction.py runs the stages."""
WITH_WIDGETS = ("02_cockpit", "25_live_power")
IN_A_KERNEL = [
    file for file in APART if file.stem in WITH_WIDGETS or "FSGREEN_NIGHTLY" in os.environ
]
"""By night all of them; by day those whose widgets change while they are shown."""
FORKED = [file for file in APART if file not in IN_A_KERNEL]
FORKS = """
import gc, json, os, sys, warnings
from pathlib import Path
import matplotlib; matplotlib.use("Agg")
import pandas, seaborn, statsmodels.api
from IPython.core.interactiveshell import InteractiveShell
gc.freeze()
for name, cells in json.load(sys.stdin).items():
    os.mkdir(name)
    if child := os.fork():
        os.waitpid(child, 0)
        continue
    os.chdir(name)
    said = os.open("said", os.O_WRONLY | os.O_CREAT)
    os.dup2(said, 1)
    os.dup2(said, 2)
    shell = InteractiveShell.instance()
    for cell in cells:
        done = shell.run_cell("".join(cell["source"]))
        if not done.success and "raises-exception" not in cell["metadata"].get("tags", ()):
            break
    else:
        print("\\nall done", flush=True)
    sys.stdout.flush()
    os._exit(0)
"""
"""Runs the cells of each notebook in a shell of its own, in a process that is forked for it."""
LITERALS = {"str", "int", "float", "bool"}


def place(notebook: Path) -> str:
    return str(notebook.relative_to(paths.notebooks()))


def code_of(notebook: Path) -> list[dict[str, Any]]:
    cells = json.loads(notebook.read_text())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def with_values(cells: list[dict[str, Any]], values: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells with other parameters, as papermill gives them."""
    places = [n for n, cell in enumerate(cells) if "parameters" in cell["metadata"].get("tags", ())]
    after = places[0] + 1
    given = {"source": [f"{name} = {value!r}\n" for name, value in values.items()], "metadata": {}}
    return [*cells[:after], given, *cells[after:]]


def test_there_is_a_notebook_for_each_step() -> None:
    before = [
        "00_start_here",
        "01_explore",
        "02_cockpit",
        "10_plan",
        "20_preflight",
        "25_live_power",
        "30_collect",
    ]
    closer = ["65_latency_profiles", "92_export", "95_ledger", "96_greenfs"]
    assert [file.stem for file in NOTEBOOKS] == sorted([*before, *paths.ANALYSIS, *closer])


def test_the_first_notebook_lists_the_others_in_their_order() -> None:
    """A step that it leaves out is one that a new user never finds."""
    first, *others = NOTEBOOKS
    (start, *_) = json.loads(first.read_text())["cells"]
    listed = re.findall(r"^\| \[(\w+)\]\(\1\.ipynb\) \|", "".join(start["source"]), re.MULTILINE)
    assert listed == [file.stem for file in others]


@EACH
def test_its_links_lead_to_notebooks_that_there_are(notebook: Path) -> None:
    """JupyterLab opens nothing, and says nothing, where there is no file."""
    for cell in json.loads(notebook.read_text())["cells"]:
        if cell["cell_type"] == "markdown":
            for target in re.findall(r"\]\(([^)#:]+\.ipynb)\)", "".join(cell["source"])):
                assert (notebook.parent / target).is_file(), target


@EACH
def test_it_is_committed_without_outputs(notebook: Path) -> None:
    """Outputs would make every look at a notebook a change in version control."""
    for cell in code_of(notebook):
        assert not cell["outputs"]
        assert cell["execution_count"] is None


@pytest.mark.parametrize("notebook", [*NOTEBOOKS, *LABS, *versions.instructors()], ids=place)
def test_it_is_committed_as_jupyterlab_saves_it(notebook: Path) -> None:
    """Else the first look at it, which JupyterLab saves, is a change in version control."""
    read = nbformat.read(notebook, as_version=4)
    assert notebook.read_text() == nbformat.writes(read) + "\n"
    assert read.metadata == saving.KERNEL


@EACH
def test_it_is_thin(notebook: Path) -> None:
    """What is defined in a notebook cannot be tested or called from elsewhere."""
    cells = code_of(notebook)
    assert sum("nbgrader" not in cell["metadata"] for cell in cells) <= 16
    for cell in cells:
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            assert not isinstance(node, ast.FunctionDef | ast.ClassDef)


@EACH
def test_its_parameters_are_literals_with_type_and_meaning(notebook: Path) -> None:
    (cell,) = [c for c in code_of(notebook) if "parameters" in c["metadata"].get("tags", [])]
    lines = "".join(cell["source"]).splitlines()
    declared = pipeline.notebook_parameters(notebook)
    assert len(lines) == len(declared), "each line is `name: type = literal  # meaning, unit`"
    if notebook in NOTEBOOKS:
        assert {"campaign", "study"} & declared.keys(), "its executed copy goes to results of one"
    for line, parameter in zip(lines, declared.values(), strict=True):
        assert re.search(r"  # \S", line), line
        assert parameter.type in LITERALS
        assert type(parameter.default).__name__ == parameter.type


@EACH
def test_its_pictures_have_a_text_for_who_cannot_see_them(notebook: Path) -> None:
    """What nbconvert makes hands it to a screen reader; JupyterLab 4.6 keeps it to itself."""
    code = ast.parse("\n".join("".join(cell["source"]) for cell in code_of(notebook)))
    calls = [node for node in ast.walk(code) if isinstance(node, ast.Call)]
    for call in calls:
        if ast.unparse(call.func) == "Image":
            assert "alt" in {keyword.arg for keyword in call.keywords}


@EACH
def test_it_uses_no_relative_path(notebook: Path) -> None:
    """The stages of the pipeline run in the project, those in JupyterLab beside their notebook."""
    code = "\n".join("".join(cell["source"]) for cell in code_of(notebook))
    assert not re.search(r"""["']\.{1,2}/|open\(|Path\(|chdir|%cd""", code)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One workload of the campaign that notebooks show if nobody names one, reduced.

    It is the one that they compare profiles of; nothing is written into the checkout. A lab reads
    the trials of a mail server in another campaign, which are made up here.
    """
    folder = tmp_path_factory.mktemp("data")
    shipped.mail_server(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FSGREEN_DATA", str(folder))
        reduce.write("fast10")
    mail_trials.write(folder)
    virtual_samples.write(folder)
    return folder


def needs_of_labs(notebook: Path) -> None:
    if notebook in LABS and not hasattr(pytest.importorskip("fsgreen_engine"), "decisions"):
        pytest.skip("the labs need the simulator: run ./run engine")
    if notebook.stem == "96_greenfs":
        needs_a_mount()


@pytest.fixture(scope="module")
def under_nbval(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What nbval says of each notebook with a kernel: it runs one after the other in a folder."""
    folder = tmp_path_factory.mktemp("kernels")
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-p", "nbval.plugin", "--nbval-lax"]
    command += [
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        str(paths.notebooks()),
        f"--junitxml={report}",
    ]
    subprocess.run(
        [*command, *map(str, IN_A_KERNEL)],
        cwd=folder,
        env=os.environ | {"FSGREEN_DATA": str(data), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )
    said = {file.stem: "" for file in IN_A_KERNEL}
    for cell in ElementTree.parse(report).iter("testcase"):
        wrong = "".join(each.text or "" for each in cell if each.tag in ("failure", "error"))
        *_, stem = re.split("[./]", cell.attrib["classname"].removesuffix(".ipynb"))
        said[stem] += f"{wrong}\n"
    return said


@pytest.mark.notebook
@pytest.mark.parametrize("notebook", IN_A_KERNEL, ids=lambda file: file.stem)
def test_it_runs_from_any_directory(notebook: Path, under_nbval: dict[str, str]) -> None:
    """JupyterLab, nbval and papermill run it in three different folders."""
    needs_of_labs(notebook)
    said = under_nbval[notebook.stem]
    assert said.count("\n") >= len(code_of(notebook)), "not all of its cells ran"
    assert not said.strip(), said[-4000:]


@pytest.fixture(scope="module")
def ended(data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What became of the cells of every notebook without a kernel: nothing, or an error."""
    folder = tmp_path_factory.mktemp("elsewhere")
    small = small_labs.parameters(folder) if find_spec("fsgreen_engine") else {}
    books = {file.stem: with_values(code_of(file), small.get(file.stem, {})) for file in FORKED}
    subprocess.run(
        [sys.executable, "-c", FORKS],
        input=json.dumps(books),
        text=True,
        cwd=folder,
        env=os.environ | {"FSGREEN_DATA": str(data), "OPENBLAS_NUM_THREADS": "1"},
        check=True,
    )
    return {name: (folder / name / "said").read_text() for name in books}


@pytest.mark.notebook
@pytest.mark.parametrize("notebook", FORKED, ids=lambda file: file.stem)
def test_its_cells_run_from_any_directory(notebook: Path, ended: dict[str, str]) -> None:
    """A kernel for each takes longer than most need to run."""
    needs_of_labs(notebook)
    assert ended[notebook.stem].endswith("\nall done\n"), ended[notebook.stem][-4000:]
