"""Notebooks run in three different directories: paths must not depend on it."""

from pathlib import Path

import pytest

from fsgreen import paths
from fsgreen.errors import FsgreenError


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
