"""Testbed `loop`: real file systems on an image, in a folder or in RAM, behind a loop device.

The device does direct I/O, so that nothing is cached twice; the image is written in full once and
reused by all trials, so that no trial pays for first touch. Caches of a hypervisor or host below
this machine are out of sight.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import cache, commands, geometry, guard, image, mounts, options, probe
from fsgreen.testbeds.base import Mount
from fsgreen.testbeds.folders import claim, unmount
from fsgreen.testbeds.queue import Queue

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
            self._device = self._attach()
            self._queue = Queue(self._device.name)
            self._scheduler_before = self._queue.scheduler
            self._scheduler = scheduler
            if scheduler is not None:
                self._queue.set_scheduler(scheduler)
        except BaseException:
            self._work.release()
            raise

    def _run(self, *command: str, next_step: str | None = None) -> str:
        return commands.run(command, lock_fd=self._work.lock_fd, next_step=next_step)

    def _attach(self) -> Path:
        try:
            device = self._run(
                "losetup", "--direct-io=on", "--find", "--show", str(self._image)
            ).strip()
        except FsgreenError as error:
            raise FsgreenError(
                f"no loop device could be set up ({error.what})",
                where=self._image,
                next_step="losetup -l shows those in use; detach one with losetup -d, "
                "or modprobe loop",
            ) from error
        table = self._run("losetup", "--list", "--json", "--output", "NAME,BACK-FILE,DIO", device)
        (entry,) = json.loads(table)["loopdevices"]
        if not Path(entry["back-file"]).samefile(self._image) or not entry["dio"]:
            raise FsgreenError(
                "the loop device does no direct I/O on this image",
                where=f"{device} on {self._backing}",
                next_step="name a folder on another file system with --folder",
            )
        return Path(device)

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

    def check(self, file_system: str, option: str) -> None:
        """Raise `FsgreenError` if the cell is unknown, cannot be made here or does not fit."""
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

    def prepare(self, file_system: str, option: str) -> Mount:
        """Unmount what is there, make the cell's file system, mount and verify it."""
        self.check(file_system, option)
        self._unmount()
        if self._scheduler is not None:
            self._queue.set_scheduler(self._scheduler)
        recipe = options.recipe(file_system, option)
        made = guard.run_mkfs(
            (recipe.file_system.tool, *recipe.mkfs),
            self._device,
            image=self._image,
            lock_fd=self._work.lock_fd,
        )
        found = geometry.read(file_system, str(self._device), lock_fd=self._work.lock_fd)
        geometry.verify(recipe.geometry, found, f"{file_system} {option} on {self._device}")
        found["read_ahead_b"] = self._queue.number("read_ahead_kb") * 1024
        self._mount = self._mount_verified(recipe, made, found)
        return self._mount

    def _mount_verified(
        self, recipe: options.Recipe, made: tuple[str, ...], found: dict[str, int]
    ) -> Mount:
        name = recipe.file_system.name
        asked = ",".join(recipe.mount)
        self._run("mount", "--types", name, "--options", asked, str(self._device), str(self._point))
        entry = mounts.under(self._point)[0]
        as_mounted = mounts.complete_options(entry)
        missing = [option for option in recipe.mount if option not in as_mounted]
        if entry.file_system != name or missing:
            raise FsgreenError(
                f"mounted otherwise than asked: {entry.file_system} {','.join(as_mounted)} "
                f"without {', '.join(missing) or name}",
                where=self._point,
                next_step=f"dmesg, and mount -t {name} -o {asked} by hand",
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
        )

    def remount(self) -> Mount:
        """Unmount and mount again, and verify that sampled files have left the page cache.

        The files are chosen before; looking at them afterwards warms the path of 16 files at most.
        """
        if self._mount is None:
            raise FsgreenError(
                "nothing to remount", where=f"testbed {self.kind}", next_step="call prepare first"
            )
        before = self._mount
        recipe = options.recipe(before.file_system, before.option)
        files = cache.sample_files(self._point) if mounts.under(self._point) else []
        self._unmount()
        self._mount = self._mount_verified(recipe, before.mkfs, before.geometry)
        cache.require_cold(files, self._point)
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


def usable_here(spec: options.FileSystem) -> tuple[bool, str]:
    """Return whether this kernel and its tools can make and mount a file system, and why or how."""
    if spec.gone is not None:
        return False, f"n/a: {spec.gone}"
    if commands.find(spec.tool) is None:
        return False, commands.remedy(spec.tool)
    known = {line.split()[-1] for line in Path("/proc/filesystems").read_text().splitlines()}
    if spec.name not in known:
        try:
            commands.run(["modprobe", "--dry-run", "--quiet", spec.name])
        except FsgreenError:
            return False, "not in this kernel: boot one that has it"
    return True, f"{spec.tool} and the kernel have it"
