"""The device guard: nothing is formatted or overwritten unless it is provably ours.

`run_mkfs` is the only place of the library that starts a program which destroys data, and
`open_to_overwrite` the only one that opens a device to write on it.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fsgreen.errors import FsgreenError
from fsgreen.testbeds import commands, mounts

SYS_BLOCK = Path("/sys/class/block")

LOOP_GET_STATUS64 = 0x4C05
LOOP_INFO_B, LOOP_NAME = 232, slice(56, 120)
"""Of struct loop_info64 (linux/loop.h): its size, and where lo_file_name is."""


@dataclass(frozen=True)
class ListedDevice:
    """A disk that the testbed file offers for formatting, by a name that survives a reboot."""

    by_id: Path
    serial: str


def run_mkfs(
    command: Sequence[str],
    device: Path,
    *,
    image: Path | None = None,
    listed: Sequence[ListedDevice] = (),
    confirmed_serial: str | None = None,
    lock_fd: int | None = None,
) -> tuple[str, ...]:
    """Format `device` with `command` (tool and arguments without the device), if it may be.

    Parameters and errors as in `check_destructive`. Returns the whole command as run.
    """
    check_destructive(device, image=image, listed=listed, confirmed_serial=confirmed_serial)
    full = (*command, str(device))
    commands.run(full, lock_fd=lock_fd, next_step="fsgreen doctor")
    return full


def open_to_overwrite(device: Path, *, image: Path) -> int:
    """Open a loop device on our own image for direct reads and writes, alone.

    Raises
    ------
    FsgreenError
        As `check_destructive`.
    """
    check_destructive(device, image=image)
    return os.open(device, os.O_RDWR | os.O_DIRECT | os.O_EXCL)


def check_destructive(
    device: Path,
    *,
    image: Path | None = None,
    listed: Sequence[ListedDevice] = (),
    confirmed_serial: str | None = None,
) -> None:
    """Raise unless everything on `device` may be destroyed.

    Parameters
    ----------
    device : Path
        A block device.
    image : Path, optional
        For a loop device: our own image, which must be the file behind it.
    listed : sequence of ListedDevice
        The disks of the testbed file; a device without `image` must be one of them.
    confirmed_serial : str, optional
        The serial number that the user typed, needed where the device holds something.

    Raises
    ------
    FsgreenError
        If the device is not a block device, not ours or not listed, in use in any way (mounted,
        swap, held, its disk or a partition in use), or holds a signature that is not confirmed.
    """
    if not device.exists() or not stat.S_ISBLK(device.stat().st_mode):
        raise _refusal(device, "it is not a block device", "lsblk")
    entry = None
    if image is not None:
        _check_image(device, image)
    else:
        entry = _find_listed(device, listed)
    use = in_use(device)
    if use is not None:
        raise _refusal(device, use, f"lsblk {device}, then stop what uses it")
    if entry is not None:
        found = signatures(device)
        if found and confirmed_serial != entry.serial:
            raise _refusal(
                device,
                f"it holds data ({', '.join(found)})",
                f"if it may be destroyed, confirm it by its serial number {entry.serial}",
            )


def in_use(device: Path) -> str | None:
    """Return how a device, its disk or one of its partitions is used, None when it is free."""
    family = _family(kernel_name(device))
    numbers = {(SYS_BLOCK / name / "dev").read_text().strip() for name in family}
    for mount in mounts.mounted():
        if mount.device_number in numbers or _name_of_source(mount.source) in family:
            return f"{mount.source} is mounted on {mount.point}"
    for line in Path("/proc/swaps").read_text().splitlines()[1:]:
        if _name_of_source(line.split()[0]) in family:
            return f"{line.split()[0]} is swap space"
    for name in family:
        holders = [holder.name for holder in (SYS_BLOCK / name / "holders").iterdir()]
        if holders:
            return f"/dev/{name} is held by {', '.join(holders)}"
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        source = backing.read_text().strip()
        if _name_of_source(source) in family:
            return f"{source} is behind the loop device /dev/{backing.parts[3]}"
    try:
        # The kernel's own answer, which also knows other mount namespaces.
        os.close(os.open(device, os.O_RDONLY | os.O_EXCL))
    except OSError as error:
        return f"it cannot be opened alone ({error.strerror})"
    return None


def signatures(device: Path) -> list[str]:
    """Return the types of file system, partition table, RAID ... signatures on a device."""
    text = commands.run(["wipefs", "--no-act", "--json", str(device)])
    found = json.loads(text)["signatures"] if text.strip() else []
    return list(dict.fromkeys(entry["type"] for entry in found))


def backing_file(device_name: str) -> Path | None:
    """Return the file behind a loop device (`loop3`), None when nothing is attached."""
    path = Path("/sys/block") / device_name / "loop" / "backing_file"
    try:
        return Path(path.read_text().rstrip("\n"))
    except FileNotFoundError:
        return None


def attached_as(device_name: str) -> Path | None:
    """Return the path by which a file was attached to a loop device, None where none is.

    It stays the same when the mount that the file is on has gone. The kernel keeps 63 bytes of it.
    """
    status = bytearray(LOOP_INFO_B)
    try:
        fd = os.open(f"/dev/{device_name}", os.O_RDONLY)
        try:
            fcntl.ioctl(fd, LOOP_GET_STATUS64, status)
        finally:
            os.close(fd)
    except OSError:
        return None
    name, _, _ = bytes(status[LOOP_NAME]).partition(b"\0")
    return Path(os.fsdecode(name))


def kernel_name(device: Path) -> str:
    """Return the kernel's name of a block device, whatever its node is called."""
    number = device.stat().st_rdev
    return Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve().name


def serial_of(device: Path) -> str | None:
    """Return a disk's serial number as the kernel has it, None if it has none."""
    path = SYS_BLOCK / kernel_name(device)
    for name in ("serial", "device/serial"):
        if (path / name).is_file():
            return (path / name).read_text().strip() or None
    return None


def _check_image(device: Path, image: Path) -> None:
    behind = backing_file(kernel_name(device))
    if behind is None:
        raise _refusal(device, "no file is attached to it", "losetup -l")
    if not behind.exists() or not image.exists() or not behind.samefile(image):
        raise _refusal(device, f"it belongs to {behind}, not to our image {image}", "losetup -l")


def _find_listed(device: Path, listed: Sequence[ListedDevice]) -> ListedDevice:
    for entry in listed:
        if entry.by_id.exists() and entry.by_id.samefile(device):
            serial = serial_of(device)
            if serial is not None and serial != entry.serial:
                raise _refusal(
                    device,
                    f"its serial number is {serial}, the testbed file says {entry.serial}",
                    "correct the testbed file",
                )
            return entry
    raise _refusal(
        device, "the testbed file does not list it", "ls -l /dev/disk/by-id, then add it"
    )


def _family(name: str) -> set[str]:
    """Return a device, its whole disk and all partitions of the device itself."""
    path = (SYS_BLOCK / name).resolve()
    family = {name} | {child.parent.name for child in path.glob("*/partition")}
    if (path / "partition").exists():
        family.add(path.parent.name)
    return family


def _name_of_source(source: str) -> str | None:
    """Return the kernel's name of a block device given by any path, None for anything else."""
    path = Path(re.sub(r" \(deleted\)$", "", source))
    if not path.is_absolute() or not path.is_block_device():
        return None
    return kernel_name(path)


def _refusal(device: Path, why: str, next_step: str) -> FsgreenError:
    return FsgreenError(
        f"refused to format {device.name}: {why}", where=device, next_step=next_step
    )
