"""Notebooks run in three different directories: paths must not depend on it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import nbclient
import nbformat
import pytest

from fsgreen import paths, scratch
from fsgreen.errors import FsgreenError

PARAMS = "campaigns: {shipped: {study: fast10, profile: quick, place: --testbed loop}}"


def test_the_root_does_not_depend_on_the_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (paths.root() / "pyproject.toml").is_file()


def test_data_can_be_kept_on_another_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    assert paths.raw("a") == tmp_path / "raw" / "a"
    assert paths.results("a") == tmp_path / "results" / "a"


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b"])
def test_a_campaign_cannot_escape_the_data_folder(name: str) -> None:
    with pytest.raises(FsgreenError, match="cannot be the name"):
        paths.raw(name)


def test_an_unknown_study_names_those_there_are() -> None:
    with pytest.raises(FsgreenError, match="did you mean fast10"):
        paths.study("fast1")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the result of one campaign that ships, seen from a kernel; its results."""
    monkeypatch.delenv("FSGREEN_DATA", raising=False)
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    monkeypatch.setitem(
        sys.modules,
        "ipykernel.kernelapp",
        SimpleNamespace(IPKernelApp=SimpleNamespace(initialized=lambda: True)),
    )
    (tmp_path / "params.yaml").write_text(PARAMS)
    results = tmp_path / "data" / "results"
    (results / "shipped" / "figures").mkdir(parents=True)
    (results / "shipped" / "cells.csv").write_text("as shipped")
    (results / "shipped" / "figures" / "fig1.svg").write_text("as shipped")
    scratch.copied.cache_clear()
    return results


def test_a_notebook_in_the_lab_changes_no_shipped_result(lab: Path) -> None:
    folder = paths.results("shipped")
    assert folder == lab.parent / "scratch" / "shipped"
    assert (folder / "figures" / "fig1.svg").read_text() == "as shipped"
    (folder / "cells.csv").write_text("tried")
    assert (lab / "shipped" / "cells.csv").read_text() == "as shipped"


def test_what_was_tried_is_there_for_the_next_notebook_until_the_pipeline_ran(lab: Path) -> None:
    tried = paths.results("shipped") / "cells.csv"
    tried.write_text("tried")
    scratch.copied.cache_clear()
    paths.results("shipped")
    assert tried.read_text() == "tried"
    (lab / "shipped" / "cells.csv").write_text("made anew")
    later_s = tried.stat().st_mtime + 1
    os.utime(lab / "shipped" / "cells.csv", (later_s, later_s))
    scratch.copied.cache_clear()
    paths.results("shipped")
    assert tried.read_text() == "made anew"


def test_the_lab_writes_to_results_when_told_to_and_to_those_of_an_own_campaign(
    lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert paths.results("mine") == lab / "mine"
    monkeypatch.setenv("FSGREEN_OVERWRITE", "1")
    assert paths.results("shipped") == lab / "shipped"


@pytest.mark.notebook
def test_a_real_kernel_is_seen_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FSGREEN_DATA", raising=False)
    (tmp_path / "params.yaml").write_text(PARAMS)
    code = (
        "from pathlib import Path\nfrom fsgreen import paths\n"
        f"paths.root = lambda: Path({str(tmp_path)!r})\nprint(paths.results('shipped'))"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.execute(notebook, cwd=str(paths.root()))
    shown = notebook.cells[0].outputs[0].text
    assert shown.splitlines()[-1] == str(tmp_path / "data" / "scratch" / "shipped")


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch])
def test_a_data_folder_that_holds_other_things_is_refused(
    make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """FSGREEN_DATA=/srv, or /home/me, would mix a campaign with what is not fsgreen's."""
    make(tmp_path / "photos")
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    with pytest.raises(FsgreenError, match="no data folder of fsgreen: it holds photos") as refused:
        paths.raw("a")
    assert f"touch {tmp_path / paths.MARKER}" in (refused.value.next_step or "")
    (tmp_path / paths.MARKER).touch()
    assert paths.raw("a") == tmp_path / "raw" / "a"


def test_a_data_folder_in_use_is_known_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The second command on a folder, and traces of earlier versions, need nothing more."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    for name in ("raw", "results", "scratch"):
        (tmp_path / name).mkdir()
    assert paths.data() == tmp_path
