"""The device guard: nothing is formatted or overwritten unless it is provably ours.

Only `run_mkfs` starts a program that destroys data. Only `open_to_overwrite` opens a device for
writing.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fsgreen import commands
from fsgreen.devices import blockdev
from fsgreen.errors import FsgreenError

CONFIGURED = Path("/sys/kernel/config/nullb")
"""The folder of null block devices in configfs."""


@dataclass(frozen=True)
class ListedDisk:
    """A disk that the testbed file offers for formatting, by a name that survives a reboot.

    If the file has its serial number, its data may be destroyed. If `partition` is set, only that
    partition may be.
    """

    by_id: Path
    serial: str | None = None
    partition: int | None = None

    def node(self) -> Path:
        """Return the node of the disk or partition. Raises `FsgreenError` without the partition."""
        disk = blockdev.kernel_name(self.by_id)
        if self.partition is None:
            return Path("/dev", disk)
        for file in (blockdev.SYS_BLOCK / disk).glob("*/partition"):
            if file.read_text().strip() == str(self.partition):
                return Path("/dev", file.parent.name)
        raise FsgreenError(
            f"this disk has no partition {self.partition}",
            where=self.by_id,
            next_step=f"lsblk {self.by_id}; make one (fdisk), or name another",
        )


@dataclass(frozen=True)
class NullDisk:
    """A null block device by its name in configfs: it is memory, and holds nobody's data."""

    name: str

    def kernel_names(self) -> set[str]:
        """Return the names that the kernel may give the device (drivers/block/null_blk/main.c)."""
        index = (CONFIGURED / self.name / "index").read_text().strip()
        return {f"nullb{index}", self.name}


Proof = Path | ListedDisk | NullDisk
"""What proves that a device is ours: the image behind a loop device, a disk of the testbed file, or
a null block device.
"""


def run_mkfs(
    command: Sequence[str], device: Path, proof: Proof, *, lock_fd: int | None = None
) -> tuple[str, ...]:
    """Format `device` with `command`, after the checks of `check_destructive`.

    `command` is the tool with its arguments, without the device. The device stays open from before
    the check until mkfs has ended. Meanwhile a loop device cannot get another file, and another
    disk cannot get the device's name. Return the whole command as it ran.

    Raises FsgreenError as `check_destructive` does, or if mkfs fails.
    """
    whole = (*command, str(device))
    with _opened(device) as fd:
        _check(fd, device, proof)
        commands.run(whole, lock_fd=lock_fd, next_step="fsgreen doctor")
    return whole


def bind(device: Path, proof: Proof) -> int:
    """Return a descriptor of a device of ours. While it is open, the node names the same device.

    Meanwhile a loop device cannot get another file, and another disk cannot get the device number.

    Raises FsgreenError if the device is not ours.
    """
    fd = _open_block(device)
    try:
        _check_ours(fd, device, proof)
    except BaseException:
        os.close(fd)
        raise
    return fd


def open_to_overwrite(device: Path, proof: Proof) -> int:
    """Open a device of ours exclusively for direct reads and writes; return the descriptor.

    The checks are made on that same descriptor.

    Raises FsgreenError as `check_destructive` does.
    """
    fd = open_alone(device, os.O_RDWR | os.O_DIRECT)
    try:
        _check(fd, device, proof, alone=True)
    except BaseException:
        os.close(fd)
        raise
    return fd


def open_alone(device: Path, flags: int = os.O_RDONLY) -> int:
    """Open an unused device exclusively; return its descriptor.

    While it is open, nobody can mount or format the device.

    Raises FsgreenError if it is not a block device, or is in use.
    """
    with _opened(device):
        pass
    try:
        return os.open(device, flags | os.O_EXCL)
    except OSError as error:
        use = blockdev.in_use(device) or f"it cannot be opened alone ({error.strerror})"
        raise _in_use_refusal(device, use) from error


def check_destructive(device: Path, proof: Proof) -> None:
    """Raise unless everything on `device` may be destroyed.

    The proof of a loop device is our own image: it must be the file behind this device and behind
    no other. Otherwise it is the disk of the testbed file or the null block device: it must be this
    device. Raises FsgreenError if the device is not a block device; if it is not ours or not
    listed; if it is in use in any way (mounted, swap, held, or its disk or a partition in use); if
    it holds data that no serial number confirms; if another loop device cannot be asked for its
    file.
    """
    with _opened(device) as fd:
        _check(fd, device, proof)


