"""The stack `kernel`: a file system of the kernel, made, mounted, verified and made cold.

Over it, folders there may be served again: by GreenFS, or by NFS.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fsgreen.devices import mounts
from fsgreen.devices.base import (
    MEMORY,
    READ_AHEAD,
    TRAFFIC,
    Availability,
    FormattableDevice,
    Levels,
    state_of,
)
from fsgreen.devices.folders import unmount
from fsgreen.devices.queue import READ_AHEAD_KIB
from fsgreen.devices.volume import DeviceState
from fsgreen.errors import FsgreenError
from fsgreen.stacks import cache, filesystems, nfs
from fsgreen.stacks.aging import aged, ager
from fsgreen.stacks.base import Mount
from fsgreen.stacks.filesystems import Recipe
from fsgreen.stacks.greenfs import OWN, Volume


class KernelStack:
    """A file system of the kernel on a device of ours; `aging` says what an aged one is to be."""

    def __init__(self, device: FormattableDevice, aging: ager.Aging | None = None) -> None:
        self._device = device
        self._lock_fd = device.work.lock_fd
        self._point = device.work.path / "mount"
        self._point.mkdir(exist_ok=True)
        self._aging = aging or ager.Aging()
        self._aged = aged.AgedImages(device.work.path / "aged")
        self._read_ahead_kib = READ_AHEAD_KIB
        self._mount: Mount | None = None
        self._over: Volume | nfs.Export = Volume(self._point, self._lock_fd)
        device.work.ends.append(lambda: self._over.kill())

    @staticmethod
    def available() -> Availability:
        """Return whether any file system can be made here, and which."""
        usable = [found.name for found in filesystems.available() if found.usable]
        if not usable:
            tools = "apt-get install e2fsprogs xfsprogs btrfs-progs"
            return Availability("kernel", False, tools)
        return Availability("kernel", True, ", ".join(usable))

    def describe(self) -> dict[str, Any]:
        """Return that caches can be cold."""
        return {"cold_cache": True}

    def only_file_system(self) -> None:
        """Return None: any file system can be made."""

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` if a cell is unknown, or cannot be made here or on so few bytes."""
        recipe = filesystems.recipe(levels["file_system"], levels["option"])
        nfs.check(levels, exported=recipe.file_system.exported, device=self._device.kind)
        if not recipe.file_system.exported:
            filesystems.require(recipe.file_system)
        self._check_bounds(recipe, levels)
        if recipe.discards and self._device.volume.queue.number("discard_max_bytes") == 0:
            raise FsgreenError(
                f"{recipe.file_system.name} {recipe.option} discards, and the disk cannot",
                where=f"testbed {self._device.kind}",
                next_step="leave discard out, or take a disk that discards: --testbed simdisk "
                "--disk x25-m-g2",
            )
        size_b = self._device.volume.size_b
        if recipe.minimum_b > size_b:
            raise FsgreenError(
                f"disk too small: {recipe.file_system.name} {recipe.option} needs "
                f"{recipe.minimum_b >> 20} MiB, the image has {size_b >> 20} MiB",
                where=f"testbed {self._device.kind}",
                next_step="raise image_mib in the profile, in another --folder if need be",
            )

    def _check_bounds(self, recipe: Recipe, levels: Levels) -> None:
        """Raise `FsgreenError` for a bound that such a file system does not keep to."""
        name = recipe.file_system.name
        for factor, is_passed_by, why, unit in (
            (
                READ_AHEAD,
                recipe.file_system.own_read_ahead,
                f"{name} reads ahead on its own, whatever its device is set to:",
                "KiB",
            ),
            (
                MEMORY,
                recipe.file_system.program,
                f"the memory of {name} cannot be bounded: its program keeps pages of the files, "
                "and is not the workload's;",
                "MiB",
            ),
            (
                TRAFFIC,
                recipe.file_system.program,
                f"the traffic of {name} cannot be bounded: its program reads and writes the disk, "
                "and is not the workload's;",
                "MiB/s",
            ),
        ):
            if is_passed_by and levels.get(factor) is not None:
                raise FsgreenError(
                    f"{why} the cell asks for {levels[factor]:g} {unit}",
                    where=f"testbed {self._device.kind}",
                    next_step=f"leave {factor} out of cells of {name}",
                )

    def prepare(self, levels: Levels, seed: int) -> Mount:
        """Bring the device into its state, then make, mount and verify the file system."""
        self.unmount()
        recipe = filesystems.recipe(levels["file_system"], levels["option"])
        if recipe.file_system.exported:
            self._over = nfs.Export(self._point, self._lock_fd, nfs.asked_of(levels))
        elif recipe.file_system.program:
            self._over = Volume(self._point, self._lock_fd)
        self._read_ahead_kib = self._device.volume.queue.number("read_ahead_kb")
        state = state_of(levels)
        if state == "aged":
            made = self._prepare_aged(recipe, seed)
        else:
            volume = self._device.volume
            device_state = volume.steady() if state == "steady" else volume.initial()
            command, geometry = self._make(recipe)
            made = self._mount_verified(recipe, command, geometry, device_state)
        self._mount = self._served(made, recipe)
        return self._mount

    def _served(self, made: Mount, recipe: Recipe) -> Mount:
        """Return what programs work in: what was mounted, or what is served from there."""
        if not recipe.file_system.served:
            return made
        try:
            return self._over.mount(made, recipe)
        except BaseException:
            self.unmount()
            raise

    def _prepare_aged(self, recipe: Recipe, seed: int) -> Mount:
        volume = self._device.volume
        key = aged.Key(recipe.file_system.name, recipe.option, seed, volume.size_b)
        kept = self._aged.find(key) or self._age(recipe, key)
        before_b = volume.queue.written_b()
        self._aged.put_back(kept, volume)
        written_b = volume.require_written(before_b)
        state = DeviceState("aged", written_b, 0, volume.size_b)
        mount = self._mount_verified(
            recipe, kept.mkfs, kept.geometry, state, fragmentation=kept.fragmentation
        )
        aged.verify(kept, self._point)
        return mount

    def _age(self, recipe: Recipe, key: aged.Key) -> aged.Aged:
        state = self._device.volume.steady()
        command, geometry = self._make(recipe)
        mount = self._mount_verified(recipe, command, geometry, state)
        fragmentation = ager.age(mount.directory, key.seed, self._aging)
        self.unmount()
        return self._aged.keep(key, self._device.volume, command, geometry, fragmentation)

    def _make(self, recipe: Recipe) -> tuple[tuple[str, ...], dict[str, int]]:
        """Run mkfs and return the command and the geometry, read back from the disk."""
        volume, file_system = self._device.volume, recipe.file_system
        command = volume.format((file_system.tool, *recipe.mkfs))
        geometry = file_system.geometry(volume.node, lock_fd=self._lock_fd)
        where = f"{file_system.name} {recipe.option} on {volume.node}"
        filesystems.verify(recipe.geometry, geometry, where)
        return command, geometry

    def _mount_verified(
        self,
        recipe: Recipe,
        command: tuple[str, ...],
        geometry: dict[str, int],
        state: DeviceState | None,
        fragmentation: dict[str, float] | None = None,
    ) -> Mount:
        volume, name = self._device.volume, recipe.file_system.on_device
        # The kernel gives a device its own read-ahead again when its limits change, as when mkfs
        # has found out that a loop device cannot write zeros.
        volume.queue.set_number("read_ahead_kb", self._read_ahead_kib)
        volume.release()
        try:
            as_mounted = mounts.mount(
                volume.node, self._point, name, recipe.mount, lock_fd=self._lock_fd
            )
            recipe.file_system.require_cleaner(volume.node)
        except BaseException:
            self.unmount()
            raise
        queue = self._device.queue_state()
        assert queue.read_ahead_b is not None
        ext_driver = Path("/sys/fs/ext4") / volume.node.name
        return Mount(
            directory=self._point,
            device=str(volume.node),
            file_system=recipe.file_system.name,
            option=recipe.option,
            mkfs=command,
            mount_options=as_mounted,
            scheduler=queue.scheduler,
            queue_depth=queue.queue_depth,
            geometry={**geometry, "read_ahead_b": queue.read_ahead_b},
            driver="ext4" if ext_driver.exists() else name,
            state=state,
            fragmentation=fragmentation,
            simulated=queue.simulated,
        )

    def remount(self) -> Mount:
        """Unmount and mount again: nothing of the file system stays cached."""
        before = self._mounted()
        recipe = filesystems.recipe(before.file_system, before.option)
        self._over.settle(recipe)
        self.unmount()
        made = self._mount_verified(
            recipe, before.mkfs, before.geometry, before.state, before.fragmentation
        )
        self._mount = self._served(made, recipe)
        return self._mount

    def resident_share(self) -> float:
        """Measure the share of all files' bytes in the page cache, the ager's left out.

        Looking at every file caches names and inodes. Where no byte is cached, the file system is
        mounted afresh, so that a cold cache stays cold; this fails while a process uses it.
        """
        places = {self._point: ager.FOLDER}
        if (mounted := self._mounted()).stacked is not None:
            # The kernel may have a page of the file that is served, of the one below, or of both.
            below = self._over.flash if isinstance(self._over, Volume) else self._over.files
            places = {mounted.directory: OWN, below: OWN}
        share = max(cache.resident_share(place, apart=place / its) for place, its in places.items())
        if share == 0:
            self.remount()
        return share

    def warm(self) -> float:
        """Read every file but the ager's, and return `resident_share`."""
        directory = self._mounted().directory
        cache.read_all(directory, apart=directory / ager.FOLDER)
        return self.resident_share()

    def unmount(self) -> None:
        """Unmount what is mounted."""
        self._over.kill()
        mounted = mounts.under(self._point)
        for entry in mounted:
            unmount(entry.point, lock_fd=self._lock_fd)
        if mounted or self._mount is not None:
            self._device.volume.hold()
        self._mount = None

    def _mounted(self) -> Mount:
        """Return what is mounted; raises `FsgreenError` where nothing is."""
        if self._mount is None:
            raise FsgreenError("nothing is mounted", where=self._point, next_step="call prepare")
        return self._mount
