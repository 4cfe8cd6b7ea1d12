"""The zones of a host-managed zoned disk: a zone is written in order, and emptied as a whole.

The kernel has the model and the limits in sysfs (Documentation/ABI/stable/sysfs-block), and the
state of each zone by ioctl (include/uapi/linux/blkzoned.h). A host-aware disk only prefers such
writes but takes all others, too. It counts as a disk without zones.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fsgreen.devices import blockdev
from fsgreen.devices.queue import Queue
from fsgreen.errors import FsgreenError
from fsgreen.units import SECTOR_B

HOST_MANAGED = "host-managed"
"""The kernel's word for disks that refuse writes out of order (`queue/zoned`)."""

BLKREPORTZONE, BLKRESETZONE = 0xC0101282, 0x40101283
"""The numbers of ioctls, from linux/blkzoned.h."""

RANGE = struct.Struct("=QQ")
REPORT = struct.Struct("=QII")
ZONE = struct.Struct("=QQQBB6xQ24x")
"""Layouts from linux/blkzoned.h. struct blk_zone_range: first sector, number of sectors. struct
blk_zone_report without its zones: sector, number of zones, flags. struct blk_zone: start, length,
write pointer, type, condition, capacity."""

CONVENTIONAL, EMPTY = 1, 1
"""A type of zone (enum blk_zone_type) and a condition (enum blk_zone_cond)."""

AT_ONCE = 1024
"""The number of zones in one report."""


class Zone(NamedTuple):
    """A zone as the disk reports it."""

    start_b: int
    size_b: int
    capacity_b: int
    conventional: bool
    empty: bool


def of(node: Path) -> dict[str, int]:
    """Return the zones of a disk in numbers; empty if it is not host-managed.

    `zone_b` is the size of a zone, and `zone_capacity_b` its writable bytes. `zones_count` counts
    all zones, and `conventional_zones_count` those that can be written in any order.
    `open_zones_count` is the most zones that may be open at once; 0 means no limit.
    """
    queue = Queue(blockdev.disk_of(node.name))
    if (queue.folder / "zoned").read_text().strip() != HOST_MANAGED:
        return {}
    fd = os.open(node, os.O_RDONLY)
    try:
        zones = list(report(fd))
    finally:
        os.close(fd)
    return {
        "zone_b": queue.number("chunk_sectors") * SECTOR_B,
        "zone_capacity_b": min(zone.capacity_b for zone in zones if not zone.conventional),
        "zones_count": len(zones),
        "conventional_zones_count": sum(zone.conventional for zone in zones),
        "open_zones_count": queue.number("max_open_zones"),
    }


def report(fd: int) -> Iterator[Zone]:
    """Yield the zones of an open disk in their order."""
    next_b = 0
    while True:
        answer = bytearray(REPORT.size + AT_ONCE * ZONE.size)
        REPORT.pack_into(answer, 0, next_b // SECTOR_B, AT_ONCE, 0)
        fcntl.ioctl(fd, BLKREPORTZONE, answer)
        count = REPORT.unpack_from(answer)[1]
        if not count:
            return
        told = memoryview(answer)[REPORT.size : REPORT.size + count * ZONE.size]
        for start, length, _, kind, condition, capacity in ZONE.iter_unpack(told):
            yield Zone(
                start * SECTOR_B,
                length * SECTOR_B,
                capacity * SECTOR_B,
                kind == CONVENTIONAL,
                condition == EMPTY,
            )
            next_b = (start + length) * SECTOR_B


def reset(fd: int) -> None:
    """Empty all zones of a disk that is open for writing, except the conventional ones.

    Raises FsgreenError if a zone is not empty afterwards.
    """
    size_b = os.lseek(fd, 0, os.SEEK_END)
    fcntl.ioctl(fd, BLKRESETZONE, RANGE.pack(0, size_b // SECTOR_B))
    for zone in report(fd):
        if not (zone.empty or zone.conventional):
            raise FsgreenError(
                "a zone of the disk still holds data after it was reset",
                where=f"the zone at byte {zone.start_b}",
                next_step="blkzone report DISK shows the condition of the zone",
            )
