"""The stack `directory`: an existing directory, on its present file system.

A private sub-folder holds the work and is deleted at the end. To make the cache cold, the pages of
the files are written back and dropped. Metadata stay cached; `describe` says so.
"""

from __future__ import annotations

import shutil
from typing import Any

from fsgreen.devices import mounts
from fsgreen.devices.base import Availability, Device
from fsgreen.devices.names import Levels
from fsgreen.errors import FsgreenError
from fsgreen.stacks import cache, filesystems
from fsgreen.stacks.base import Mount


class DirectoryStack:
    """A private sub-folder of an existing directory."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._parent = device.work.path.parent
        self._entry = mounts.holding(self._parent)
        self._file_system = self._entry.file_system
        self._in_memory = self._file_system in mounts.MEMORY_FILE_SYSTEMS
        self._directory = device.work.path / "work"

    @staticmethod
    def available() -> Availability:
        """Return that a directory can be used everywhere."""
        return Availability("directory", True, "on the file system that is there")

    def describe(self) -> dict[str, Any]:
        """Return the file system, its options, and what a cold cache means here."""
        return {
            "file_system": self._file_system,
            "in_memory": self._in_memory,
            "mount_options": list(mounts.complete_options(self._entry)),
            "cold_cache": False if self._in_memory else "file data only",
        }

    def only_file_system(self) -> str:
        """Return the file system of the directory."""
        return self._file_system

    def check(self, levels: Levels) -> None:
        """Raise `FsgreenError` unless the levels are the present file system and `default`."""
        file_system, option = levels["file_system"], levels["option"]
        if file_system != self._file_system:
            filesystems.file_system(file_system)
            raise FsgreenError(
                f"this directory is on {self._file_system}, not {file_system}",
                where=self._parent,
                next_step=f"measure {self._file_system}, name a --folder on {file_system}, "
                "or take --testbed loop as root",
            )
        if option != "default":
            raise FsgreenError(
                f"the testbed directory takes a file system as it is, not with the option {option}",
                where=self._parent,
                next_step="measure the option default, or take --testbed loop as root",
            )

    def prepare(self, levels: Levels, seed: int) -> Mount:
        """Empty the private sub-folder. The seed has no effect, as nothing is aged here."""
        self.unmount()
        self._directory.mkdir()
        return self._mount()

    def _mount(self) -> Mount:
        queue = self._device.queue_state()
        return Mount(
            directory=self._directory,
            device=self._entry.source if self._device.name is not None else None,
            file_system=self._file_system,
            option="default",
            mount_options=mounts.complete_options(self._entry),
            scheduler=queue.scheduler,
            queue_depth=queue.queue_depth,
            geometry={} if queue.read_ahead_b is None else {"read_ahead_b": queue.read_ahead_b},
            driver=self._file_system,
        )

    def remount(self) -> Mount:
        """Write back and drop the pages of the files, unless the file system is in memory."""
        self._require_prepared()
        if not self._in_memory:
            cache.drop(self._directory)
        return self._mount()

    def resident_share(self) -> float:
        """Measure the share of the bytes of all files that is in the page cache."""
        self._require_prepared()
        return cache.resident_share(self._directory)

    def warm(self) -> float:
        """Read every file, and return `resident_share`."""
        self._require_prepared()
        cache.read_all(self._directory)
        return self.resident_share()

    def unmount(self) -> None:
        """Remove the private sub-folder."""
        if self._directory.exists():
            shutil.rmtree(self._directory)

    def _require_prepared(self) -> None:
        if not self._directory.is_dir():
            raise FsgreenError(
                "nothing is prepared", where="testbed directory", next_step="call prepare first"
            )
