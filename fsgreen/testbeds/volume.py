"""A loop device of ours and the file system on it: made, mounted, verified, made cold, looked into.

What the testbeds have in common that lay a loop device over a file: the device guard, mkfs, the
geometry read back, the options as mounted, the aged copies.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import aged, ager, cache, geometry, guard, mounts, options, probe
from fsgreen.testbeds.base import DeviceState, Mount
from fsgreen.testbeds.folders import WorkFolder, unmount
from fsgreen.testbeds.present import usable_here
from fsgreen.testbeds.queue import READ_AHEAD_KIB, Queue


class States(Protocol):
    """What makes the states of a device; it is not mounted whenever a method is called."""

    def initial(self) -> DeviceState:
        """Bring the device into its initial state."""

    def steady(self) -> DeviceState:
        """Bring the device into its steady state."""

    def close_holes(self) -> None:
        """Write what mkfs left unwritten, where a first write there would be slower."""

    def require_written(self, since_b: int) -> int:
        """Return the bytes written since the counter stood there; refuse less than the device."""


class Volume:
    """A loop device and the file system on it.

    Parameters
    ----------
    work : WorkFolder
        Holds the mount point and the aged copies.
    device, image : Path
        The loop device, and the file of ours behind it.
    size_b : int
        Its size in bytes, a multiple of 4 MiB.
    states : States
        What makes the states of the device.
    aging : ager.Aging, optional
        What an aged file system is to be.
    """

    def __init__(
        self,
        work: WorkFolder,
        device: Path,
        image: Path,
        size_b: int,
        states: States,
        aging: ager.Aging | None = None,
    ) -> None:
        self.device = device
        self.image = image
        self.size_b = size_b
        self.queue = Queue(device.name)
        self.queue.set_number("read_ahead_kb", READ_AHEAD_KIB)
        self._work = work
        self._point = work.path / "mount"
        self._point.mkdir(exist_ok=True)
        self._states = states
        self._aging = aging or ager.Aging()
        self._aged = aged.AgedImages(work.path / "aged", device, image, size_b)
        self._mount: Mount | None = None

    def prepare(self, file_system: str, option: str, state: str, seed: int) -> Mount:
        """Unmount what is there, restore the device, make, mount and verify the file system."""
        self.unmount()
        recipe = options.recipe(file_system, option)
        if state == "aged":
            self._mount = self._prepare_aged(recipe, seed)
        else:
            made_in = self._states.steady() if state == "steady" else self._states.initial()
            command, found = self._make(recipe)
            self._mount = self._mount_verified(recipe, command, found, made_in)
        return self._mount

    def _prepare_aged(self, recipe: options.Recipe, seed: int) -> Mount:
        key = (recipe.file_system.name, recipe.option, seed)
        kept = self._aged.find(key) or self._age(recipe, key)
        before_b = self.queue.written_b()
        self._aged.put_back(kept)
        written_b = self._states.require_written(before_b)
        state = DeviceState("aged", written_b, 0, self.size_b)
        mount = self._mount_verified(
            recipe, kept.mkfs, kept.geometry, state, fragmentation=kept.fragmentation
        )
        aged.verify(kept, self._point)
        return mount

    def _age(self, recipe: options.Recipe, key: tuple[str, str, int]) -> aged.Aged:
        state = self._states.steady()
        command, found = self._make(recipe)
        mount = self._mount_verified(recipe, command, found, state)
        fragmentation = ager.age(mount.directory, key[2], self._aging)
        self.unmount()
        return self._aged.keep(key, command, found, fragmentation)

    def _make(self, recipe: options.Recipe) -> tuple[tuple[str, ...], dict[str, int]]:
        """Run mkfs and return the command and the geometry, read back from the disk."""
        name = recipe.file_system.name
        command = guard.run_mkfs(
            (recipe.file_system.tool, *recipe.mkfs),
            self.device,
            image=self.image,
            lock_fd=self._work.lock_fd,
        )
        found = geometry.read(name, str(self.device), lock_fd=self._work.lock_fd)
        geometry.verify(recipe.geometry, found, f"{name} {recipe.option} on {self.device}")
        self._states.close_holes()
        found["read_ahead_b"] = self.queue.number("read_ahead_kb") * 1024
        return command, found

    def _mount_verified(
        self,
        recipe: options.Recipe,
        command: tuple[str, ...],
        found: dict[str, int],
        state: DeviceState | None,
        fragmentation: dict[str, float] | None = None,
    ) -> Mount:
        name = recipe.file_system.name
        as_mounted = mounts.mount(
            self.device, self._point, name, recipe.mount, lock_fd=self._work.lock_fd
        )
        ext_driver = Path("/sys/fs/ext4") / self.device.name
        return Mount(
            directory=self._point,
            device=str(self.device),
            file_system=name,
            option=recipe.option,
            mkfs=command,
            mount_options=as_mounted,
            scheduler=self.queue.scheduler,
            queue_depth=self.queue.number("nr_requests"),
            geometry=found,
            driver="ext4" if ext_driver.exists() else name,
            state=state,
            fragmentation=fragmentation,
        )

    def remount(self) -> Mount:
        """Unmount and mount again: nothing of the file system stays cached."""
        before = self.mounted()
        recipe = options.recipe(before.file_system, before.option)
        self.unmount()
        self._mount = self._mount_verified(
            recipe, before.mkfs, before.geometry, before.state, before.fragmentation
        )
        return self._mount

    def resident_share(self) -> float:
        """Measure the share of all files' bytes in the page cache, the ager's left out.

        Looking at every file caches names and inodes. Where no byte is cached, the file system is
        mounted afresh, so that a cold cache stays cold; this fails while a process uses it.
        """
        self.mounted()
        share = cache.resident_share(self._point, apart=self._point / ager.FOLDER)
        if share == 0:
            self.remount()
        return share

    def warm(self) -> float:
        """Read every file but the ager's, and return `resident_share`."""
        self.mounted()
        cache.read_all(self._point, apart=self._point / ager.FOLDER)
        return self.resident_share()

    def mounted(self) -> Mount:
        """Return what is mounted; raises `FsgreenError` where nothing is."""
        if self._mount is None:
            raise FsgreenError(
                "nothing is mounted",
                where=f"{self.device} on {self._point}",
                next_step="call prepare first",
            )
        return self._mount

    def unmount(self) -> None:
        """Unmount what is mounted; harmless when repeated."""
        for entry in mounts.under(self._point):
            unmount(entry.point, lock_fd=self._work.lock_fd)
        self._mount = None

    def probe(self, seed: int) -> dict[str, Any]:
        """Return how the device behaves by itself; see `probe.probe`."""
        return probe.probe(self.device, seed, queue=self.queue, writable=True)


def check_cell(file_system: str, option: str, size_b: int, kind: str) -> None:
    """Raise `FsgreenError` if a cell is unknown, cannot be made here, or not on so few bytes."""
    recipe = options.recipe(file_system, option)
    usable, why = usable_here(recipe.file_system)
    if not usable:
        raise FsgreenError(f"{file_system} cannot be used here: {why}", next_step=why)
    if recipe.minimum_b > size_b:
        raise FsgreenError(
            f"disk too small: {file_system} {option} needs {recipe.minimum_b >> 20} MiB, "
            f"the image has {size_b >> 20} MiB",
            where=f"testbed {kind}",
            next_step="raise image_mib in the profile, in another --folder if need be",
        )
