"""Testbed `directory`: an existing directory, on the file system it is on. Needs nothing.

A private sub-folder holds the work and goes at the end. The cache is made cold by writing back and
dropping the pages of the files; metadata stays cached, which `describe` says.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import cache, image, mounts, options, probe
from fsgreen.testbeds.base import Conditions, Mount, check_device_state, refuse_simulated
from fsgreen.testbeds.folders import claim
from fsgreen.testbeds.queue import Queue, disk_of

PROBE_B = 256 << 20
"""Size of the file that stands for the disk when the directory is probed."""


class DirectoryTestbed:
    """A private sub-folder of an existing directory.

    Parameters
    ----------
    folder : Path
        An existing, writable directory.
    size_b : int
        Free space in bytes that the trials need.
    why : str
        Why this testbed was chosen, for the record.

    Raises
    ------
    FsgreenError
        If the directory is missing, not writable or too small.
    """

    kind = "directory"

    def __init__(self, folder: Path, *, size_b: int, why: str = "asked for") -> None:
        if not folder.is_dir():
            raise FsgreenError(
                "this directory does not exist", where=folder, next_step=f"mkdir -p {folder}"
            )
        self._why = why
        self._entry = mounts.holding(folder)
        self.file_system = self._entry.file_system
        image.require_space(folder, size_b)
        self._disk = disk_of(self._entry)
        self._queue = Queue(self._disk) if self._disk is not None else None
        self._work = claim(folder, self.kind)
        self._place = self._work.path / "work"

    def describe(self) -> dict[str, Any]:
        """Return kind, reason, file system, disk, and what a cold cache means here."""
        in_memory = self.file_system in cache.MEMORY_FILE_SYSTEMS
        return {
            "kind": self.kind,
            "why": self._why,
            "file_system": self.file_system,
            "in_memory": in_memory,
            "device": self._disk,
            "scheduler": self._queue.scheduler if self._queue else None,
            "mount_options": list(mounts.complete_options(self._entry)),
            "cold_cache": False if in_memory else "file data only",
        }

    def check(self, file_system: str, option: str, conditions: Conditions = Conditions()) -> None:
        """Raise `FsgreenError` unless the cell is what is present, as it is.

        `initial` is accepted and means an empty folder; the device below is not touched.
        """
        check_device_state(conditions.device)
        refuse_simulated(self.kind, conditions)
        if file_system != self.file_system:
            options.file_system(file_system)
            raise FsgreenError(
                f"this directory is on {self.file_system}, not {file_system}",
                where=self._work.path.parent,
                next_step=f"measure {self.file_system}, name a --folder on {file_system}, "
                "or take --testbed loop as root",
            )
        if option != "default":
            raise FsgreenError(
                f"the testbed directory takes a file system as it is, not with the option {option}",
                where=self._work.path.parent,
                next_step="measure the option default, or take --testbed loop as root",
            )
        if conditions.device != "initial":
            raise FsgreenError(
                f"the testbed directory cannot make the device state {conditions.device}: "
                "the device holds other files",
                where=self._work.path.parent,
                next_step="leave device out of the study, or take --testbed loop as root",
            )
        present = self._queue.scheduler if self._queue else None
        if conditions.scheduler not in (None, present):
            raise FsgreenError(
                f"the testbed directory sets no scheduler: it is {present}, "
                f"not {conditions.scheduler}",
                where=self._disk or self.file_system,
                next_step="leave scheduler out of the study, or take --testbed loop as root",
            )

    def prepare(
        self,
        file_system: str,
        option: str,
        conditions: Conditions = Conditions(),
        *,
        seed: int = 0,
    ) -> Mount:
        """Empty the private sub-folder; the seed has no effect, as nothing is aged here."""
        self.check(file_system, option, conditions)
        self._empty()
        self._place.mkdir()
        return self._mount()

    def _mount(self) -> Mount:
        source = self._entry.source
        return Mount(
            directory=self._place,
            device=source if self._disk is not None else None,
            file_system=self.file_system,
            option="default",
            mount_options=mounts.complete_options(self._entry),
            scheduler=self._queue.scheduler if self._queue else None,
            queue_depth=self._queue.number("nr_requests") if self._queue else None,
            geometry=(
                {"read_ahead_b": self._queue.number("read_ahead_kb") * 1024} if self._queue else {}
            ),
            driver=self.file_system,
        )

    def load(self, conditions: Conditions) -> None:
        """Do nothing: there is one device."""

    def simulator(self) -> None:
        """Return None: nothing is simulated."""

    def remount(self) -> Mount:
        """Write back and drop the files' pages, where the file system is not memory itself."""
        self._require_prepared()
        if self.file_system not in cache.MEMORY_FILE_SYSTEMS:
            cache.drop(self._place)
        return self._mount()

    def resident_share(self) -> float:
        """Measure the share of the bytes of all files that is in the page cache."""
        self._require_prepared()
        return cache.resident_share(self._place)

    def warm(self) -> float:
        """Read every file, and return `resident_share`."""
        self._require_prepared()
        cache.read_all(self._place)
        return self.resident_share()

    def _require_prepared(self) -> None:
        if not self._place.is_dir():
            raise FsgreenError(
                "nothing is prepared", where=f"testbed {self.kind}", next_step="call prepare first"
            )

    def _empty(self) -> None:
        if self._place.exists():
            shutil.rmtree(self._place)

    def restore(self) -> None:
        """Empty the private sub-folder; no device state was changed."""
        self._empty()

    def close(self) -> None:
        """Remove the private sub-folder."""
        self._work.release()

    def probe(self, seed: int) -> dict[str, Any]:
        """Return how a file of the directory behaves by itself; see `probe.probe`."""
        target = self._work.path / "probe"
        image.allocate(target, PROBE_B, seed=seed)
        try:
            return probe.probe(target, seed)
        finally:
            target.unlink()

    def only_file_system(self) -> str | None:
        """Return the file system that the directory is on."""
        return self.file_system

    def device_name(self) -> str | None:
        """Return the name of the whole disk below, None where there is none (tmpfs, overlay)."""
        return self._disk

    def __enter__(self) -> DirectoryTestbed:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
