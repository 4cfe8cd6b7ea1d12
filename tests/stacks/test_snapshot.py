"""A copy of a device comes back byte by byte, and takes little space."""

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fsgreen.devices import image
from fsgreen.errors import FsgreenError
from fsgreen.stacks.aging import snapshot

SIZE_B = 8 << 20


@contextmanager
def opened(path: Path) -> Iterator[int]:
    fd = os.open(path, os.O_RDWR | os.O_DIRECT)
    yield fd
    os.close(fd)


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """A file that stands for a device on which something lived: all three kinds of blocks."""
    path = tmp_path / "device"
    image.allocate(path, SIZE_B)
    choose = random.Random(4)
    with path.open("r+b") as file:
        for _ in range(300):
            file.seek(choose.randrange(SIZE_B // 4096) * 4096)
            file.write(choose.choice([bytes(image.filling(0, 4096)), choose.randbytes(4096)]))
        file.seek(12345)
        file.write(b"across a block")
    return path


def test_what_comes_back_is_what_was_kept(device: Path, tmp_path: Path) -> None:
    kept, before = tmp_path / "kept", device.read_bytes()
    with opened(device) as fd:
        snapshot.save(fd, SIZE_B, kept)
    device.write_bytes(random.Random(5).randbytes(SIZE_B))
    with opened(device) as fd:
        snapshot.restore(kept, fd, SIZE_B)
    assert device.read_bytes() == before
    assert kept.stat().st_size < 200 * 4096


def test_a_device_never_written_on_takes_a_byte_a_block(tmp_path: Path) -> None:
    image.allocate(tmp_path / "device", SIZE_B)
    with opened(tmp_path / "device") as fd:
        snapshot.save(fd, SIZE_B, tmp_path / "kept")
    assert (tmp_path / "kept").stat().st_size == SIZE_B // 4096


@pytest.mark.parametrize("cut_b", [1, 4096, 100 * 4096])
def test_a_damaged_copy_is_refused_before_anything_is_written(
    device: Path, tmp_path: Path, cut_b: int
) -> None:
    kept, before = tmp_path / "kept", device.read_bytes()
    with opened(device) as fd:
        snapshot.save(fd, SIZE_B, kept)
        os.truncate(kept, kept.stat().st_size - cut_b)
        with pytest.raises(FsgreenError, match="damaged"):
            snapshot.restore(kept, fd, SIZE_B)
        with pytest.raises(FsgreenError, match="damaged"):
            snapshot.restore(kept, fd, 2 * SIZE_B)
    assert device.read_bytes() == before


def test_a_full_disk_is_told(device: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "SPARE_B", 1 << 60)
    with opened(device) as fd, pytest.raises(FsgreenError, match="disk too small"):
        snapshot.save(fd, SIZE_B, tmp_path / "kept")


@pytest.mark.parametrize("offset_b", [0, 1, 1023, 5000, 1 << 22])
def test_the_filling_depends_on_the_place_in_the_block_only(offset_b: int) -> None:
    """An append that wrote other bytes than a rewrite would make every block its own."""
    part = bytes(image.filling(offset_b, offset_b + 3000))
    assert len(part) == 3000
    assert part == bytes(image.filling(offset_b + 1024, offset_b + 4024))
    whole = bytes(image.filling(0, 3000 + 1024))
    assert part == whole[offset_b % 1024 :][:3000]
