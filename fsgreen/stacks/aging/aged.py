"""Aged file systems: each is made once, kept as a snapshot, and restored for every trial."""

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
"""Measurements that must be the same on a restored file system."""


class Key(NamedTuple):
    """The key of an aged file system. It has the size, as partitions of a disk may differ in it."""

    file_system: str
    option: str
    seed: int
    size_b: int


@dataclass(frozen=True)
class Aged:
    """An aged file system that is kept: its snapshot, and how it was made and measured."""

    file: Path
    mkfs: tuple[str, ...]
    geometry: dict[str, int]
    fragmentation: dict[str, float]


class AgedImages:
    """The snapshots of one device by file system, option and size, all of the last seed.

    A campaign has a seed for each block. Snapshots of earlier blocks would only fill the disk or
    RAM. A snapshot takes the space of the metadata and of the tails of the ager's files. It is in
    `folder`, which is made if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[Key, Aged] = {}

    def find(self, key: Key) -> Aged | None:
        """Return the kept file system; None if it has not been aged yet."""
        return self._kept.get(key)

    def keep(
        self,
        key: Key,
        volume: Volume,
        mkfs: tuple[str, ...],
        geometry: Mapping[str, int],
        fragmentation: Mapping[str, float],
    ) -> Aged:
        """Keep a snapshot of an unmounted volume after aging. Delete those of other seeds."""
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
    """Raise `FsgreenError` unless the file system on `place` has the same layout as when kept."""
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
