"""The files of the guest: packages unpacked, what it does not need left out, bytecode made.

Programs of the tree run on this machine through the loader of the tree, so that what comes out does
not depend on this machine.
"""

from __future__ import annotations

import lzma
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from fsgreen import commands
from fsgreen.debian import Package, through_loader
from fsgreen.errors import FsgreenError

PYTHON = "usr/bin/python3.11"
STANDARD_LIBRARY = "usr/lib/python3.11"

LEFT_OUT = (
    "usr/include",
    "usr/lib/python3.11/asyncio",
    "usr/lib/python3.11/distutils",
    "usr/lib/python3.11/ensurepip",
    "usr/lib/python3.11/lib2to3",
    "usr/lib/python3.11/pydoc_data",
    "usr/lib/python3.11/sqlite3",
    "usr/lib/python3.11/tkinter",
    "usr/lib/python3.11/unittest",
    "usr/lib/python3.11/wsgiref",
    "usr/lib/python3.11/xmlrpc",
    "usr/lib/x86_64-linux-gnu/gconv",
    "usr/share/bash-completion",
    "usr/share/bug",
    "usr/share/doc",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
    "var/cache",
)

FOLDERS = ("dev", "fsgreen", "proc", "root", "run", "sys", "tmp", "work")
"""Where other file systems are mounted; the tree itself is only read."""

TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
    "etc/group": "root:x:0:\n",
}

MODULES = (
    "arch/x86/crypto",
    "block",
    "crypto",
    "drivers/block/loop.ko",
    "drivers/block/null_blk",
    "drivers/block/virtio_blk.ko",
    "drivers/char/virtio_console.ko",
    "drivers/md/dm-delay.ko",
    "drivers/md/dm-flakey.ko",
    "drivers/md/dm-log-writes.ko",
    "drivers/md/dm-mod.ko",
    "drivers/md/dm-zoned.ko",
    "drivers/nvme/host",
    "drivers/scsi/scsi_debug.ko",
    "drivers/scsi/sd_mod.ko",
    "drivers/virtio",
    *(
        f"fs/{name}"
        for name in (
            "btrfs",
            "ext4",
            "f2fs",
            "fuse",
            "jbd2",
            "jfs",
            "mbcache.ko",
            "nfs",
            "nfs_common",
            "nfsd",
            "nilfs2",
            "nls",
            "overlayfs",
            "quota",
            "reiserfs",
            "squashfs",
            "xfs",
        )
    ),
    "lib",
    "net/sched/sch_fq.ko",
    "net/sched/sch_netem.ko",
    "net/sunrpc",
)
"""What is kept of the kernel's modules, with all that these need."""


def unpack(packages: Iterable[Package], tree: Path) -> str:
    """Unpack packages into a new folder, and return the version of their kernel."""
    tree.mkdir(parents=True)
    for package in packages:
        commands.run(["dpkg-deb", "--extract", str(package.file), str(tree)])
    for name in LEFT_OUT:
        shutil.rmtree(tree / name, ignore_errors=True)
    for name in FOLDERS:
        (tree / name).mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).write_text(text)
    mounts = tree / "etc" / "mtab"
    mounts.unlink(missing_ok=True)
    mounts.symlink_to("/proc/self/mounts")
    [modules] = (tree / "lib" / "modules").iterdir()
    return modules.name


def run(tree: Path, program: str, *arguments: str) -> str:
    """Run a program of the tree on this machine; return what it printed."""
    name = Path(arguments[0]).name if program == "bin/kmod" else program
    rest = arguments[1:] if program == "bin/kmod" else arguments
    return commands.run(
        [
            "env",
            *(f"PYTHONHOME={tree / 'usr'}", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1"),
            *through_loader(tree, program, name),
            *rest,
        ]
    )


def keep_modules(tree: Path, version: str) -> dict[str, list[str]]:
    """Remove the modules that the guest does not need; return what each of the others needs.

    By the path below the folder of the modules, in the order in which they are loaded.
    """
    folder = tree / "lib" / "modules" / version
    run(tree, "bin/kmod", "depmod", "--basedir", str(tree), version)
    needs = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        name, _, others = line.partition(":")
        needs[name] = [*reversed(others.split()), name]
    kept = {
        each
        for name, several in needs.items()
        if any(name == f"kernel/{of}" or name.startswith(f"kernel/{of}/") for of in MODULES)
        for each in several
    }
    for name in needs.keys() - kept:
        (folder / name).unlink()
    run(tree, "bin/kmod", "depmod", "--basedir", str(tree), version)
    return {name: needs[name] for name in sorted(kept)}


def kernel(tree: Path, version: str) -> bytes:
    """Return the kernel as a program (ELF), which begins without unpacking itself first.

    Raises FsgreenError if the file is packed otherwise than Debian 12 does.
    """
    file = tree / "boot" / f"vmlinuz-{version}"
    packed = file.read_bytes()
    begin = packed.find(b"\xfd7zXZ\0")
    if begin < 0:
        raise FsgreenError(
            "the kernel is not packed with xz, as Debian 12 has it",
            where=file,
            next_step="docs/vm.md says which Debian the guest is made of",
        )
    return lzma.LZMADecompressor().decompress(packed[begin:])


def compile_python(tree: Path, folder: Path, place: str) -> None:
    """Make the bytecode of a folder, which is `place` in the guest; it says nothing of times."""
    run(
        tree,
        PYTHON,
        *("-s", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
        *("-s", str(folder), "-p", place, str(folder)),
    )


def squash(tree: Path, file: Path) -> None:
    """Write the tree as a file system that is only read; the same tree gives the same bytes."""
    run(
        tree,
        "usr/bin/mksquashfs",
        *(str(tree), str(file), "-noappend", "-quiet", "-no-progress", "-all-root"),
        *("-mkfs-time", "0", "-all-time", "0", "-comp", "zstd", "-Xcompression-level", "12"),
        *("-processors", str(os.cpu_count() or 1), "-wildcards", "-e", "boot/*"),
    )