def _check(fd: int, device: Path, proof: Proof, *, alone: bool = False) -> None:
    """Raise unless all data of an open device may be destroyed. `alone`: it is open with O_EXCL."""
    _check_ours(fd, device, proof)
    use = blockdev.in_use(device, alone=alone)
    if use is not None:
        raise _in_use_refusal(device, use)
    if isinstance(proof, ListedDisk) and proof.serial is None:
        kinds = blockdev.signatures(device)
        if kinds:
            raise _refusal(
                device,
                f"it holds data ({', '.join(kinds)})",
                "if it may be destroyed, confirm it in the testbed file by its serial number: "
                f"lsblk -o NAME,SERIAL,SIZE,FSTYPE,LABEL {device}",
            )


def _check_ours(fd: int, device: Path, proof: Proof) -> None:
    if isinstance(proof, ListedDisk):
        _check_listed(fd, device, proof)
    elif isinstance(proof, NullDisk):
        _check_null(device, proof)
    else:
        _check_image(fd, device, proof)


def _check_null(device: Path, null: NullDisk) -> None:
    """Raise unless a device is the null block device of this name."""
    try:
        ours = blockdev.kernel_name(device) in null.kernel_names()
    except OSError:
        ours = False
    if not ours:
        raise _refusal(device, f"it is not the null block device {null.name}", "lsblk")


def _check_image(fd: int, device: Path, image: Path) -> None:
    """Raise unless our image is behind an open loop device, and behind no other."""
    attached = blockdev.file_of_loop(fd)
    if attached is None:
        raise _refusal(device, "no file is attached to it", "losetup -l")
    try:
        ours = image.stat()
    except OSError as error:
        raise image_gone(image, error) from error
    if attached != (ours.st_dev, ours.st_ino):
        behind = blockdev.backing_file(blockdev.kernel_name(device))
        raise _refusal(device, f"it belongs to {behind}, not to our image {image}", "losetup -l")
    for folder in Path("/sys/block").glob("loop*/loop"):
        name = folder.parent.name
        if name != blockdev.kernel_name(device) and blockdev.loop_file(name) == attached:
            other = Path("/dev", name)
            raise _refusal(
                device, f"its image is also behind {other}", f"losetup -l, then losetup -d {other}"
            )


def image_gone(image: Path, error: OSError) -> FsgreenError:
    """Return the error for an image of ours that is gone."""
    return FsgreenError(
        f"the image that this campaign made is gone: {error.strerror}",
        where=image,
        next_step="find out what removed or unmounted it, then start the same command again",
    )


def _check_listed(fd: int, device: Path, listed: ListedDisk) -> None:
    """Raise unless an open device is the disk of the testbed file, and its serial number agrees."""
    try:
        same = listed.node().stat().st_rdev == os.fstat(fd).st_rdev
    except (OSError, FsgreenError):
        same = False
    if not same:
        raise _refusal(
            device, "the testbed file does not list it", "ls -l /dev/disk/by-id, then add it"
        )
    if listed.serial is None:
        return
    serial = blockdev.serial_of(listed.by_id)
    if serial is None:
        raise _refusal(
            device,
            "it has no serial number that could confirm it",
            "lsblk -o NAME,SERIAL; take a disk that has one",
        )
    if serial != listed.serial:
        raise _refusal(
            device,
            f"its serial number is {serial}, the testbed file says {listed.serial}",
            "correct the testbed file",
        )


@contextlib.contextmanager
def _opened(device: Path) -> Iterator[int]:
    fd = _open_block(device)
    try:
        yield fd
    finally:
        os.close(fd)


def _open_block(device: Path) -> int:
    """Open a block device for queries. Raises FsgreenError for anything else."""
    try:
        fd = os.open(device, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _refusal(device, f"it cannot be opened ({error.strerror})", "lsblk") from error
    if not stat.S_ISBLK(os.fstat(fd).st_mode):
        os.close(fd)
        raise _refusal(device, "it is not a block device", "lsblk")
    return fd


def _refusal(device: Path, why: str, next_step: str) -> FsgreenError:
    return FsgreenError(
        f"refused to format {device.name}: {why}", where=device, next_step=next_step
    )


def _in_use_refusal(device: Path, use: str) -> FsgreenError:
    return _refusal(device, use, f"lsblk {device}, then stop what uses it")
