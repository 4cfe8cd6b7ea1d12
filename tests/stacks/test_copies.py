"""Whether a copy holds what was to be kept in it."""

import os
from pathlib import Path

import pytest

from fsgreen.stacks.greenfs import OWN, difference


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
