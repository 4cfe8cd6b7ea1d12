"""Testbed `loop`: real file systems on an image, in a folder or in RAM, behind a loop device.

The device does direct I/O, so that nothing is cached twice; the image is written in full once and
reused by all trials, so that no trial pays for first touch. Caches of a hypervisor or host below
this machine are out of sight.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import (
    aged,
    ager,
    cache,
    geometry,
    guard,
    image,
    losetup,
    mounts,
    options,
    probe,
)
from fsgreen.testbeds.base import (
    Conditions,
    DeviceState,
    Mount,
    check_device_state,
    refuse_simulated,
)
from fsgreen.testbeds.folders import claim, unmount
from fsgreen.testbeds.present import usable_here
from fsgreen.testbeds.queue import Queue
from fsgreen.testbeds.states import LoopStates

RAM = Path("/dev/shm")
DISK = Path("/var/tmp")


class LoopTestbed:
    """A loop device on a private image. Needs root.

    Parameters
    ----------
    folder : Path, optional
        Where the image lies; default /dev/shm with `in_memory`, else /var/tmp.
    in_memory : bool
        Whether the image lies in RAM.
    size_b : int
        Size of the image in bytes, rounded up to 4 MiB.
    scheduler : str, optional
        I/O scheduler of the loop device; default: as the kernel sets it.
    aging : ager.Aging, optional
        What an aged file system is to be.
    why : str
        Why this testbed was chosen, for the record.

    Raises
    ------
    FsgreenError
        If the user is not root, the place is too small, no loop device is free, direct I/O does
        not work there or the scheduler is unknown.
    """

    kind = "loop"

    def __init__(
        self,
        folder: Path | None = None,
        *,
        in_memory: bool = False,
        size_b: int,
        scheduler: str | None = None,
        aging: ager.Aging | None = None,
        why: str = "asked for",
    ) -> None:
        if os.geteuid() != 0:
            raise FsgreenError(
                "the testbed loop needs root: it makes and mounts file systems",
                next_step="run the same command with sudo, or take --testbed directory",
            )
        self._why = why
        self._mount: Mount | None = None
        self._work = claim(folder or (RAM if in_memory else DISK), self.kind)
        try:
            self._image = self._work.path / "image"
            self._point = self._work.path / "mount"
            self._point.mkdir()
            self._backing = mounts.holding(self._work.path).file_system
            if in_memory and self._backing not in cache.MEMORY_FILE_SYSTEMS:
                raise FsgreenError(
                    f"not in memory: this folder is on {self._backing}",
                    where=self._work.path.parent,
                    next_step="leave --folder out, or mount a tmpfs there",
                )
            self._size_b = image.allocate(self._image, size_b)
            self._device = losetup.attach(self._image, lock_fd=self._work.lock_fd)
            self._states = LoopStates(self._device, self._image, self._size_b)
            self._aging = aging or ager.Aging()
            self._aged = aged.AgedImages(
                self._work.path / "aged", self._device, self._image, self._size_b
            )
            self._queue = Queue(self._device.name)
            self._scheduler_before = self._queue.scheduler
            self._scheduler = scheduler
            if scheduler is not None:
                self._queue.set_scheduler(scheduler)
        except BaseException:
            self._work.release()
            raise

    def describe(self) -> dict[str, Any]:
        """Return kind, reason, size, what lies below, and the state of the device's queue."""
        return {
            "kind": self.kind,
            "why": self._why,
            "size_b": self._size_b,
            "in_memory": self._backing in cache.MEMORY_FILE_SYSTEMS,
            "backing": self._backing,
            "direct_io": True,
            "device": self._device.name,
            "scheduler": self._queue.scheduler,
            "schedulers": self._queue.schedulers(),
            "queue_depth": self._queue.number("nr_requests"),
            "read_ahead_b": self._queue.number("read_ahead_kb") * 1024,
            "rotational": bool(self._queue.number("rotational")),
            "logical_block_b": self._queue.number("logical_block_size"),
            "physical_block_b": self._queue.number("physical_block_size"),
            "cold_cache": True,
        }

    def check(self, file_system: str, option: str, conditions: Conditions = Conditions()) -> None:
        """Raise `FsgreenError` if the cell is unknown, cannot be made here or does not fit."""
        check_device_state(conditions.device)
        refuse_simulated(self.kind, conditions)
        if conditions.scheduler is not None:
            self._queue.check_scheduler(conditions.scheduler)
        recipe = options.recipe(file_system, option)
        usable, why = usable_here(recipe.file_system)
        if not usable:
            raise FsgreenError(f"{file_system} cannot be used here: {why}", next_step=why)
        if recipe.minimum_b > self._size_b:
            raise FsgreenError(
                f"disk too small: {file_system} {option} needs {recipe.minimum_b >> 20} MiB, "
                f"the image has {self._size_b >> 20} MiB",
                where=f"testbed {self.kind}",
                next_step="raise image_mib in the profile, in another --folder if need be",
            )

    def prepare(
        self,
        file_system: str,
        option: str,
        conditions: Conditions = Conditions(),
        *,
        seed: int = 0,
    ) -> Mount:
        """Unmount what is there, restore the device, make, mount and verify the file system."""
        self.check(file_system, option, conditions)
        self._unmount()
        self._mount = None
        wanted = conditions.scheduler or self._scheduler or self._scheduler_before
        if wanted is not None:
            self._queue.set_scheduler(wanted)
        recipe = options.recipe(file_system, option)
        if conditions.device == "aged":
            self._mount = self._prepare_aged(recipe, seed)
        else:
            steady = conditions.device == "steady"
            state = self._states.steady() if steady else self._states.initial()
            made, found = self._make(recipe)
            self._mount = self._mount_verified(recipe, made, found, state)
        return self._mount

    def _prepare_aged(self, recipe: options.Recipe, seed: int) -> Mount:
        key = (recipe.file_system.name, recipe.option, seed)
        kept = self._aged.find(key) or self._age(recipe, key)
        before_b = self._queue.written_b()
        self._aged.put_back(kept)
        state = DeviceState("aged", self._states.require_written(before_b), 0)
        mount = self._mount_verified(
            recipe, kept.mkfs, kept.geometry, state, fragmentation=kept.fragmentation
        )
        aged.verify(kept, self._point)
        return mount

    def _age(self, recipe: options.Recipe, key: tuple[str, str, int]) -> aged.Aged:
        state = self._states.steady()
        made, found = self._make(recipe)
        mount = self._mount_verified(recipe, made, found, state)
        fragmentation = ager.age(mount.directory, key[2], self._aging)
        self._unmount()
        return self._aged.keep(key, made, found, fragmentation)

    def _make(self, recipe: options.Recipe) -> tuple[tuple[str, ...], dict[str, int]]:
        """Run mkfs and return the command and the geometry, read back from the disk."""
        name = recipe.file_system.name
        made = guard.run_mkfs(
            (recipe.file_system.tool, *recipe.mkfs),
            self._device,
            image=self._image,
            lock_fd=self._work.lock_fd,
        )
        found = geometry.read(name, str(self._device), lock_fd=self._work.lock_fd)
        geometry.verify(recipe.geometry, found, f"{name} {recipe.option} on {self._device}")
        self._states.close_holes()
        found["read_ahead_b"] = self._queue.number("read_ahead_kb") * 1024
        return made, found

    def _mount_verified(
        self,
        recipe: options.Recipe,
        made: tuple[str, ...],
        found: dict[str, int],
        state: DeviceState | None,
        fragmentation: dict[str, float] | None = None,
    ) -> Mount:
        name = recipe.file_system.name
        as_mounted = mounts.mount(
            self._device, self._point, name, recipe.mount, lock_fd=self._work.lock_fd
        )
        ext_driver = Path("/sys/fs/ext4") / self._device.name
        return Mount(
            directory=self._point,
            device=str(self._device),
            file_system=name,
            option=recipe.option,
            mkfs=made,
            mount_options=as_mounted,
            scheduler=self._queue.scheduler,
            queue_depth=self._queue.number("nr_requests"),
            geometry=found,
            driver="ext4" if ext_driver.exists() else name,
            state=state,
            fragmentation=fragmentation,
        )

    def remount(self) -> Mount:
        """Unmount and mount again: nothing of the file system stays cached."""
        before = self._prepared()
        recipe = options.recipe(before.file_system, before.option)
        self._unmount()
        self._mount = self._mount_verified(
            recipe, before.mkfs, before.geometry, before.state, before.fragmentation
        )
        return self._mount

    def resident_share(self) -> float:
        """Measure the share of all files' bytes in the page cache, the ager's left out.

        Looking at every file caches names and inodes. Where no byte is cached, the file system is
        mounted afresh, so that a cold cache stays cold; this fails while a process uses it.
        """
        self._prepared()
        share = cache.resident_share(self._point, apart=self._point / ager.FOLDER)
        if share == 0:
            self.remount()
        return share

    def warm(self) -> float:
        """Read every file but the ager's, and return `resident_share`."""
        self._prepared()
        cache.read_all(self._point, apart=self._point / ager.FOLDER)
        return self.resident_share()

    def _prepared(self) -> Mount:
        if self._mount is None:
            raise FsgreenError(
                "nothing is mounted", where=f"testbed {self.kind}", next_step="call prepare first"
            )
        return self._mount

    def _unmount(self) -> None:
        for entry in mounts.under(self._point):
            unmount(entry.point, lock_fd=self._work.lock_fd)

    def restore(self) -> None:
        """Unmount and set the scheduler that the device had."""
        if self._work.lock_fd < 0:
            return
        self._unmount()
        self._mount = None
        if self._scheduler_before is not None:
            self._queue.set_scheduler(self._scheduler_before)

    def close(self) -> None:
        """Unmount (lazily if a process holds on), detach the device and delete the image."""
        if self._work.lock_fd >= 0 and self._scheduler_before is not None:
            self._queue.set_scheduler(self._scheduler_before)
        self._work.release()

    def probe(self, seed: int) -> dict[str, Any]:
        """Return how the device behaves by itself; see `probe.probe`."""
        return probe.probe(self._device, seed)

    def only_file_system(self) -> str | None:
        """Return None: any file system can be made."""
        return None

    def device_name(self) -> str | None:
        """Return the loop device's name in /proc/diskstats."""
        return self._device.name

    def __enter__(self) -> LoopTestbed:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
