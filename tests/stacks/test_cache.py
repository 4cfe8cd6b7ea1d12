"""A cache that seems cold and is not makes reads look like the disk's."""

import errno
import mmap
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from fsgreen.devices import residency
from fsgreen.errors import FsgreenError
from fsgreen.stacks import cache

pytestmark = pytest.mark.usefixtures("caches_kept")

MEMORY = "the folder for temporary files is in memory: set TMPDIR to a folder on a disk"
PAGES = 41


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A folder with one file of 41 pages, the last of one byte."""
    folder = tmp_path / "files"
    folder.mkdir()
    with (folder / "file").open("wb") as opened:
        opened.write(os.urandom((PAGES - 1) * mmap.PAGESIZE + 1))
        os.fsync(opened.fileno())
    return folder


@pytest.fixture
def dropped(written: Path) -> Path:
    cache.drop(written)
    if cache.resident_share(written):
        pytest.skip(MEMORY)
    return written


def read_pages(file: Path, *pages: int) -> None:
    fd = os.open(file, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    for page in pages:
        os.pread(fd, 1, page * mmap.PAGESIZE)
    os.close(fd)


def both_counts(file: Path) -> tuple[int | None, int]:
    fd = residency.open_unseen(file)
    size_b = file.stat().st_size
    counts = residency.by_cachestat(fd, size_b), residency.by_mincore(fd, size_b)
    os.close(fd)
    return counts


def test_every_page_just_written_is_seen(written: Path) -> None:
    assert cache.resident_share(written) == 1


@pytest.mark.parametrize("pages", [(), (0,), (7,), (40,), (3, 4, 5), (0, 20, 40)])
def test_exactly_the_pages_that_were_read_are_counted(
    dropped: Path, pages: tuple[int, ...]
) -> None:
    read_pages(dropped / "file", *pages)
    assert cache.resident_share(dropped) == len(pages) / PAGES


def test_both_system_calls_count_the_same(dropped: Path) -> None:
    read_pages(dropped / "file", 1, 30)
    by_cachestat, by_mincore = both_counts(dropped / "file")
    if by_cachestat is None:
        pytest.skip("no cachestat(2) here: run on Linux 6.5 or later")
    assert by_cachestat == by_mincore == 2


def test_a_kernel_without_cachestat_is_asked_by_mincore(
    dropped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_pages(dropped / "file", 5, 6)
    monkeypatch.setattr(residency, "CACHESTAT", 4095)
    assert both_counts(dropped / "file") == (None, 2)
    assert cache.resident_share(dropped) == 2 / PAGES


@pytest.mark.loop
def test_pages_below_an_overlay_are_seen() -> None:
    """cachestat finds none of them: every cache in a container would be called cold."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        lower, upper, work, merged = (Path(name, part) for part in ("l", "u", "w", "m"))
        for folder in (lower, upper, work, merged):
            folder.mkdir()
        options = f"lowerdir={lower},upperdir={upper},workdir={work}"
        mounting = ["mount", "-t", "overlay", "overlay", "-o", options, str(merged)]
        if subprocess.run(mounting, capture_output=True).returncode:
            pytest.skip("no overlay on /dev/shm with this kernel: modprobe overlay")
        try:
            (merged / "file").write_bytes(b"x" * 10 * mmap.PAGESIZE)
            assert cache.resident_share(merged) == 1
        finally:
            subprocess.run(["umount", str(merged)], check=True)


def test_a_kernel_that_tells_nothing_is_an_error(
    written: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A share of 0 from a failed look would call every cache cold."""
    monkeypatch.setattr(residency, "UNAVAILABLE", frozenset({errno.EIO}))
    monkeypatch.setattr(residency, "CACHESTAT", 4095)
    with pytest.raises(FsgreenError, match="cannot see what is in memory") as caught:
        cache.resident_share(written)
    assert str(written) in str(caught.value.where)


def test_large_and_small_files_count_by_their_pages(dropped: Path) -> None:
    """A mean over files would let a thousand small warm files hide a large cold one."""
    (dropped / "below").mkdir()
    (dropped / "below" / "small").write_bytes(b"x")
    assert cache.resident_share(dropped) == 1 / (PAGES + 1)


def test_files_apart_do_not_count(dropped: Path) -> None:
    (dropped / "apart").mkdir()
    (dropped / "apart" / "warm").write_bytes(b"x" * (10 * mmap.PAGESIZE))
    assert cache.resident_share(dropped, apart=dropped / "apart") == 0
    assert cache.resident_share(dropped) == 10 / (PAGES + 10)


def test_reading_all_warms_all(dropped: Path) -> None:
    (dropped / "empty").touch()
    assert cache.read_all(dropped) == (PAGES - 1) * mmap.PAGESIZE + 1
    assert cache.resident_share(dropped) == 1


def test_looking_neither_warms_nor_changes_access_times(dropped: Path) -> None:
    """An access time that must be written is work of the harness inside the trial."""
    file = dropped / "file"
    os.utime(file, (1e9, 1e9))
    os.utime(dropped, (1e9, 1e9))
    both_counts(file)
    assert cache.resident_share(dropped) == cache.resident_share(dropped) == 0
    assert file.stat().st_atime == dropped.stat().st_atime == 1e9


def test_links_pipes_and_empty_files_hold_nothing(tmp_path: Path, written: Path) -> None:
    place = tmp_path / "odd"
    place.mkdir()
    (place / "empty").touch()
    (place / "link").symlink_to(written / "file")
    (place / "folder").symlink_to(written)
    os.mkfifo(place / "pipe")
    assert [Path(path).name for path, _ in cache.files_below(place)] == ["empty"]
    assert cache.resident_share(place) == 0
