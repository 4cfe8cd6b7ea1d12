"""What a zoned disk tells of its zones, and that they are empty after they were reset."""

import fcntl
import struct
from pathlib import Path
from typing import Any

import pytest

from fsgreen.devices import zones
from fsgreen.errors import FsgreenError

ZONE_SECTORS, CAPACITY_SECTORS = 32768, 24576
SEQUENTIAL, OPEN = 2, 2


class PlayedDisk:
    """A disk of so many zones, the first of them conventional, that answers as the kernel does."""

    def __init__(self, count: int, conventional: int = 0, *, stuck: int | None = None) -> None:
        self.conventional = conventional
        self.stuck = stuck
        self.written: set[int | None] = set(range(count))
        self.count = count

    def ioctl(self, fd: int, request: int, argument: Any) -> int:
        """Answer BLKREPORTZONE and BLKRESETZONE (linux/blkzoned.h)."""
        if request == zones.BLKRESETZONE:
            assert struct.unpack("=QQ", argument) == (0, self.count * ZONE_SECTORS)
            self.written = {self.stuck} - {None}
            return 0
        assert request == zones.BLKREPORTZONE
        sector, room, _ = struct.unpack_from("=QII", argument)
        told = range(sector // ZONE_SECTORS, self.count)[:room]
        struct.pack_into("=QII", argument, 0, sector, len(told), 1)
        for place, nth in enumerate(told):
            self._tell(argument, 16 + 64 * place, nth)
        return 0

    def _tell(self, argument: bytearray, at: int, nth: int) -> None:
        start, is_anywhere = nth * ZONE_SECTORS, nth < self.conventional
        kind = zones.CONVENTIONAL if is_anywhere else SEQUENTIAL
        condition = 0 if is_anywhere else OPEN if nth in self.written else zones.EMPTY
        struct.pack_into("=QQQBB", argument, at, start, ZONE_SECTORS, start + 8, kind, condition)
        struct.pack_into("=Q", argument, at + 32, CAPACITY_SECTORS)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return tmp_path / "disk"


def attach(disk: PlayedDisk, image: Path, patch: pytest.MonkeyPatch) -> int:
    """Have a file stand for a disk, whose ioctls are answered; its size in bytes."""
    size_b = disk.count * ZONE_SECTORS * 512
    with image.open("wb") as file:
        file.truncate(size_b)
    patch.setattr(fcntl, "ioctl", disk.ioctl)
    return size_b


@pytest.mark.parametrize("count", [20, zones.AT_ONCE, zones.AT_ONCE + 3])
def test_all_zones_are_told_of_also_those_of_a_second_report(
    image: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """A large disk has more zones than a report takes."""
    size_b = attach(PlayedDisk(count, conventional=4), image, monkeypatch)
    with image.open("rb") as file:
        told = list(zones.report(file.fileno()))
    assert len(told) == count and sum(zone.conventional for zone in told) == 4
    assert told[-1].start_b + told[-1].size_b == size_b
    assert {zone.capacity_b for zone in told} == {CAPACITY_SECTORS * 512}
    assert not any(zone.empty for zone in told)


def test_zones_are_empty_after_a_reset_and_one_that_is_not_is_told(
    image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trial would begin on what the one before left."""
    disk = PlayedDisk(20, conventional=4)
    attach(disk, image, monkeypatch)
    with image.open("r+b") as file:
        zones.reset(file.fileno())
        assert not disk.written
        disk.stuck = 7
        with pytest.raises(FsgreenError, match="still holds data after it was reset") as told:
            zones.reset(file.fileno())
    assert told.value.where == f"the zone at byte {7 * ZONE_SECTORS * 512}"
