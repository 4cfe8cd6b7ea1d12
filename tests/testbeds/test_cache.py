"""A cache that seems cold and is not makes reads look like the disk's."""

import mmap
import os
from pathlib import Path

import pytest

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import cache

MEMORY = "the folder for temporary files is in memory: set TMPDIR to a folder on a disk"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    file = tmp_path / "file"
    with file.open("wb") as opened:
        opened.write(os.urandom(40 * mmap.PAGESIZE + 1))
        os.fsync(opened.fileno())
    return file


def test_every_page_just_written_is_seen(written: Path) -> None:
    assert cache.resident_b([written]) == 41 * mmap.PAGESIZE
    with pytest.raises(FsgreenError, match="not cold"):
        cache.require_cold([written], written.parent)


def test_dropped_pages_are_gone_and_one_read_brings_some_back(written: Path) -> None:
    cache.drop(written.parent)
    if cache.resident_b([written]):
        pytest.skip(MEMORY)
    cache.require_cold([written], written.parent)
    fd = os.open(written, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    os.pread(fd, 1, 7 * mmap.PAGESIZE)
    os.close(fd)
    assert 0 < cache.resident_b([written]) < 41 * mmap.PAGESIZE


def test_looking_does_not_warm(written: Path) -> None:
    cache.drop(written.parent)
    before_b = cache.resident_b([written])
    assert cache.resident_b([written]) == before_b


def test_empty_and_no_files_hold_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert cache.resident_b([tmp_path / "empty"]) == cache.resident_b([]) == 0
