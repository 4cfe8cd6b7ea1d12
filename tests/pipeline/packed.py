"""A campaign to be packed, and what tests look at of it."""

import tarfile
from pathlib import Path

import pytest
import synthetic

Files = dict[str, bytes]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The raw traces of the campaign `c`, in an own data folder."""
    monkeypatch.setenv("FSGREEN_DATA", str(tmp_path))
    synthetic.write_raw("c", synthetic.make_plan())
    why = tmp_path / "raw/c/invalid/b01-002.1/trial.json"
    why.parent.mkdir(parents=True)
    why.write_bytes(b"why\n")
    return tmp_path / "raw/c"


def read(folder: Path) -> Files:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def trials_of(folder: Path) -> list[Path]:
    return sorted((folder / "trials").iterdir())


def taken_away(folder: Path) -> Path:
    return folder.rename(folder.with_name("before"))


def names_in(pack: Path) -> list[str]:
    with tarfile.open(pack) as tar:
        return tar.getnames()
