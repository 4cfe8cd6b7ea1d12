"""Work folders: one per testbed, owned by a lock, and removed whatever happens to the owner.

A registry holds a symbolic link for each work folder. It is made before the folder and has the form
POINT/./FOLDER, so that a folder that is gone can be told from one whose mount is absent. The owner
holds an flock on a file in the folder. The kernel releases the lock when the owner and the tools
that it started have ended, even after SIGKILL. So a registered folder with a free lock is
abandoned. Only such a folder, the mounts inside it and the loop devices on its image are ever
removed.

Ctrl-C can come between any two steps, even before a `with` block begins or while it ends. What the
owner has not released by then, it releases as it exits.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fsgreen import commands, processes
from fsgreen.devices import image, mounts, removal
from fsgreen.errors import FsgreenError

NAME = re.compile(r"fsgreen-\w+-[0-9a-f]{12}")
OWNER = "owner"
"""The file with the lock. It goes last, so that an unfinished folder can be swept again."""

WAIT_S = 10.0
"""Longest wait for the tools of a killed owner."""


def registry() -> Path:
    """Return the registry of this user's work folders. It is made if it does not exist.

    It is in $XDG_STATE_HOME or ~/.local/state, so it survives a reboot, as images on a disk do.
    """
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    folder = Path(state) / "fsgreen" / "testbeds"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@dataclass
class WorkFolder:
    """A private folder, and the lock that shows that it is in use.

    `ends` are functions that end servers of mounts in the folder. Each may be called again.
    """

    path: Path
    entry: Path
    lock_fd: int
    ends: list[Callable[[], None]] = field(default_factory=list)

    def end_servers(self) -> None:
        """End the servers of mounts in the folder."""
        for end in self.ends:
            end()

    def release(self) -> None:
        """Unmount, detach and delete everything in the folder, then its entry. It may be repeated.

        Ctrl-C takes effect afterwards. Raises `FsgreenError` if something cannot be removed. The
        next `sweep` tries that again.
        """
        if self.lock_fd < 0:
            return
        with commands.uninterrupted():
            try:
                self.end_servers()
                removal.remove(self.path, self.lock_fd, last=OWNER)
                self.entry.unlink(missing_ok=True)
            finally:
                os.close(self.lock_fd)
                self.lock_fd = -1
                atexit.unregister(self.release)


def claim(parent: Path, kind: str) -> WorkFolder:
    """Make a work folder `fsgreen-KIND-NUMBER` in `parent` and lock it.

    Raises FsgreenError if `parent` is missing, is not a directory, or is not writable.
    """
    image.require_directory(parent)
    parent = parent.resolve()
    folder = parent / f"fsgreen-{kind}-{secrets.token_hex(6)}"
    with commands.uninterrupted(), _registry_lock():
        entry = registry() / folder.name
        point = mounts.holding(parent).point
        entry.symlink_to(os.path.join(point, ".", folder.relative_to(point)))
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            entry.unlink()
            raise FsgreenError(
                f"cannot make a work folder: {error.strerror}",
                where=parent,
                next_step="name a writable folder with --folder",
            ) from error
        lock_fd = os.open(folder / OWNER, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock_fd, fcntl.LOCK_EX)
        os.write(lock_fd, f"{os.getpid()} {processes.of(os.getpid()).start_ticks}\n".encode())
        work = WorkFolder(folder, entry, lock_fd)
        atexit.register(work.release)
    return work


def sweep() -> list[str]:
    """Remove what killed harnesses of this user left behind; return one line for each action.

    Folders in use are left alone. If tools of a killed harness still run, it waits for them, at
    most `WAIT_S` per folder, and then reports the folder as busy.
    """
    report: list[str] = []
    with _registry_lock():
        for entry in sorted(registry().iterdir()):
            if NAME.fullmatch(entry.name) and entry.is_symlink():
                report += _sweep_entry(entry)
    return report


def _sweep_entry(entry: Path) -> list[str]:
    folder = entry.readlink()
    try:
        status = folder.lstat()
    except FileNotFoundError:
        point, known, _ = os.readlink(entry).partition("/./")
        if known and mounts.holding(Path(point or "/")).point != Path(point or "/"):
            return [f"cannot look at {folder}: {point} is not mounted now (for good? rm {entry})"]
        entry.unlink()
        return []
    except OSError as error:
        return [_unseen(folder, error)]
    ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    if folder.name != entry.name or not ours:
        return [f"left {folder} alone: it is not ours"]
    # `claim` holds the lock of the registry, so a folder without an owner file has no owner.
    try:
        lock_fd = os.open(folder / OWNER, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        return [_unseen(folder, error)]
    try:
        if not _wait_for_lock(lock_fd):
            return [] if _owner_lives(lock_fd) else [f"{folder} is still busy: sweep again later"]
        try:
            done = removal.remove(folder, lock_fd, last=OWNER)
        except FsgreenError as error:
            return [f"could not remove {folder}: {error.what}; {error.next_step}"]
        entry.unlink()
        return [*done, f"removed {folder}"]
    finally:
        os.close(lock_fd)


def _unseen(folder: Path, error: OSError) -> str:
    return (
        f"cannot look at {folder}: {error.strerror} (findmnt --target {folder}; mount it anew or "
        "umount it: the next fsgreen measure looks again)"
    )


def _wait_for_lock(lock_fd: int) -> bool:
    deadline_s = time.monotonic() + WAIT_S
    while True:
        try:
            fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if _owner_lives(lock_fd) or time.monotonic() > deadline_s:
                return False
            time.sleep(0.02)


def _owner_lives(lock_fd: int) -> bool:
    pid, _, ticks = os.pread(lock_fd, 64, 0).decode().strip().partition(" ")
    if not pid.isdigit() or not ticks:
        return False
    try:
        owner = processes.of(int(pid))
    except (FileNotFoundError, ProcessLookupError):
        return False
    return not owner.ended and str(owner.start_ticks) == ticks


@contextlib.contextmanager
def _registry_lock() -> Iterator[None]:
    fd = os.open(registry() / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
