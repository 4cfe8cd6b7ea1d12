"""Whether what came out is what ships: said of the same bytes, and by how much of others."""

import subprocess
from pathlib import Path

import pytest

from fsgreen import paths
from fsgreen.pipeline.shipped import identity

LOCK = """\
stages:
  claims@c:
    outs:
    - {{path: data/results/c/claims.csv, md5: {claims}}}
    - {{path: data/results/c/figures, md5: f1.dir, nfiles: 6}}
    - {{path: data/ledgers/s/campaigns/c.csv, md5: {told}}}
  claims@other:
    outs:
    - {{path: data/results/other/claims.csv, md5: o1}}
"""
COLUMNS = "slug,part,kind,published,verdict,ours_x,ours_low_x,ours_high_x\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose commit has the digests and the numbers of one campaign."""
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    write(
        tmp_path, "c1", "t1", "a,p,measured,2x,reproduced,2,1.9,2.1\nb,q,measured,,reversed,1,,\n"
    )
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "all")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", folder, *arguments], check=True)


def write(folder: Path, claims: str, told: str, rows: str) -> None:
    (folder / "dvc.lock").write_text(LOCK.format(claims=claims, told=told))
    file = told_file(folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(COLUMNS + rows)


def told_file(folder: Path) -> Path:
    return folder / "data" / "ledgers" / "s" / "campaigns" / "c.csv"


def of_campaign(folder: Path) -> str:
    told = told_file(folder)
    return identity("stages: {}", [folder / "data" / "results" / "c", told], [told])


def test_the_same_bytes_are_said_to_be_the_same(checkout: Path) -> None:
    assert of_campaign(checkout) == "all 3 outputs (8 files) are identical to those shipped"


def test_other_bytes_of_a_table_are_named_and_measured(checkout: Path) -> None:
    """On another processor the last digits may differ: that is no other result."""
    rows = "a,p,measured,2x,reproduced,2.0002,1.9,2.1\nb,q,measured,,reversed,1,,\n"
    write(checkout, "c2", "t2", rows)
    said = of_campaign(checkout)
    assert said.startswith("2 of 3 outputs differ from those shipped; of 2 parts of claims 0 have")
    assert "differ by 0.01 % at most" in said
    assert "data/results/c/claims.csv" in said


def test_another_verdict_is_counted(checkout: Path) -> None:
    rows = "a,p,measured,2x,not reproduced,3,2.9,3.1\nb,q,measured,,reversed,1,,\n"
    write(checkout, "c1", "t2", rows)
    assert "of 2 parts of claims 1 have another verdict" in of_campaign(checkout)


def test_a_figure_that_differs_is_no_number_that_does(checkout: Path) -> None:
    lock = checkout / "dvc.lock"
    lock.write_text(lock.read_text().replace("f1.dir", "f2.dir"))
    assert of_campaign(checkout) == (
        "1 of 3 outputs differ from those shipped; no number and no verdict of a claim does: "
        "data/results/c/figures"
    )


def test_a_folder_without_git_is_compared_with_what_it_came_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive that a reviewer unpacked has no commits."""
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    write(tmp_path, "c2", "t1", "")
    before = LOCK.format(claims="c1", told="t1")
    folders = [tmp_path / "data" / "results" / "c"]
    assert identity(before, folders, []).startswith("1 of 2 outputs differ")
