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
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fsgreen import commands, processes
from fsgreen.devices import blockdev, image, mounts
from fsgreen.devices.queue import READ_AHEAD_KIB, Queue, put_back
from fsgreen.errors import FsgreenError

NAME = re.compile(r"fsgreen-\w+-[0-9a-f]{12}")
OWNER = "owner"
WAIT_S = 10.0
"""Longest wait for the tools of a killed owner."""

STUCK = "chattr -R -i on what was made immutable, mount -o remount,rw what is read-only"
"""The next step if not even root may remove a file."""

DETACH_S = 2.0
"""Longest wait for a loop device to detach. After that, the kernel detaches it at its last
close."""


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
                _dismantle(self.path, self.lock_fd)
                self.entry.unlink(missing_ok=True)
            finally:
                os.close(self.lock_fd)
                self.lock_fd = -1
                atexit.unregister(self.release)


def claim(parent: Path, kind: str) -> WorkFolder:
    """Make a work folder `fsgreen-KIND-NUMBER` in `parent` and lock it.

    Raises
    ------
    FsgreenError
        If `parent` is missing, is not a directory, or is not writable.
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
            done = _dismantle(folder, lock_fd)
        except FsgreenError as error:
            return [f"could not remove {folder}: {error.what}; {error.next_step}"]
        entry.unlink()
        return [*done, f"removed {folder}"]
    finally:
        os.close(lock_fd)


def _unseen(folder: Path, error: OSError) -> str:
    return (
        f"cannot look at {folder}: {error.strerror} (findmnt --target {folder}; mount it anew or "
        "umount it, then fsgreen doctor)"
    )


def _dismantle(folder: Path, lock_fd: int) -> list[str]:
    """Unmount, detach and delete, in this order. A step without anything left does nothing."""
    done = free_devices(folder, lock_fd)
    for mount in mounts.under(folder):
        unmount(mount.point, lock_fd=lock_fd, lazily=True)
        done.append(f"unmounted {mount.point}")
    if mounts.under(folder):
        raise FsgreenError(
            "still mounted", where=folder, next_step=f"umount {folder}/*, then fsgreen doctor"
        )
    done += put_back(folder)
    try:
        # The owner file is deleted last, so that an unfinished folder can be swept again.
        for child in folder.iterdir() if folder.exists() else ():
            if child.name != OWNER:
                directory = child.is_dir() and not child.is_symlink()
                shutil.rmtree(child) if directory else child.unlink()
        shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise FsgreenError(
            f"may not be removed: {error.strerror}", where=error.filename, next_step=STUCK
        ) from error
    return done


def free_devices(folder: Path, lock_fd: int) -> list[str]:
    """Unmount the loop devices in the folder, and detach those on files in it.

    Return one line for each action. Mounts below such a mount are unmounted first. Other mounts in
    the folder stay: one of them may hold the file behind a loop device, which could not be found by
    its path any more. The number of requests and the read-ahead of the devices are reset to the
    defaults.
    """
    done = []
    found = mounts.under(folder)
    points = [mount.point for mount in found if mount.source.startswith("/dev/loop")]
    for mount in found:
        if any(mount.point.is_relative_to(point) for point in points):
            unmount(mount.point, lock_fd=lock_fd, lazily=True)
            done.append(f"unmounted {mount.point}")
    for device in _loop_devices(folder):
        queue = Queue(device)
        queue.limit_loop()
        queue.set_number("read_ahead_kb", READ_AHEAD_KIB)
        commands.run(["losetup", "--detach", f"/dev/{device}"], lock_fd=lock_fd)
        waiting = "" if _is_detached(device, folder) else " (goes when its last user ends)"
        done.append(f"detached {device}{waiting}")
    return done


def unmount(point: Path, *, lock_fd: int | None = None, lazily: bool = False) -> None:
    """Unmount `point`. If it is busy, try again for a second.

    With `lazily`, a mount that stays busy is detached from the tree.

    Raises
    ------
    FsgreenError
        If it stays busy without `lazily`, or cannot be unmounted for another reason.
    """
    for _ in range(10):
        try:
            commands.run(["umount", str(point)], lock_fd=lock_fd)
            return
        except FsgreenError as error:
            if "busy" not in error.what:
                raise
            time.sleep(0.1)
    if not lazily:
        raise FsgreenError(
            "the file system is still in use", where=point, next_step=f"fuser -vm {point}"
        )
    commands.run(["umount", "--lazy", str(point)], lock_fd=lock_fd)


def _loop_devices(folder: Path) -> list[str]:
    return [
        path.name for path in sorted(Path("/sys/block").glob("loop*")) if _behind(path.name, folder)
    ]


def _behind(device_name: str, folder: Path) -> bool:
    if blockdev.backing_file(device_name) is None:
        return False
    # Once its server has ended, the file of a simulated disk has no path any more.
    found = (blockdev.backing_file(device_name), blockdev.attached_as(device_name))
    return any(path is not None and path.is_relative_to(folder) for path in found)


def _is_detached(device_name: str, folder: Path) -> bool:
    deadline_s = time.monotonic() + DETACH_S
    while _behind(device_name, folder):
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.01)
    return True


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
