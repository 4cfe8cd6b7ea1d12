"""The stack `kernel`: a file system of the kernel that is made, mounted, verified and made cold.

It is on the device of the testbed, or on flash beside it. GreenFS or NFS may serve folders of it
again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fsgreen.devices import zones
from fsgreen.devices.base import Availability, FormattableDevice, Sleeps
from fsgreen.devices.levels import state_of
from fsgreen.devices.names import FLASH, MEMORY, READ_AHEAD, TRAFFIC, Levels
from fsgreen.errors import FsgreenError
from fsgreen.stacks import cache, filesystems, nfslevels
from fsgreen.stacks.aging import ager
from fsgreen.stacks.base import DISK, REMOTE, Mount
from fsgreen.stacks.beside import Beside
from fsgreen.stacks.filesystems import Recipe
from fsgreen.stacks.greenfs import OWN, Volume
from fsgreen.stacks.nfs import Export
from fsgreen.stacks.ondevice import OnDevice, nothing_mounted


class KernelStack:
    """A file system of the kernel on a device of ours. `aging` has the settings of aged ones."""

    def __init__(self, device: FormattableDevice, aging: ager.Aging | None = None) -> None:
        aging = aging or ager.Aging()
        self._device = device
        self._disk = OnDevice(device, aging)
        self._volume = Volume(device.work.path, device.work.lock_fd)
        self._beside = Beside(device, aging, self._volume.kill)
        self._export = Export(device.work.path, device.work.lock_fd)
        self._asked = nfslevels.Asked()
        self._mounted_on: tuple[OnDevice, ...] = ()
        self._mount: Mount | None = None
        device.work.ends += [self._volume.kill, self._export.kill, self._beside.close]

    @staticmethod
    def available() -> Availability:
        """Return whether a file system can be made here, and which ones."""
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
        """Raise `FsgreenError` if a cell is unknown, or cannot be made on this device."""
        recipe = filesystems.recipe(levels["file_system"], levels["option"])
        nfslevels.check(levels, exported=recipe.file_system.exported, device=self._device.kind)
        if not recipe.file_system.exported:
            filesystems.require(recipe.file_system)
        self._check_bounds(recipe, levels)
        self._beside.check(levels)
        volume = self._device.volume
        if its := zones.of(volume.node):
            filesystems.check_zoned(recipe, its)
        elif recipe.discards and volume.queue.number("discard_max_bytes") == 0:
            raise FsgreenError(
                f"{recipe.file_system.name} {recipe.option} discards, and the disk cannot",
                where=f"testbed {self._device.kind}",
                next_step="leave discard out, or take a disk that discards: --testbed simdisk "
                "--disk x25-m-g2",
            )
        if recipe.minimum_b > volume.size_b:
            raise FsgreenError(
                f"disk too small: {recipe.file_system.name} {recipe.option} needs "
                f"{recipe.minimum_b >> 20} MiB, the image has {volume.size_b >> 20} MiB",
                where=f"testbed {self._device.kind}",
                next_step="raise image_mib in the profile, in another --folder if need be",
            )

    def _check_bounds(self, recipe: Recipe, levels: Levels) -> None:
        """Raise `FsgreenError` for a limit that this file system does not obey."""
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
        """Bring the devices into their states, then make, mount and verify the file system."""
        self.unmount()
        recipe = filesystems.recipe(levels["file_system"], levels["option"])
        self._asked = nfslevels.asked_of(levels)
        self._beside.load(levels, with_remote=REMOTE in recipe.branches)
        files = self._beside.flash or self._disk
        copies = self._copies(recipe)
        with self._beside.untimed(stay=True):
            made = files.prepare(recipe, state_of(levels), seed)
            for on in copies:
                on.prepare(recipe, "initial", seed)
            self._mounted_on = (files, *copies)
            self._mount = self._served(made, recipe)
        return self._mount

    def _copies(self, recipe: Recipe) -> list[OnDevice]:
        """Return the devices that keep copies; empty if all folders are on one device."""
        if self._beside.flash is None:
            return []
        return [self._place(role) for role in recipe.branches]

    def _place(self, role: str) -> OnDevice:
        """Return the device that has the folder of this role."""
        own = {FLASH: self._beside.flash, REMOTE: self._beside.remote, DISK: self._disk}
        return own[role] or self._disk

    def _served(self, made: Mount, recipe: Recipe) -> Mount:
        """Return the mount in which programs work: `made`, or what is served from it."""
        if not recipe.file_system.served:
            return made
        folders = {role: self._place(role).point / role for role in (FLASH, *recipe.branches)}
        try:
            if recipe.file_system.exported:
                return self._export.mount(made, self._asked)
            return self._volume.mount(made, folders, served=self._beside.remote is not None)
        except BaseException:
            self.unmount()
            raise

    def remount(self) -> Mount:
        """Unmount and mount again, so that nothing of the file system stays cached."""
        before = self._mounted()
        recipe = filesystems.recipe(before.file_system, before.option)
        with self._beside.untimed():
            self._volume.settle()
            self._volume.unmount()
            self._export.kill()
            made, *_ = [on.remount(recipe) for on in self._mounted_on]
            self._mount = self._served(made, recipe)
        return self._mount

    def resident_share(self) -> float:
        """Measure the share of all files' bytes in the page cache, without the ager's files.

        This lists every file, which caches names and inodes. So if no byte is cached, the file
        system is mounted again, to keep a cold cache cold. That fails while a process uses it.
        """
        mounted = self._mounted()
        places = {mounted.directory: ager.FOLDER}
        if mounted.stacked is not None:
            # The kernel may cache pages of the served file, of the file below it, or of both.
            served = filesystems.recipe(mounted.file_system, mounted.option)
            below = self._export.files if served.file_system.exported else self._volume.flash
            places = {mounted.directory: OWN, below: OWN}
        with self._beside.untimed():
            share = max(
                cache.resident_share(place, apart=place / its) for place, its in places.items()
            )
        if share == 0:
            self.remount()
        return share

    def warm(self) -> float:
        """Read every file except the ager's, and return `resident_share`."""
        directory = self._mounted().directory
        with self._beside.untimed():
            cache.read_all(directory, apart=directory / ager.FOLDER)
        return self.resident_share()

    def rest(self) -> None:
        """Put the disk to sleep if it has only copies and can sleep."""
        if self._disk in self._mounted_on[1:] and isinstance(self._device, Sleeps):
            self._disk.rest()
            self._device.sleep()

    def lacking(self) -> str | None:
        """Bring all copies up to date; return what one of them still lacks, or None."""
        with self._beside.untimed():
            return self._volume.lacking()

    def beside(self) -> Mapping[str, FormattableDevice]:
        """Return the devices in use besides that of the testbed, by role in the cell."""
        return self._beside.in_use()

    def events(self) -> Mapping[str, Callable[[], None]]:
        """Return the events of a volume's remote."""
        return self._volume.events()

    def unmount(self) -> None:
        """Unmount everything."""
        with self._beside.untimed(stay=True):
            self._volume.unmount()
            self._export.kill()
            self._beside.unmount()
        self._disk.unmount()
        self._mounted_on, self._mount = (), None

    def _mounted(self) -> Mount:
        """Return the present mount. Raises `FsgreenError` if there is none."""
        if self._mount is None:
            raise nothing_mounted(self._disk.point)
        return self._mount
