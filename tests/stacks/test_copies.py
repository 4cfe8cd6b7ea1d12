"""Whether a copy holds what was to be kept in it."""

import filecmp
import os
from pathlib import Path

import pytest

from fsgreen.devices.names import FLASH
from fsgreen.stacks.base import REMOTE
from fsgreen.stacks.greenfs import OWN, Volume, difference


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path]:
    """A folder and its copy; what GreenFS keeps beside the files is another one's in each."""
    for name in ("whole", "copy"):
        (tmp_path / name / "folder").mkdir(parents=True)
        (tmp_path / name / "folder" / "file").write_bytes(b"same")
        (tmp_path / name / "link").symlink_to("folder")
        (tmp_path / name / OWN).mkdir()
        (tmp_path / name / OWN / name).touch()
    return tmp_path / "whole", tmp_path / "copy"


def test_an_equal_copy_has_no_difference(trees: tuple[Path, Path]) -> None:
    assert difference(*trees) is None


def test_data_count_also_where_size_and_time_are_the_same(trees: tuple[Path, Path]) -> None:
    """A copy of nothing but sizes would pass for one of the files."""
    whole, copy = (tree / "folder" / "file" for tree in trees)
    copy.write_bytes(b"else")
    times_ns = whole.stat().st_atime_ns, whole.stat().st_mtime_ns
    os.utime(copy, ns=times_ns)
    assert difference(*trees) == "has other data in folder/file"
    copy.write_bytes(b"same")
    os.utime(copy, ns=times_ns)
    assert difference(*trees) is None, "what was compared before may have changed since"


def test_what_is_missing_other_or_left_is_named(trees: tuple[Path, Path]) -> None:
    whole, copy = trees
    (copy / "folder" / "old").touch()
    assert difference(whole, copy) == "has folder/old, which is gone"
    (copy / "link").unlink()
    (copy / "link").mkdir()
    assert difference(whole, copy) == "has something else in place of link"
    (copy / "folder" / "file").unlink()
    (whole / "link").unlink()
    assert difference(whole, copy) == "lacks folder/file"


def test_a_copy_that_cannot_be_read_is_none(
    trees: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk with an unreadable sector would end the campaign, and not the trial."""
    volume = Volume(tmp_path, 0)
    volume._folders = dict(zip((FLASH, REMOTE), trees, strict=True))
    monkeypatch.setattr(volume, "_mount", object())
    monkeypatch.setattr(volume, "settle", lambda: None)
    assert volume.lacking() is None
    compare = filecmp.cmp

    def unreadable(whole: Path, copy: Path, *, shallow: bool) -> bool:
        if copy.is_relative_to(trees[1]):
            raise OSError(5, "Input/output error", str(copy))
        return compare(whole, copy, shallow=shallow)

    monkeypatch.setattr(filecmp, "cmp", unreadable)
    assert "the remote cannot be compared with flash: [Errno 5]" in (volume.lacking() or "")
