"""The removal of a work folder: of its mounts and loop devices first, then of its files."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from fsgreen import commands
from fsgreen.devices import blockdev, frequencies, mounts, powerstates
from fsgreen.devices.queue import READ_AHEAD_KIB, Queue, put_back
from fsgreen.errors import FsgreenError

STUCK = "chattr -R -i on what was made immutable, mount -o remount,rw what is read-only"
"""The next step if not even root may remove a file."""

DETACH_S = 2.0
"""Longest wait for a loop device to detach. After that, the kernel detaches it at its last
close."""


def remove(folder: Path, lock_fd: int, *, last: str) -> list[str]:
    """Unmount, detach and delete a folder; return one line for each action. It may be repeated.

    The file `last` is deleted last, so that an unfinished folder still has it.

    Raises FsgreenError if something stays mounted, or cannot be put back or deleted.
    """
    done = free_devices(folder, lock_fd)
    for mount in mounts.under(folder):
        mounts.unmount(mount.point, lock_fd=lock_fd, lazily=True)
        done.append(f"unmounted {mount.point}")
    failed: list[FsgreenError] = []
    for settings_of in (put_back, powerstates.put_back, frequencies.put_back):
        try:
            done += settings_of(folder)
        except FsgreenError as error:
            failed.append(error)
    if mounts.under(folder):
        raise FsgreenError(
            "still mounted",
            where=folder,
            next_step=f"umount {folder}/*; the next fsgreen measure removes the rest",
        )
    if failed:
        raise failed[0]
    try:
        for child in folder.iterdir() if folder.exists() else ():
            if child.name != last:
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
            mounts.unmount(mount.point, lock_fd=lock_fd, lazily=True)
            done.append(f"unmounted {mount.point}")
    for device in _loop_devices(folder):
        queue = Queue(device)
        queue.limit_loop()
        queue.set_number("read_ahead_kb", READ_AHEAD_KIB)
        try:
            commands.run(["losetup", "--detach", f"/dev/{device}"], lock_fd=lock_fd)
        except FsgreenError:
            if _behind(device, folder):
                raise
            # Its last user has just ended, and it detached by itself.
        waiting = "" if _is_detached(device, folder) else " (goes when its last user ends)"
        done.append(f"detached {device}{waiting}")
    return done


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
