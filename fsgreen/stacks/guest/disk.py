"""In the guest: the disk from QEMU, or one that the guest's own kernel makes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fsgreen.devices import zones
from fsgreen.devices.block import size_of
from fsgreen.devices.folders import claim
from fsgreen.devices.guard import CONFIGURED, ListedDisk, NullDisk, Proof
from fsgreen.devices.image import CHUNK_B
from fsgreen.devices.levels import scheduler_of
from fsgreen.devices.names import Levels
from fsgreen.devices.queue import READ_AHEAD_KIB
from fsgreen.devices.real import RealDevice
from fsgreen.devices.volume import DeviceState, Volume
from fsgreen.errors import FsgreenError

SERIAL = "fsgreen"
"""The serial number that QEMU gives the disk."""

WORK = Path("/work")

NODES = {"virtio": Path("/dev/vda"), "nvme": Path("/dev/nvme0n1")}

NULL_LATENCY_NS = 100_000
"""The time of a request to the null block device: about that of a flash solid-state disk."""

LEAST_CONVENTIONAL, CONVENTIONAL_SHARE = 4, 8
"""The conventional zones of a null block device: at least four, else one in eight. f2fs keeps its
tables there."""

IN_ORDER = "mq-deadline"
"""The only scheduler that keeps the writes of a zone in order (zone write locking). From Linux 6.10
on, the block layer does that itself."""


class GuestVolume(Volume):
    """A disk of the guest. The host brings the file below it into its state, before each trial.

    `states` has, for each state that the host knows, `left` and `remembers` of its `DeviceState`.
    """

    def __init__(
        self,
        node: Path,
        proof: Proof,
        size_b: int,
        lock_fd: int,
        states: Mapping[str, Mapping[str, Any]],
    ) -> None:
        super().__init__(node, proof, size_b, lock_fd)
        self._states = states

    def initial(self) -> DeviceState:
        """Empty the zones, if there are any; otherwise leave the disk as it is."""
        if zones.of(self.node):
            with self.overwriting() as fd:
                zones.reset(fd)
        return DeviceState("initial", 0, 0, self.size_b, **self._states["initial"])

    def steady(self) -> DeviceState:
        """Write the whole disk once. Raises `FsgreenError` if the host has no steady state."""
        if "steady" not in self._states:
            raise FsgreenError(
                "the disk of this guest has no steady state",
                where=self.node,
                next_step="device: initial in the study, or another testbed",
            )
        return DeviceState("steady", self.fill(), 0, self.size_b, **self._states["steady"])


class GuestDisk(RealDevice):
    """The only disk of the guest.

    `drive` is `virtio`, `nvme` or `null`. `size_b` is its size in bytes, if the guest makes it.
    `states` are those of `GuestVolume`. `scheduler` is that of cells that name none. `rotates` says
    whether to tell the kernel that it rotates, as QEMU's disks do not say. `zone_mib` is the size
    of its zones, if it is zoned. Raises FsgreenError if the kernel finds other zones.
    """

    kind = "vm"
    no_choice_of = ("disk", "partition")

    def __init__(
        self,
        drive: str,
        size_b: int,
        states: Mapping[str, Mapping[str, Any]],
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
        volume = GuestVolume(node, proof, usable_b, work.lock_fd, states)
        volume.queue.set_number("read_ahead_kb", READ_AHEAD_KIB)
        if rotates is not None:
            volume.queue.set_number("rotational", int(rotates))
        super().__init__(work, volume, scheduler or (IN_ORDER if self._zones else None))

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` also if a scheduler does not keep the writes of a zone in order."""
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
        """Set the number of requests, if the levels have one, and the levels of any real disk."""
        depth = levels.get("queue_depth")
        if depth is not None:
            self._queue.set_depth(max(depth, self._queue.least_depth()))
        super().load(levels)

    def describe(self) -> dict[str, Any]:
        """Return the size, the queue and the zones."""
        return {
            "size_b": self.volume.size_b,
            "device": self.name,
            **self._queue.describe(),
            **({"zoned": zones.HOST_MANAGED, **self._zones} if self._zones else {}),
        }


def _zones_of(node: Path, zone_mib: int | None) -> dict[str, int]:
    """Return the zones of a disk. Raises `FsgreenError` if they have another size."""
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
    """Make a null block device that stores its data; return its node and its proof."""
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
