"""What the kernel tells about a block device: its names, its disk, its file, and its users."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import stat
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fsgreen import commands
from fsgreen.devices import mounts
from fsgreen.errors import FsgreenError

SYS_BLOCK = Path("/sys/class/block")
UDEV = Path("/run/udev/data")

LOOP_GET_STATUS64 = 0x4C05
LOOP_INFO_B, LOOP_FILE, LOOP_NAME = 232, struct.Struct("=QQ"), slice(56, 120)
"""Layout of struct loop_info64 (linux/loop.h): its size, lo_device and lo_inode, lo_file_name."""


def backing_file(device_name: str) -> Path | None:
    """Return the file behind a loop device (`loop3`); None if nothing is attached."""
    path = Path("/sys/block") / device_name / "loop" / "backing_file"
    try:
        return Path(path.read_text().rstrip("\n"))
    except FileNotFoundError:
        return None


def attached_as(device_name: str) -> Path | None:
    """Return the path by which a file was attached to a loop device; None if nothing is attached.

    It stays the same after the mount of the file has gone. The kernel keeps 63 bytes of it.
    """
    try:
        fd = os.open(Path("/dev", device_name), os.O_RDONLY)
    except OSError:
        return None
    try:
        status = _status(fd)
    finally:
        os.close(fd)
    return None if status is None else Path(os.fsdecode(status[LOOP_NAME].partition(b"\0")[0]))


def loop_file(device_name: str) -> tuple[int, int] | None:
    """Return device and inode of the file behind a loop device (`loop3`); None if there is none.

    If /dev lacks the device, as in a container, it is opened by its number.

    Raises FsgreenError if a file is behind the device, but the kernel cannot be asked which.
    """
    why = "it has no node"
    for opening in (_open_in_dev, _open_by_number):
        try:
            with opening(device_name) as fd:
                return LOOP_FILE.unpack_from(fcntl.ioctl(fd, LOOP_GET_STATUS64, bytes(LOOP_INFO_B)))
        except OSError as error:
            if error.errno == errno.ENXIO or backing_file(device_name) is None:
                return None
            why = error.strerror or why
    raise FsgreenError(
        f"cannot ask which file is behind {device_name}: {why}",
        where=Path("/dev", device_name),
        next_step=f"losetup -l; run where /dev shows {device_name}, or losetup -d it there",
    )


@contextlib.contextmanager
def _open_in_dev(device_name: str) -> Iterator[int]:
    """Open a device by its node in /dev. Raises OSError also if the node is another device's."""
    fd = os.open(Path("/dev", device_name), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        node = os.fstat(fd)
        if not stat.S_ISBLK(node.st_mode) or node.st_rdev != _number(device_name):
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _open_by_number(device_name: str) -> Iterator[int]:
    """Open a device by a private node. It is made in /dev, as /tmp is often mounted `nodev`."""
    with tempfile.TemporaryDirectory(prefix=".fsgreen-", dir="/dev") as folder:
        node = Path(folder, device_name)
        os.mknod(node, stat.S_IFBLK | 0o400, _number(device_name))
        fd = os.open(node, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


def _number(device_name: str) -> int:
    major, minor = (SYS_BLOCK / device_name / "dev").read_text().split(":")
    return os.makedev(int(major), int(minor))


def file_of_loop(fd: int) -> tuple[int, int] | None:
    """Return device and inode of the file behind an open loop device; None if there is none."""
    status = _status(fd)
    return None if status is None else LOOP_FILE.unpack_from(status)


def _status(fd: int) -> bytes | None:
    status = bytearray(LOOP_INFO_B)
    try:
        fcntl.ioctl(fd, LOOP_GET_STATUS64, status)
    except OSError:
        return None
    return bytes(status)


def kernel_name(device: Path) -> str:
    """Return the kernel's name of a block device, given any node of it."""
    number = device.stat().st_rdev
    return Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve().name


def disk_of(name: str) -> str:
    """Return the kernel's name of the whole disk, given the name of a partition or of a disk."""
    path = (SYS_BLOCK / name).resolve()
    return path.parent.name if (path / "partition").exists() else name


def disk_of_mount(entry: mounts.MountEntry) -> str | None:
    """Return the kernel's name of the whole disk below a mount; None if no disk is visible."""
    named = _name_of_source(entry.source)
    path = SYS_BLOCK / named if named else Path("/sys/dev/block", entry.device_number)
    return disk_of(path.resolve().name) if path.exists() else None


def serial_of(device: Path) -> str | None:
    """Return a disk's serial number, from the kernel or from udev; None if it has none."""
    folder = (SYS_BLOCK / kernel_name(device)).resolve()
    for name in ("serial", "device/serial"):
        if (folder / name).is_file():
            return (folder / name).read_text().strip() or None
    page = folder / "device" / "vpd_pg80"  # unit serial number, after a header of 4 bytes (SPC-4)
    if page.is_file():
        return page.read_bytes()[4:].decode("ascii", "replace").strip("\0 ") or None
    number = (folder / "dev").read_text().strip()
    with contextlib.suppress(FileNotFoundError):
        for line in (UDEV / f"b{number}").read_text(errors="replace").splitlines():
            if line.startswith("E:ID_SERIAL_SHORT="):
                return line.partition("=")[2].strip() or None
    return None


def in_use(device: Path, *, alone: bool = False) -> str | None:
    """Return how a device, its disk or one of its partitions is used; None if all are free.

    `alone` says that the caller has the device open with O_EXCL.
    """
    family = _family(kernel_name(device))
    numbers = {(SYS_BLOCK / name / "dev").read_text().strip() for name in family}
    for mount in mounts.mounted():
        if mount.device_number in numbers or _name_of_source(mount.source) in family:
            return f"{mount.source} is mounted on {mount.point}"
    for line in Path("/proc/swaps").read_text().splitlines()[1:]:
        if _name_of_source(line.split()[0]) in family:
            return f"{line.split()[0]} is swap space"
    for name in family:
        if holders := [holder.name for holder in (SYS_BLOCK / name / "holders").iterdir()]:
            return f"/dev/{name} is in use by {', '.join(holders)}"
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        source = backing.read_text().strip()
        if _name_of_source(source) in family:
            return f"{source} is behind the loop device /dev/{backing.parts[3]}"
    if alone:
        return None
    try:
        # The kernel's own answer also covers other mount namespaces.
        os.close(os.open(device, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        return f"it cannot be opened alone ({error.strerror})"
    return None


def signatures(device: Path) -> list[str]:
    """Return the types of the signatures on a device: file systems, partition tables, RAID, ..."""
    text = commands.run(["wipefs", "--no-act", "--json", str(device)])
    found = json.loads(text)["signatures"] if text.strip() else []
    return list(dict.fromkeys(entry["type"] for entry in found))


def _family(name: str) -> set[str]:
    """Return the kernel's names of a device's whole disk and of all partitions of that disk."""
    disk = disk_of(name)
    return {disk} | {file.parent.name for file in (SYS_BLOCK / disk).glob("*/partition")}


def _name_of_source(source: str) -> str | None:
    """Return the kernel's name of the block device at a path; None if it is anything else."""
    path = Path(re.sub(r" \(deleted\)$", "", source))
    if not path.is_absolute() or not path.is_block_device():
        return None
    return kernel_name(path)
