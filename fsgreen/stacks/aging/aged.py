"""Aged file systems: each made once, kept as a snapshot, and put back for every trial."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fsgreen.devices.volume import Volume
from fsgreen.errors import FsgreenError
from fsgreen.stacks.aging import ager, snapshot

PLACED = ("files_count", "extents_per_file_x", "one_piece_percent", "layout_score_x")
"""What must be the same on a file system that was put back."""


class Key(NamedTuple):
    """What an aged file system is: partitions of a disk may differ in size."""

    file_system: str
    option: str
    seed: int
    size_b: int


@dataclass(frozen=True)
class Aged:
    """An aged file system as it was kept."""

    file: Path
    mkfs: tuple[str, ...]
    geometry: dict[str, int]
    fragmentation: dict[str, float]


class AgedImages:
    """The snapshots of one device, by file system, option and size, all of the seed aged last.

    A campaign has a seed for each block: those of blocks before would only fill the disk, or RAM.
    Each takes the space of the metadata and of the tails of the ager's files in `folder`, which is
    made if need be.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[Key, Aged] = {}

    def find(self, key: Key) -> Aged | None:
        """Return what is kept, None if it is yet to be aged."""
        return self._kept.get(key)

    def keep(
        self,
        key: Key,
        volume: Volume,
        mkfs: tuple[str, ...],
        geometry: Mapping[str, int],
        fragmentation: Mapping[str, float],
    ) -> Aged:
        """Keep a volume as it is, unmounted after aging; forget what has another seed."""
        self._folder.mkdir(exist_ok=True)
        for other in [other for other in self._kept if other.seed != key.seed]:
            self._kept.pop(other).file.unlink()
        file = self._folder / f"{key.file_system}-{key.option}-{key.size_b}"
        aged = Aged(file, mkfs, dict(geometry), dict(fragmentation))
        try:
            with volume.overwriting() as fd:
                snapshot.save(fd, volume.size_b, aged.file)
        except BaseException:
            aged.file.unlink(missing_ok=True)
            raise
        self._kept[key] = aged
        return aged

    def put_back(self, aged: Aged, volume: Volume) -> None:
        """Write the kept file system onto the device."""
        with volume.overwriting() as fd:
            snapshot.restore(aged.file, fd, volume.size_b)
            os.fsync(fd)


def verify(aged: Aged, place: Path) -> None:
    """Raise `FsgreenError` unless the file system mounted on `place` lies as it did when kept."""
    found = ager.layout(place)
    wrong = [
        f"{name} is {found[name]}, was {aged.fragmentation[name]}"
        for name in PLACED
        if found[name] != aged.fragmentation[name]
    ]
    if wrong:
        raise FsgreenError(
            f"the aged file system is not as it was: {'; '.join(wrong)}",
            where=place,
            next_step="see dmesg, then start the same command again: it ages the file system anew",
        )
