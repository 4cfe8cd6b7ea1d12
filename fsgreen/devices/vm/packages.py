"""The Debian packages of the guest."""

from __future__ import annotations

import re
from pathlib import Path

from fsgreen import debian
from fsgreen.debian import ARCHITECTURE, Package
from fsgreen.errors import FsgreenError

KERNEL = f"linux-image-{ARCHITECTURE}"

TOOLS = (
    "btrfs-progs",
    "busybox-static",
    "coreutils",
    "dash",
    "e2fsprogs",
    "f2fs-tools",
    "fio",
    "iproute2",
    "jfsutils",
    "kmod",
    "librocksdb7.8",
    "mount",
    "netbase",
    "nfs-kernel-server",
    "nilfs-tools",
    "procps",
    "python3",
    "reiserfsprogs",
    "squashfs-tools",
    "util-linux",
    "xfsprogs",
)


def apt(folder: Path) -> debian.Apt:
    """Return apt for the guest, in a folder of its own; raises as `debian.Apt` does."""
    return debian.Apt(
        folder,
        purpose="the guest is made of",
        instead="build it on Debian or Ubuntu and copy the folder of the image here (docs/vm.md), "
        "or take another testbed",
        kind="own",
    )


def downloaded(folder: Path) -> list[Package]:
    """Return all packages of the guest, downloaded; the kernel comes first.

    Raises FsgreenError if a package is not to be had.
    """
    own = apt(folder)

    def kernel() -> Package:
        said = own.run("apt-cache", "depends", KERNEL)
        found = re.search(r"Depends: (linux-image-\S+)", said)
        if found is None:
            raise FsgreenError(
                f"Debian's package {KERNEL} names no kernel: {said.strip()[:200]!r}",
                where=own.lists,
                next_step=f"rm -r {own.lists}, then the same command again",
            )
        shown = own.run("apt-cache", "show", "--no-all-versions", found[1])
        version = re.search(r"^Version: (\S+)", shown, re.M)
        assert version is not None
        own.run("apt-get", "download", found[1], folder=own.archives)
        return own.package(found[1], version[1], ARCHITECTURE)

    return [own.listed(kernel), *own.install(TOOLS)]
