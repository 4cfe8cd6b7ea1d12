"""Running one notebook, and the pipeline on the shipped traces as its user would."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from fsgreen import paths, pipeline
from fsgreen.errors import FsgreenError
from fsgreen.papers.fast10.reference import WORKLOADS

CAMPAIGN = "fast10"


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
    with pytest.raises(FsgreenError, match=r"no step(.|\n)*next:  \./run lab"):
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


# --- the pipeline as its user runs it ----------------------------------------------------------


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of what is in the work tree now, all of it committed."""
    folder = tmp_path_factory.mktemp("clone")
    git = ["git", "-C", str(folder)]
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=paths.root(), capture_output=True, text=True, check=True)
    for name in names.stdout.splitlines():
        if (paths.root() / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(paths.root() / name, folder / name)
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    author = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    subprocess.run([*git, *author, "commit", "-q", "-m", "all"], check=True)
    return folder


def in_clone(clone: Path, *command: str) -> str:
    """Run a command with the clone's code; return what it printed."""
    programs = str(Path(sys.executable).parent)
    environment = os.environ | {
        "PYTHONPATH": str(clone),
        "PATH": os.pathsep.join([programs, os.environ["PATH"]]),
    }
    environment.pop("FSGREEN_DATA", None)
    run = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    return run.stdout


@pytest.fixture(scope="module")
def reproduced(clone: Path) -> str:
    """What the pipeline prints when it makes everything in the clone."""
    return in_clone(clone, sys.executable, "-m", "fsgreen", "reproduce")


@pytest.mark.pipeline
def test_a_clone_reproduces_every_result_to_the_byte(clone: Path, reproduced: str) -> None:
    """`dvc.lock` holds the hashes of the results: another byte would change it."""
    for said in (
        "verdicts on 99 claims",
        "Of 44 rules",
        "\n  quiet: 1, 2,",
        "options, published against here",
        "what to change (throughput",
    ):
        assert said in reproduced, f"nothing is said of: {said}"
    report = Path(reproduced.strip().splitlines()[-1].removeprefix("report: "))
    assert report.read_bytes().startswith(b"%PDF")
    assert in_clone(clone, "git", "status", "--porcelain") == ""
    notebooks = sorted((clone / "data" / "results" / CAMPAIGN / "notebooks").glob("*.ipynb"))
    assert {file.stem for file in notebooks} >= set(pipeline.ANALYSIS)
    for file in notebooks:
        for cell in nbformat.read(file, as_version=4).cells:
            warned = [o for o in cell.get("outputs", []) if o.get("name") == "stderr"]
            assert not warned, f"{file.stem}: {warned[0].text}"


@pytest.mark.pipeline
@pytest.mark.usefixtures("reproduced")
def test_the_documents_say_and_show_what_comes_out(clone: Path) -> None:
    """Numbers and pictures that were copied into a text grow old without anybody noticing."""
    docs, results = clone / "docs", clone / "data" / "results"
    for shown, figure in {
        "fast10-fig1": results / CAMPAIGN / "figures" / "fig1.png",
        "fast10-options": results / "fast10-options" / "figures" / "fig_options.png",
        "fast10-options-disk": results / "fast10-options-disk" / "figures" / "fig_options.png",
    }.items():
        assert (docs / f"{shown}.png").read_bytes() == figure.read_bytes()
    texts = (docs / "since2010.md").read_text().split("\n## On a disk\n")
    for campaign, text in zip(("fast10-options", "fast10-options-disk"), texts, strict=True):
        now = pd.read_csv(results / campaign / "tables" / "then_and_now.csv", dtype=str)
        outside = (now["the published number is"] == "outside").sum()
        one_line = " ".join(text.split())
        assert f"Of these {len(now)} published numbers {outside} lie" in one_line
        told = [line.strip("| ").split(" | ") for line in text.splitlines() if " | [" in line]
        effects = pd.read_csv(results / campaign / "effects.csv")
        equal = (effects["outcome"] == "equivalent").sum()
        assert (f"None of the {len(effects)} comparisons could be called equal" in one_line) == (
            equal == 0
        )
        rows = now[list(now)[:6]].to_numpy().tolist()
        assert len(told) > 10 and all(row in rows for row in told)
        parts = pd.read_csv(results / campaign / "claim_parts.csv", dtype=str)
        advice = pd.read_csv(results / campaign / "tables" / "advice.csv", dtype=str)
        found = {*parts["ours"], *advice["throughput"]}
        assert set(re.findall(r"[+-]\d+ % \[.*?\]", one_line)) <= found
        if campaign == "fast10-options":
            table = pd.read_csv(results / campaign / "recommended.csv")
            sure = table[(table["metric"] == "throughput") & (table["verdict"] == "gain")]
            counted = {2: "two", 3: "three", 4: "four"}[len({*sure["workload"]} & {*WORKLOADS})]
            assert f"is left on {counted} of the four" in one_line
            readme = " ".join((clone / "README.md").read_text().split())
            assert f"{outside} of {len(now)} published effects" in readme


@pytest.mark.pipeline
@pytest.mark.usefixtures("reproduced")
def test_every_effect_that_differs_between_memory_and_disk_is_named(clone: Path) -> None:
    """ "As in RAM" is said of all others."""
    of = ["workload", "file_system", "option"]
    ram, disk = (
        pd.read_csv(clone / "data" / "results" / campaign / "effects.csv")
        .query("kind == 'option' and metric == 'throughput'")
        .set_index(of)
        for campaign in ("fast10-options", "fast10-options-disk")
    )
    apart = (ram["ratio_low_x"] > disk["ratio_high_x"]) | (
        ram["ratio_high_x"] < disk["ratio_low_x"]
    )
    text = (clone / "docs" / "since2010.md").read_text().partition("\n## On a disk\n")[2]
    unnamed = [names for names in apart[apart].index if f"| {' | '.join(names)} |" not in text]
    assert not unnamed


@pytest.mark.pipeline
@pytest.mark.usefixtures("reproduced")
def test_a_second_run_does_nothing(clone: Path) -> None:
    """Its user would wait minutes for results that are there."""
    shown = in_clone(clone, sys.executable, "-m", "fsgreen", "reproduce")
    assert shown.startswith("nothing is out of date\n")
    assert " runs" not in shown


@pytest.mark.pipeline
@pytest.mark.usefixtures("reproduced")
@pytest.mark.parametrize(
    ("edited", "out_of_date"),
    [
        (f"fsgreen/papers/{CAMPAIGN}/figures/cpu_split.py", "figures"),
        (f"fsgreen/papers/{CAMPAIGN}/measured.py", "claims"),
    ],
)
def test_an_edit_runs_only_what_depends_on_it(clone: Path, edited: str, out_of_date: str) -> None:
    """The paper follows only if its figures or verdicts come out as other bytes."""
    file = clone / edited
    before = file.read_text()
    file.write_text(before + "\n# edited\n")
    try:
        in_clone(
            clone, sys.executable, "-c", "from fsgreen import pipeline; pipeline.write_digests()"
        )
        planned = in_clone(clone, sys.executable, "-m", "dvc", "repro", "--dry")
    finally:
        file.write_text(before)
    assert set(re.findall(r"Running stage '(\w+)@", planned)) == {out_of_date}
