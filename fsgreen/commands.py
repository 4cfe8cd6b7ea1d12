"""System tools: found also where an unprivileged PATH does not look, and never half-explained."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence

from fsgreen import elsewhere, paths
from fsgreen.errors import FsgreenError

PACKAGES = {
    "mkfs.ext2": "e2fsprogs",
    "mkfs.ext3": "e2fsprogs",
    "mkfs.ext4": "e2fsprogs",
    "cc": "build-essential",
    "dpkg-source": "dpkg-dev",
    "script": "bsdutils",
    "dumpe2fs": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "xfs_info": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "btrfs": "btrfs-progs",
    "mkfs.reiserfs": "reiserfsprogs",
    "debugreiserfs": "reiserfsprogs",
    "mkfs.f2fs": "f2fs-tools",
    "dump.f2fs": "f2fs-tools",
    "mkfs.nilfs2": "nilfs-tools",
    "nilfs-tune": "nilfs-tools",
    "mkfs.jfs": "jfsutils",
    "jfs_tune": "jfsutils",
    "mkfs.bcachefs": "bcachefs-tools",
    "bcachefs": "bcachefs-tools",
    "losetup": "mount",
    "mount": "mount",
    "umount": "mount",
    "wipefs": "util-linux",
    "modprobe": "kmod",
    "setpriv": "util-linux",
    "nvme": "nvme-cli",
    "qemu-system-x86_64": "qemu-system-x86",
    "nilfs_cleanerd": "nilfs-tools",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "rpc.nfsd": "nfs-kernel-server",
    "ip": "iproute2",
    "tc": "iproute2",
}
"""Debian's package of each tool."""


def remedy(tool: str) -> str:
    """Return the command that installs a tool on Debian or Ubuntu."""
    return f"apt-get install {PACKAGES.get(tool, tool)}"


INTERRUPTED = 128 + signal.SIGINT
"""The exit status after Ctrl-C, as shells have it."""


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off what SIGINT, SIGTERM and SIGHUP do to the main thread, so that all is done whole.

    A tool that a dying harness had just started could mount or attach something afterwards.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    met: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: met.append(number))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if met:
            signal.raise_signal(met[0])


def run(command: Sequence[str], *, lock_fd: int | None = None, next_step: str | None = None) -> str:
    """Run a tool to its end, on this machine or where the block has entered, and return its output.

    A tool inherits the owner lock `lock_fd` of a work folder, so that the lock stays taken until it
    has ended, even when the harness was killed meanwhile. `next_step` is what a user should do when
    it fails. Raises FsgreenError if the tool is missing or ends with a status other than 0.
    """
    there = elsewhere.place()
    if there is not None:
        return there.run(command)
    path = paths.program(command[0])
    if path is None:
        raise FsgreenError(
            f"{command[0]} is not installed", where=" ".join(command), next_step=remedy(command[0])
        )
    with uninterrupted():
        done = subprocess.run(
            [path, *command[1:]],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
            pass_fds=() if lock_fd is None else (lock_fd,),
            check=False,
        )
    if done.returncode != 0:
        output = (done.stderr.strip() or done.stdout.strip()).split("\n")[0]
        raise FsgreenError(
            f"{command[0]} ended with status {done.returncode}: {output}",
            where=" ".join(command),
            next_step=next_step,
        )
    return done.stdout
