"""GreenFS over a mounted file system of the kernel: its folders there, and what programs work in.

All folders lie on one device. In a trial the disk sleeps: it is brought up once the files are made,
and not woken afterwards. What the remote is brought is part of the work.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from fsgreen import greenfs
from fsgreen.devices import mounts
from fsgreen.errors import FsgreenError
from fsgreen.stacks.base import Mount
from fsgreen.stacks.filesystems import Recipe

FLASH, PROGRAMS = "flash", "programs"
"""The folder of the files, and that which programs work in."""

OWN = ".greenfs"
"""What GreenFS keeps beside the files, in each of its folders."""

ASLEEP = 0
"""Spin-ups in a day: whatever a trial does, and at whichever hour, the disk sleeps."""


class Volume:
    """The volume on a mounted file system, while there is one.

    Every method may be called again, in any order, without harm.

    Parameters
    ----------
    point : Path
        Where the file system is mounted that has the folders.
    lock_fd : int
        The owner lock of the work folder.
    """

    def __init__(self, point: Path, lock_fd: int) -> None:
        self.flash, self._at = point / FLASH, point / PROGRAMS
        self._point, self._lock_fd = point, lock_fd
        self._mount: greenfs.Mount | None = None

    def mount(self, below: Mount, recipe: Recipe) -> Mount:
        """Mount it, and return that once the remote holds all.

        Raises
        ------
        FsgreenError
            If the program is missing, or fails: in its own words.
        """
        folders = self._folders(recipe)
        self._mount = greenfs.Mount(
            self.flash,
            self._at,
            remote=folders.get("remote"),
            disk=folders.get("disk"),
            spin_ups=ASLEEP,
            lock_fd=self._lock_fd,
        )
        if "remote" in folders:
            self._mount.wait_for(f"{folders['remote'].resolve()}: connected; holds all")
        program = Path(greenfs.program())
        with program.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        stacked = {
            "program": program.name,
            "sha256": sha256,
            "on": below.driver,
            "branches": [FLASH, *folders],
            "spin_ups": ASLEEP,
            "mount_options": list(mounts.holding(self._at).options),
        }
        return replace(below, directory=self._at, stacked=stacked, below=self._point)

    def settle(self, recipe: Recipe) -> None:
        """Unmount it, and bring all of its folders up; raises `FsgreenError` where one is not."""
        if self._mount is None:
            return
        self._mount.unmount()
        named = [f"--{role}={folder}" for role, folder in self._folders(recipe).items()]
        try:
            greenfs.ask("sync", f"--flash={self.flash}", *named)
        except FsgreenError as error:
            raise FsgreenError(
                f"not every folder of the volume holds the files: {error.what}",
                where=self._point,
                next_step="if there is no space left, a larger image_mib in the profile: each "
                "folder holds all files, and the remote what was changed, too",
            ) from error

    def kill(self) -> None:
        """End what serves it at once: nothing of it is kept."""
        if self._mount is not None:
            self._mount.kill()
            self._mount = None

    def _folders(self, recipe: Recipe) -> dict[str, Path]:
        return {role: self._point / role for role in recipe.branches}
