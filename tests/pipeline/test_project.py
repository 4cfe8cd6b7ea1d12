"""A project of one's own, from its first command to its report, outside of the checkout."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fsgreen import cli, paths
from fsgreen.errors import FsgreenError
from fsgreen.pipeline import closure, project
from fsgreen.pipeline.sources import Sources

STUDY = """
study: tiny
title: A moment of waiting
question: Does it matter how much is written before?
seed: 3
baseline: {workload: wait, file_system: ext4, size_b: 4096}
constants: {zone: as found}
bounds: {budget_percent: 100, others_percent: 1000, idle_band_percent: 1000}
factors:
  size_b: {owner: workload, kind: count, label: "{}b"}
workloads:
  wait:
    command: [sh, -c, "head -c {size_b} /dev/zero > file; sleep 2"]
    prepare: [sleep, "0.1"]
    size_mib: 1
matrices:
  all: {workload: [wait], file_system: [ext4], size_b: [4096, 65536]}
profiles:
  quick:
    matrices: [all]
    blocks: 1
    phases: {idle_s: 1.2, warmup_s: 0, measure_s: 2, settle_limit_s: 2}
    image_mib: 64
"""

NIGHTLY = "FSGREEN_NIGHTLY" in os.environ
REPRODUCE = ("dvc", "repro", "--quiet") if NIGHTLY else ("fsgreen", "reproduce")
"""DVC starts each stage as a process of its own, which takes a minute longer."""


def run(folder: Path, *command: str) -> str:
    """What a program of this environment prints that runs in a project."""
    programs = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": os.pathsep.join([programs, os.environ["PATH"]])}
    environment["PYTHONPATH"] = str(paths.code())
    environment.pop("FSGREEN_DATA", None)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_a_study_is_planned_measured_and_reported_in_a_project(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    run(tmp_path, "fsgreen", "new", "tiny", "--project", "mine")
    assert "6 cells" in run(folder, "fsgreen", "plan", "tiny")
    (folder / "studies" / "tiny.yaml").write_text(STUDY)
    run(folder, "fsgreen", "measure", "tiny", "--testbed", "directory", "--folder", str(tmp_path))
    run(folder, "fsgreen", "pack", "tiny-quick")
    run(folder, "dvc", "repro", "--quiet", "plan@tiny-quick")
    run(folder, "dvc", "commit", "--quiet", "--force", "collect@tiny-quick")
    run(folder, *REPRODUCE)
    results = folder / "data" / "results" / "tiny-quick"
    assert (results / "report.pdf").read_bytes().startswith(b"%PDF")
    assert "tiny-quick: can these numbers be trusted?" in (results / "outcome.txt").read_text()
    code = "import fsgreen; print(len(fsgreen.open('tiny-quick').trials))"
    assert run(folder / "notebooks", sys.executable, "-c", code) == "2\n"
    if NIGHTLY:
        assert "nothing is out of date" in run(folder, "fsgreen", "reproduce")
    assert not (paths.root() / "data" / "raw" / "tiny-quick").exists()


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is the one around the working directory."""
    folder = tmp_path / "mine"
    project.write(folder)
    monkeypatch.setattr(paths, "root", lambda: folder)
    return folder


def test_its_pipeline_is_that_of_the_package(made: Path) -> None:
    """Its stages differ in the folders alone that belong to the package."""
    own, of_package = (yaml.safe_load((f / "dvc.yaml").read_text()) for f in (made, paths.code()))
    assert own["stages"].keys() == of_package["stages"].keys()
    for name, stage in of_package["stages"].items():
        for kind in ("deps", "outs"):
            ours, theirs = (s.get("do", s).get(kind, []) for s in (own["stages"][name], stage))
            left = [entry for entry in theirs if entry not in ours]
            assert set(left) <= set(closure.SHIPPED)
    assert all(made.joinpath(name).exists() for name in ("README.md", "environment.yml", ".dvc"))


def test_digests_there_name_the_texts_and_numbers_of_the_package(made: Path) -> None:
    """An edit of these would otherwise leave an old report standing."""
    listed = closure.digest("paper", "mine", Sources())
    assert "  paper/study.typ\n" in listed
    assert "  data/reference/claims.yaml\n" in listed
    assert "  paper/study.typ\n" not in closure.digest("reduce", "mine", Sources())
    (made / "paper").mkdir()
    (made / "paper" / "mine.typ").write_text("= Mine")
    assert closure.digest("paper", "mine", Sources()) != listed


def test_a_notebook_and_a_text_of_its_own_stand_before_those_of_the_package(made: Path) -> None:
    assert paths.notebook("60_analyse") == paths.notebooks() / "60_analyse.ipynb"
    (made / "notebooks" / "60_analyse.ipynb").write_text("{}")
    assert paths.notebook("60_analyse") == made / "notebooks" / "60_analyse.ipynb"
    (made / "paper").mkdir()
    (made / "paper" / "study.typ").write_text("= Mine")
    assert paths.texts()["study.typ"] == made / "paper" / "study.typ"
    assert paths.texts()["style.typ"] == paths.shipped() / "paper" / "style.typ"


def test_nothing_of_a_project_is_written_over_but_its_pipeline(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (made / "README.md").write_text("precious")
    (made / "dvc.yaml").write_text("stages: {digest: {cmd: old}}")
    closure._tell_of_another_pipeline()
    assert "are not those of this fsgreen" in capsys.readouterr().err
    assert project.write(made) == [made / "dvc.yaml"]
    closure._tell_of_another_pipeline()
    assert capsys.readouterr().err == ""
    assert (made / "README.md").read_text() == "precious"


def test_a_pipeline_of_somebody_else_is_not_written_over(tmp_path: Path) -> None:
    """Who uses DVC for other things lost what it ran."""
    (tmp_path / "dvc.yaml").write_text("stages: {train: {cmd: train}}")
    (tmp_path / "params.yaml").write_text("rate: 1")
    with pytest.raises(FsgreenError, match="another pipeline") as told:
        project.write(tmp_path, "mine")
    assert told.value.next_step == "a folder of its own: fsgreen new mine --project FOLDER"
    assert (tmp_path / "dvc.yaml").read_text() == "stages: {train: {cmd: train}}"


def test_nothing_to_reproduce_yet_is_told(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["reproduce", "mine-quick"]) == 1
    assert "nothing of this project has been recorded yet" in capsys.readouterr().err


def test_a_folder_whose_name_cannot_be_a_study_needs_one(tmp_path: Path) -> None:
    with pytest.raises(FsgreenError, match="cannot be the name of a study"):
        project.write(tmp_path / "my paper")
    assert not (tmp_path / "my paper").exists()
    assert project.write(tmp_path / "my paper", "mine")[0].name == "mine.yaml"


def test_the_nearest_project_around_the_working_directory_counts(tmp_path: Path) -> None:
    project.write(tmp_path / "mine")
    code = "from fsgreen import paths; print(paths.root())"
    inside = run(tmp_path / "mine" / "notebooks", sys.executable, "-c", code)
    assert inside.strip() == str(tmp_path / "mine")
    assert run(tmp_path, sys.executable, "-c", code).strip() == str(paths.code())


def test_messages_name_commands_that_a_project_has(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["status", "mine-quick"]) == 1
    shown = capsys.readouterr().err
    assert "fsgreen reproduce" in shown
    assert "./run" not in shown


def test_a_study_in_the_checkout_needs_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["new"]) == 1
    assert "fsgreen new mine" in capsys.readouterr().err
