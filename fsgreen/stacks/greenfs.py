"""GreenFS over mounted file systems of the kernel: its folders there, and its mount point.

The folders are on one device, or each on a device of its own; then the remote is served. During a
trial, the disk sleeps. It is brought up to date once the files are made, and is not woken after
that. Bringing changes to the remote is part of the work.
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
from fsgreen.devices.names import FLASH
from fsgreen.errors import FsgreenError
from fsgreen.stacks.base import DISK, REMOTE, Mount

OWN = ".greenfs"
"""The folder of GreenFS's own data, in each of its folders."""

ASLEEP = 0
"""Spin-ups per day. With 0, the disk sleeps at any hour, whatever a trial does."""


class Volume:
    """A volume of GreenFS, while one is mounted.

    Every method may be called again, in any order, without harm.

    The work folder gets the mount point, and the keys of a server. `lock_fd` is its owner lock.
    """

    def __init__(self, work: Path, lock_fd: int) -> None:
        self._at, self._keys, self._lock_fd = work / "programs", work / "keys", lock_fd
        self._mount: greenfs.Mount | None = None
        self._server: greenfs.Server | None = None
        self._folders: dict[str, Path] = {}

    @property
    def flash(self) -> Path:
        """The folder of the files. It exists while the volume is mounted."""
        return self._folders[FLASH]

    def mount(self, below: Mount, folders: Mapping[str, Path], *, served: bool) -> Mount:
        """Mount the volume; return the mount once the remote holds all files.

        `below` is the file system that has the files. `folders` are those of the volume by role;
        `FLASH` is one of them. `served` says whether a server gives the remote to this machine,
        with keys that are made for it. Raises FsgreenError if the program is missing or fails. The
        message has the program's words.
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
            sleep_after_s=0,  # the trial puts the disk to sleep, or a timer of the disk does
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
        """Unmount the volume, and bring all of its folders up to date.

        A server that is away is started again for that. Raises `FsgreenError` if a folder cannot be
        brought up to date.
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
        """Call `settle`; return how a folder then differs from flash, or None."""
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
        """Kill the programs of the volume and unmount it at once. Nothing is synchronised."""
        self.kill()
        for entry in mounts.under(self._at):
            mounts.unmount(entry.point, lock_fd=self._lock_fd)

    def kill(self) -> None:
        """Kill the programs of the volume at once."""
        if self._mount is not None:
            self._mount.kill()
            self._mount = None
        if self._server is not None:
            self._server.kill()
            self._server = None
        shutil.rmtree(self._keys, ignore_errors=True)

    def events(self) -> Mapping[str, Callable[[], None]]:
        """Return the events of the remote. Without a remote, they do nothing."""
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
    """Return the first difference of a copy from a folder, in words; None if there is none.

    Names, types of files and data are compared. GreenFS's own data are left out.
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
    """Return the file type of everything in a folder, by its path there."""
    found = {}
    for place, folders, files in os.walk(folder):
        if Path(place) == folder and OWN in folders:
            folders.remove(OWN)
        for name in (*folders, *files):
            path = Path(place, name)
            found[path.relative_to(folder)] = stat.S_IFMT(path.lstat().st_mode)
    return found
