"""GreenFS over mounted file systems of the kernel: its folders there, and what programs work in.

The folders lie on one device, or each on one of its own; the remote is then served. In a trial the
disk sleeps: it is brought up once the files are made, and not woken afterwards. What the remote is
brought is part of the work.
"""

from __future__ import annotations

import filecmp
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from fsgreen import greenfs
from fsgreen.devices import mounts
from fsgreen.devices.base import FLASH
from fsgreen.devices.folders import unmount
from fsgreen.errors import FsgreenError
from fsgreen.stacks.base import DISK, REMOTE, Mount

OWN = ".greenfs"
"""What GreenFS keeps beside the files, in each of its folders."""

ASLEEP = 0
"""Spin-ups in a day: whatever a trial does, and at whichever hour, the disk sleeps."""


class Volume:
    """The volume, while there is one.

    Every method may be called again, in any order, without harm.

    Parameters
    ----------
    work : Path
        The work folder, in which programs get a folder to work in, and a server its keys.
    lock_fd : int
        The owner lock of the work folder.
    """

    def __init__(self, work: Path, lock_fd: int) -> None:
        self._at, self._keys, self._lock_fd = work / "programs", work / "keys", lock_fd
        self._mount: greenfs.Mount | None = None
        self._server: greenfs.Server | None = None
        self._folders: dict[str, Path] = {}

    @property
    def flash(self) -> Path:
        """The folder of the files; there is one while it is mounted."""
        return self._folders[FLASH]

    def mount(self, below: Mount, folders: Mapping[str, Path], *, served: bool) -> Mount:
        """Mount it, and return that once the remote holds all.

        Parameters
        ----------
        below : Mount
            The file system that has the files.
        folders : mapping
            Those of the volume, `FLASH` among them.
        served : bool
            Whether the remote is served to this machine, by keys that are made for it.

        Raises
        ------
        FsgreenError
            If the program is missing, or fails: in its own words.
        """
        self._folders = dict(folders)
        folder = self._folders.get(REMOTE)
        if folder is not None and served:
            self._server = self._serve(folder)
        self._mount = greenfs.Mount(
            self.flash,
            self._at,
            remote=self._server or folder,
            disk=self._folders.get(DISK),
            spin_ups=ASLEEP,
            sleep_after_s=0,  # whoever runs the trial says when, or a timer of the disk
            lock_fd=self._lock_fd,
        )
        if folder is not None:
            name = folder.resolve() if self._server is None else self._server.remote
            self._mount.wait_for(f"{name}: connected; holds all")
        program = Path(greenfs.program())
        with program.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        stacked = {
            "program": program.name,
            "sha256": sha256,
            "on": below.driver,
            "branches": list(folders),
            "served": self._server is not None,
            "spin_ups": ASLEEP,
            "mount_options": list(mounts.holding(self._at).options),
        }
        return replace(below, directory=self._at, stacked=stacked, below=below.directory)

    def settle(self) -> None:
        """Unmount it, and bring all of its folders up; a server that is away comes back for that.

        Raises `FsgreenError` where one is not brought up.
        """
        if self._mount is None:
            return
        if self._server is not None:
            self._server.answer()
            if not self._server.runs:
                self._server = self._serve(self._folders[REMOTE])
        self._mount.unmount()
        named = {role: str(folder) for role, folder in self._folders.items()}
        keys = None
        if self._server is not None:
            named[REMOTE], keys = self._server.remote, self._server.keys
        try:
            greenfs.ask("sync", *(f"--{role}={at}" for role, at in named.items()), keys=keys)
        except FsgreenError as error:
            raise FsgreenError(
                f"not every folder of the volume holds the files: {error.what}",
                where=self.flash.parent,
                next_step="if there is no space left, a larger image_mib in the profile: each "
                "folder holds all files, and the remote what was changed, too",
            ) from error

    def lacking(self) -> str | None:
        """End it with `settle`; return what a folder then has otherwise, None where none does."""
        if self._mount is None:
            return None
        try:
            self.settle()
        except FsgreenError as error:
            return error.what
        for role, folder in self._folders.items():
            try:
                found = difference(self.flash, folder)
            except OSError as error:
                return f"the {role} cannot be compared with flash: {error}"
            if found is not None:
                return f"the {role} {found}"
        return None

    def unmount(self) -> None:
        """Take it away at once: nothing of it is kept."""
        self.kill()
        for entry in mounts.under(self._at):
            unmount(entry.point, lock_fd=self._lock_fd)

    def kill(self) -> None:
        """End what serves it at once."""
        if self._mount is not None:
            self._mount.kill()
            self._mount = None
        if self._server is not None:
            self._server.kill()
            self._server = None
        shutil.rmtree(self._keys, ignore_errors=True)

    def events(self) -> Mapping[str, Callable[[], None]]:
        """Return what can be done to the remote; without one, nothing comes of it."""
        return {
            "cable_out": lambda: self._to_server(greenfs.Server.be_silent),
            "cable_in": lambda: self._to_server(greenfs.Server.answer),
            "server_killed": lambda: self._to_server(greenfs.Server.kill),
        }

    def _to_server(self, do: Callable[[greenfs.Server], None]) -> None:
        if self._server is not None:
            do(self._server)
        elif REMOTE in self._folders and self._mount is not None:
            raise FsgreenError(
                "the remote is a folder of the same device: it has no server and no cable",
                where=self._folders[REMOTE],
                next_step="name the factor flash in the study, which gives it both",
            )

    def _serve(self, folder: Path) -> greenfs.Server:
        return greenfs.Server(folder, self._keys, lock_fd=self._lock_fd)


def difference(whole: Path, copy: Path) -> str | None:
    """Return the first way in which a copy differs from a folder, None where it does not.

    Names, kinds and data are compared, and what GreenFS keeps beside them is left out.
    """
    filecmp.clear_cache()
    ours, theirs = _kinds(whole), _kinds(copy)
    for path, kind in ours.items():
        if path not in theirs:
            return f"lacks {path}"
        if theirs[path] != kind:
            return f"has something else in place of {path}"
        if stat.S_ISREG(kind) and not filecmp.cmp(whole / path, copy / path, shallow=False):
            return f"has other data in {path}"
    for path in theirs.keys() - ours.keys():
        return f"has {path}, which is gone"
    return None


def _kinds(folder: Path) -> dict[Path, int]:
    """Return the kind of everything in a folder, by its path there."""
    found = {}
    for place, folders, files in os.walk(folder):
        if Path(place) == folder and OWN in folders:
            folders.remove(OWN)
        for name in (*folders, *files):
            path = Path(place, name)
            found[path.relative_to(folder)] = stat.S_IFMT(path.lstat().st_mode)
    return found
