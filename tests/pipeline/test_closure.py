"""What stages depend on: neither too little, an old result would stand, nor too much."""

import json
import os
from pathlib import Path

import pytest

from fsgreen import paths
from fsgreen.errors import FsgreenError
from fsgreen.pipeline import closure
from fsgreen.pipeline.sources import Sources
from tests.pipeline.declared import DVC, PARAMS, entries


def test_every_stage_of_a_notebook_depends_on_its_digest() -> None:
    assert set(closure.stages()) == set(DVC) - {"digest", "collect", "unpack", "article"}
    for stage in closure.stages():
        for campaign, entry in PARAMS.items():
            assert f"build/code/{entry['study']}/{stage}" in entries(stage, "deps", campaign)


def test_the_paper_over_all_studies_rests_on_what_any_of_them_takes() -> None:
    assert "build/code/article" in DVC["article"]["deps"]
    listed = closure.article_digest(Sources())
    for file in ("article/section.py", "papers/sun14/published.py", "papers/fast10/claims.yaml"):
        assert f"  fsgreen/{file}\n" in listed


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of three modules, of which a notebook imports one, and that another in turn."""
    for name in ("code", "root", "shipped", "notebooks"):
        monkeypatch.setattr(paths, name, lambda: tmp_path)
    files = {
        "fsgreen/__init__.py": "def open():\n    from fsgreen import apart",
        "fsgreen/near/__init__.py": "def f():\n    from fsgreen import far",
        "fsgreen/near/table.csv": "1",
        "fsgreen/near/other.csv": "1",
        "fsgreen/far.py": 'from pathlib import Path\nFILE = Path(__file__).parent / "texts"',
        "fsgreen/texts/one.f": "1",
        "fsgreen/apart.py": "",
        "fsgreen/papers/__init__.py": "def step(c, n):\n    import_module(n)",
        "fsgreen/papers/mine/__init__.py": "",
        "fsgreen/papers/mine/analyse.py": "",
        "fsgreen/papers/theirs/__init__.py": "",
        "fsgreen/papers/theirs/analyse.py": "",
        "params.yaml": "campaigns: {c: {study: mine, profile: quick, place: here}}",
        "studies/mine.yaml": "profiles: {quick: {}}",
        "dvc.yaml": "stages: {go: {cmd: fsgreen notebook 05_go}}",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    write_notebook(
        tmp_path,
        "from fsgreen import near, papers\n",
        'papers.step(c, "analyse").write("table.csv")',
    )
    return tmp_path


def write_notebook(folder: Path, *cells: str) -> None:
    made = [{"cell_type": "code", "source": [cell], "metadata": {}} for cell in cells]
    (folder / "05_go.ipynb").write_text(json.dumps({"cells": made}))


@pytest.mark.parametrize(
    "touched",
    [
        "05_go.ipynb",
        "fsgreen/__init__.py",
        "fsgreen/far.py",
        "fsgreen/near/__init__.py",
        "fsgreen/papers/mine/analyse.py",
        "fsgreen/texts/one.f",
    ],
)
def test_an_edit_of_what_a_stage_uses_changes_its_digest(package: Path, touched: str) -> None:
    before = closure.digest("go", "mine", Sources())
    text = (package / touched).read_text()
    (package / touched).write_text(
        text.replace("(c, ", "(d, ") if "ipynb" in touched else text + "#"
    )
    assert closure.digest("go", "mine", Sources()) != before


@pytest.mark.parametrize(
    "touched", ["fsgreen/apart.py", "fsgreen/near/other.csv", "fsgreen/papers/theirs/analyse.py"]
)
def test_an_edit_of_anything_else_does_not(package: Path, touched: str) -> None:
    before = closure.digest("go", "mine", Sources())
    (package / touched).write_text("edited")
    assert closure.digest("go", "mine", Sources()) == before


def test_an_import_that_cannot_be_followed_is_refused(package: Path) -> None:
    """Otherwise a list would look whole and lack what that imports."""
    (package / "fsgreen" / "far.py").write_text("import importlib\nimportlib.import_module(name)")
    with pytest.raises(FsgreenError, match=r"the import in line 2 (.|\n)*far\.py"):
        closure.digest("go", "mine", Sources())


def test_digests_are_written_for_each_study_and_left_alone_while_they_hold(package: Path) -> None:
    """A new time of change would make DVC hash all of them again."""
    closure.write_digests()
    (file,) = (package / "build" / "code").rglob("go")
    assert file.parent.name == "mine"
    os.utime(file, (1, 1))
    closure.write_digests()
    assert file.stat().st_mtime == 1
    (package / "fsgreen" / "far.py").write_text("")
    closure.write_digests()
    assert file.stat().st_mtime > 1
