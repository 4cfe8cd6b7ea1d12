"""A file system of the kernel on one device: made, aged, mounted, verified and mounted again."""

from __future__ import annotations

import contextlib
from pathlib import Path

from fsgreen import commands
from fsgreen.devices import mounts, zones
from fsgreen.devices.base import FormattableDevice
from fsgreen.devices.queue import READ_AHEAD_KIB
from fsgreen.devices.volume import DeviceState
from fsgreen.errors import FsgreenError
from fsgreen.stacks import filesystems
from fsgreen.stacks.aging import aged, ager
from fsgreen.stacks.base import Mount
from fsgreen.stacks.filesystems import Recipe


class OnDevice:
    """The file system on a device. Every method may be called again, in any order, without harm.

    The device is ours. `aging` has the settings of aged file systems. `point` is the mount point.
    """

    def __init__(self, device: FormattableDevice, aging: ager.Aging) -> None:
        self.device = device
        self.point = device.work.path / "mount"
        self.point.mkdir(exist_ok=True)
        self._lock_fd = device.work.lock_fd
        self._aging = aging
        self._aged = aged.AgedImages(device.work.path / "aged")
        self._read_ahead_kib = READ_AHEAD_KIB
        self._mount: Mount | None = None

    def prepare(self, recipe: Recipe, state: str, seed: int) -> Mount:
        """Bring the device into its state, then make, mount and verify the file system."""
        volume = self.device.volume
        self._read_ahead_kib = volume.queue.number("read_ahead_kb")
        if state == "aged":
            self._mount = self._prepare_aged(recipe, seed)
        else:
            device_state = volume.steady() if state == "steady" else volume.initial()
            command, geometry = self._make(recipe)
            self._mount = self._mount_verified(recipe, command, geometry, device_state)
        return self._mount

    def remount(self, recipe: Recipe) -> Mount:
        """Unmount and mount again, so that nothing of the file system stays cached."""
        before = self._mount
        if before is None:
            raise nothing_mounted(self.point)
        self.unmount()
        self._mount = self._mount_verified(
            recipe, before.mkfs, before.geometry, before.state, before.fragmentation
        )
        return self._mount

    def rest(self) -> None:
        """Write back, and load now what the kernel would load within seconds of a mount.

        ext4 loads its block bitmaps in the background. Reading its file `mb_groups` loads them now.
        """
        commands.run(["sync", "--file-system", str(self.point)])
        with contextlib.suppress(FileNotFoundError):
            Path("/proc/fs/ext4", self.device.volume.node.name, "mb_groups").read_bytes()

    def unmount(self) -> None:
        """Unmount the file system and everything below its mount point."""
        mounted = mounts.under(self.point)
        for entry in mounted:
            mounts.unmount(entry.point, lock_fd=self._lock_fd)
        if mounted or self._mount is not None:
            self.device.volume.hold()
        self._mount = None

    def _prepare_aged(self, recipe: Recipe, seed: int) -> Mount:
        volume = self.device.volume
        key = aged.Key(recipe.file_system.name, recipe.option, seed, volume.size_b)
        kept = self._aged.find(key) or self._age(recipe, key)
        before_b = volume.queue.written_b()
        self._aged.put_back(kept, volume)
        written_b = volume.require_written(before_b)
        state = DeviceState("aged", written_b, 0, volume.size_b)
        mount = self._mount_verified(
            recipe, kept.mkfs, kept.geometry, state, fragmentation=kept.fragmentation
        )
        aged.verify(kept, self.point)
        return mount

    def _age(self, recipe: Recipe, key: aged.Key) -> aged.Aged:
        state = self.device.volume.steady()
        command, geometry = self._make(recipe)
        mount = self._mount_verified(recipe, command, geometry, state)
        fragmentation = ager.age(mount.directory, key.seed, self._aging)
        self.unmount()
        return self._aged.keep(key, self.device.volume, command, geometry, fragmentation)

    def _make(self, recipe: Recipe) -> tuple[tuple[str, ...], dict[str, int]]:
        """Run mkfs; return its command, and the geometry that was read back from the disk."""
        volume, file_system = self.device.volume, recipe.file_system
        words = recipe.on_zones().mkfs if zones.of(volume.node) else recipe.mkfs
        command = volume.format((file_system.tool, *words))
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
        volume, name = self.device.volume, recipe.file_system.on_device
        # The kernel resets the read-ahead of a device when its limits change, for example when mkfs
        # has found that a loop device cannot write zeros.
        volume.queue.set_number("read_ahead_kb", self._read_ahead_kib)
        volume.release()
        try:
            as_mounted = mounts.mount(
                volume.node, self.point, name, recipe.mount, lock_fd=self._lock_fd
            )
            recipe.file_system.require_cleaner(volume.node)
        except BaseException:
            self.unmount()
            raise
        queue = self.device.queue_state()
        assert queue.read_ahead_b is not None
        ext_driver = Path("/sys/fs/ext4") / volume.node.name
        return Mount(
            directory=self.point,
            device=str(volume.node),
            file_system=recipe.file_system.name,
            option=recipe.option,
            mkfs=command,
            mount_options=as_mounted,
            scheduler=queue.scheduler,
            queue_depth=queue.queue_depth,
            geometry={**geometry, **zones.of(volume.node), "read_ahead_b": queue.read_ahead_b},
            driver="ext4" if ext_driver.exists() else name,
            state=state,
            fragmentation=fragmentation,
            simulated=queue.simulated,
            nvme=queue.nvme,
        )


def nothing_mounted(point: Path) -> FsgreenError:
    """Return the error of a call that needs a mounted file system when there is none."""
    return FsgreenError("nothing is mounted", where=point, next_step="call prepare")
