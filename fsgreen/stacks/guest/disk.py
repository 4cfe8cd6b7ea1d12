"""In the guest: the disk that QEMU gives it, or one that its own kernel makes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from fsgreen.devices import zones
from fsgreen.devices.base import Levels, scheduler_of
from fsgreen.devices.block import size_of
from fsgreen.devices.folders import claim
from fsgreen.devices.guard import CONFIGURED, ListedDisk, NullDisk, Proof
from fsgreen.devices.image import CHUNK_B
from fsgreen.devices.queue import READ_AHEAD_KIB
from fsgreen.devices.real import RealDevice
from fsgreen.devices.volume import DeviceState, Volume
from fsgreen.errors import FsgreenError

SERIAL = "fsgreen"
"""The serial number that QEMU gives the disk."""

WORK = Path("/work")

NODES = {"virtio": Path("/dev/vda"), "nvme": Path("/dev/nvme0n1")}

NULL_LATENCY_NS = 100_000
"""What a request of the null block device takes: about that of a solid-state disk with flash."""

LEAST_CONVENTIONAL, CONVENTIONAL_SHARE = 4, 8
"""How many zones of a null block device are conventional: as few, or one in so many. f2fs keeps its
tables there."""

IN_ORDER = "mq-deadline"
"""The one scheduler that keeps the writes of a zone in their order (zone write locking; the block
layer itself does so from Linux 6.10 on)."""


class GuestVolume(Volume):
    """A disk of the guest, whose state is what the other machine says of the file below it."""

    state = DeviceState("initial", 0, 0, 0, "not restored: it lies below the guest", None)

    def initial(self) -> DeviceState:
        """Empty its zones, if it has any; mkfs begins anew on what was written before."""
        if zones.of(self.node):
            with self.overwriting() as fd:
                zones.reset(fd)
        return self.state

    def steady(self) -> DeviceState:
        """Refuse; see `VmDevice.check`."""
        raise FsgreenError(
            "the disk of a guest has no steady state",
            where=self.node,
            next_step="device: initial in the study, or another testbed",
        )


class GuestDisk(RealDevice):
    """The one disk of the guest.

    Parameters
    ----------
    drive : str
        `virtio`, `nvme` or `null`.
    size_b : int
        Its bytes, where the guest makes it.
    state : mapping
        `left` and `remembers` of its `DeviceState`.
    scheduler : str, optional
        I/O scheduler of cells that name none.
    rotates : bool, optional
        What the kernel is told of it: QEMU's disks do not say.
    zone_mib : int, optional
        The size of its zones, if it is a zoned one.

    Raises
    ------
    FsgreenError
        If the kernel finds other zones.
    """

    kind = "vm"
    no_choice_of = ("disk", "partition")

    def __init__(
        self,
        drive: str,
        size_b: int,
        state: dict[str, Any],
        scheduler: str | None,
        rotates: bool | None = None,
        zone_mib: int | None = None,
    ) -> None:
        if drive == "null":
            node, proof = _null_disk(size_b, zone_mib)
        else:
            node = NODES[drive]
            proof = ListedDisk(node, SERIAL)
        self._zones = _zones_of(node, zone_mib)
        work = claim(WORK, self.kind)
        usable_b = size_of(node) // CHUNK_B * CHUNK_B
        volume = GuestVolume(node, proof, usable_b, work.lock_fd)
        volume.state = DeviceState("initial", 0, 0, usable_b, **state)
        volume.queue.set_number("read_ahead_kb", READ_AHEAD_KIB)
        if rotates is not None:
            volume.queue.set_number("rotational", int(rotates))
        super().__init__(work, volume, scheduler or (IN_ORDER if self._zones else None))

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` also for a scheduler that keeps no order of the writes of a zone."""
        super().check(levels)
        scheduler = scheduler_of(levels) or self._scheduler
        if self._zones and scheduler != IN_ORDER:
            raise FsgreenError(
                f"the scheduler {scheduler} keeps no order of the writes of a zone: a zoned disk "
                "refuses them",
                where=self.name,
                next_step=f"in the study, constants: {{scheduler: {IN_ORDER}}}; docs/vm.md",
            )

    def load(self, levels: Levels) -> None:
        """Set how many requests it gets at once where that is asked for, and what any disk has."""
        depth = levels.get("queue_depth")
        if depth is not None:
            self._queue.set_depth(max(depth, self._queue.least_depth()))
        super().load(levels)

    def describe(self) -> dict[str, Any]:
        """Return size, queue and zones."""
        return {
            "size_b": self.volume.size_b,
            "device": self.name,
            **self._queue.describe(),
            **({"zoned": zones.HOST_MANAGED, **self._zones} if self._zones else {}),
        }


def _zones_of(node: Path, zone_mib: int | None) -> dict[str, int]:
    """Return the zones of a disk; raises `FsgreenError` for others than those asked for."""
    found = zones.of(node)
    if zone_mib is not None and found.get("zone_b") != zone_mib << 20:
        raise FsgreenError(
            f"the guest should have a disk with zones of {zone_mib} MiB, but its kernel finds "
            f"{found or 'none'}",
            where=node,
            next_step="fsgreen doctor; another drive_zone_mib, a power of two",
        )
    return found


def _null_disk(size_b: int, zone_mib: int | None) -> tuple[Path, Proof]:
    """Make a null block device that keeps what is written; return its node and what shows it."""
    subprocess.run(["modprobe", "null_blk", "nr_devices=0"], check=True)
    if not CONFIGURED.is_dir():
        subprocess.run(["mount", "-t", "configfs", "config", str(CONFIGURED.parent)], check=True)
    before = set(os.listdir("/sys/block"))
    folder = CONFIGURED / SERIAL
    folder.mkdir()
    settings = {
        "size": size_b >> 20,
        "memory_backed": 1,
        "irqmode": 2,
        "completion_nsec": NULL_LATENCY_NS,
        **({} if zone_mib is None else _zoned(size_b >> 20, zone_mib)),
        "power": 1,
    }
    for name, value in settings.items():
        (folder / name).write_text(str(value))
    [name] = set(os.listdir("/sys/block")) - before
    return Path("/dev") / name, NullDisk(SERIAL)


def _zoned(size_mib: int, zone_mib: int) -> dict[str, int]:
    """Return the settings of a null block device with zones, some of them conventional."""
    conventional = max(LEAST_CONVENTIONAL, size_mib // zone_mib // CONVENTIONAL_SHARE)
    return {"zoned": 1, "zone_size": zone_mib, "zone_nr_conv": conventional}
