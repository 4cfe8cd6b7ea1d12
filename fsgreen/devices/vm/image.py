"""The image of the guest: made once from Debian packages, and kept in the cache with its manifest.

`base` holds the packed tree of files (`root.squashfs`) and the kernel. `image` holds the archive
with which the kernel begins: that tree, fsgreen's own code for the guest, and the programs of the
workload engine. All of it is in memory while the guest runs, so its root never waits for the disk
of this machine.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import platform
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsgreen import debian, durable, paths
from fsgreen.devices.vm import packages, tree
from fsgreen.devices.vm.cpio import Archive
from fsgreen.durable import whole
from fsgreen.errors import FsgreenError

ENGINES = ("fsgreen-wml", "fsgreen-ycsb")
AGENT = "fsgreen.stacks.guest.agent"

CODE = (
    "__init__.py",
    "audit/*.py",
    "commands.py",
    "design/columns.py",
    "design/factors.py",
    "design/metrics.py",
    "design/registry.py",
    "devices/*.py",
    "devices/probe/*.py",
    "devices/vm/__init__.py",
    "devices/vm/wire.py",
    "durable.py",
    "elsewhere.py",
    "errors.py",
    "greenfs.py",
    "paths.py",
    "processes.py",
    "progress.py",
    "scratch.py",
    "simdisk/*.py",
    "stacks/*.py",
    "stacks/aging/*.py",
    "stacks/filesystems/*.py",
    "stacks/guest/*.py",
    "units.py",
)
"""The files of fsgreen that run in the guest, which has only Python's standard library."""

FIRST = ("kernel/drivers/block/loop.ko", "kernel/fs/squashfs/squashfs.ko")
"""Kernel modules that are needed to mount the tree."""

SCRIPT = """\
#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs dev /dev
{modules}
$b mount -t squashfs -o ro,loop /root.squashfs /root
$b mount -t proc proc /root/proc
$b mount -t sysfs sys /root/sys
$b mount -t devtmpfs dev /root/dev
$b mkdir /root/dev/shm
for name in dev/shm root run tmp work; do $b mount -t tmpfs tmp /root/$name; done
$b mount --bind /fsgreen /root/fsgreen
exec $b env -i PATH=/fsgreen/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \\
  PYTHONPATH=/fsgreen PYTHONHASHSEED=0 $b chroot /root /usr/bin/python3 -s -m {agent}
"""
"""The first program of the guest."""

BUILD_B = 1200 << 20
"""Free space that is needed for the tree, the packages and the image."""


@dataclass(frozen=True)
class Image:
    """What QEMU starts."""

    kernel: Path
    initrd: Path
    """The archive with which the kernel begins."""
    manifest: dict[str, Any]
    """Debian's suite, the version of the kernel, the version and SHA-256 of each package by name,
    and the SHA-256 of the files and of fsgreen's code in the guest."""

    @property
    def sha256(self) -> str:
        """The hash of the archive. It identifies the image in records."""
        return str(self.manifest["initrd_sha256"])


def folder() -> Path:
    """Return the folder of the image, in the cache."""
    return paths.cached() / "vm"


def require_architecture() -> None:
    """Raise `FsgreenError` unless this machine is x86_64: its engine must run in the guest."""
    machine = platform.machine()
    if machine != "x86_64":
        raise FsgreenError(
            f"the guest is an x86_64 machine, this one is {machine}: the workload engine of this "
            "machine would not run in it",
            next_step="take --testbed loop or directory, or an x86_64 machine",
        )


def engines() -> list[Path]:
    """Return the programs of the workload engine. Raises `FsgreenError` if one is missing."""
    found = []
    for name in ENGINES:
        program = paths.program(name)
        if program is None:
            raise FsgreenError(
                f"the workload engine is not installed, or has no {name}", next_step=paths.BUILD
            )
        found.append(Path(program))
    return found


def require_space() -> None:
    """Raise `FsgreenError` unless the image can be made where its folder is, or would be."""
    free_b = paths.free_b(folder())
    if free_b < BUILD_B:
        raise FsgreenError(
            f"the image of the guest needs {BUILD_B >> 20} MiB to be made, "
            f"{free_b >> 20} MiB are free",
            where=folder(),
            next_step="free some, or move the cache: XDG_CACHE_HOME=ELSEWHERE",
        )


def ensure() -> Image:
    """Return the image. It is made now if there is none, or if fsgreen's code in it has changed.

    Packages are downloaded only once. Remove the folder to get newer ones.

    Raises FsgreenError if it cannot be made: no apt, no network, no space, or another architecture.
    """
    require_architecture()
    place = folder()
    with refusal_explained(place):
        place.mkdir(parents=True, exist_ok=True)
        with (place / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            base = _base(place / "base", place / "apt")
            return _image(place / "image", place / "base", base)


def made_base() -> dict[str, Any] | None:
    """Return the record of the base; None if there is none of this recipe, so it must be made."""
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        made: dict[str, Any] = json.loads((folder() / "base" / "base.json").read_text())
        if made["recipe_sha256"] == _recipe():
            return made
    return None


def kept() -> Image | None:
    """Return the image that was made last; None if there is none. It makes nothing."""
    place = folder()
    try:
        manifest = json.loads((place / "image" / "manifest.json").read_text())
    except (OSError, ValueError):
        return None
    return Image(place / "base" / "vmlinux", place / "image" / "initrd", manifest)


def _base(base: Path, apt: Path) -> dict[str, Any]:
    """Make the base if its recipe has changed; return the record of what it is made of."""
    found = made_base()
    if found is not None:
        return found
    require_space()
    print("making the image of the guest from Debian packages: about a minute, once")
    downloaded = packages.downloaded(apt)
    shutil.rmtree(base, ignore_errors=True)
    files = base / "tree"
    version = tree.unpack(downloaded, files)
    needs = tree.keep_modules(files, version)
    (base / "vmlinux").write_bytes(tree.kernel(files, version))
    standard = files / tree.STANDARD_LIBRARY
    tree.compile_python(files, standard, f"/{tree.STANDARD_LIBRARY}")
    tree.squash(files, base / "root.squashfs")
    made: dict[str, Any] = {
        "recipe_sha256": _recipe(),
        "suite": debian.SUITE,
        "kernel": version,
        "first_modules": list(dict.fromkeys(each for name in FIRST for each in needs[name])),
        "packages": {
            one.name: {"version": one.version, "sha256": one.sha256} for one in downloaded
        },
        "vmlinux_sha256": durable.sha256_of(base / "vmlinux"),
        "root_sha256": durable.sha256_of(base / "root.squashfs"),
    }
    durable.write_json(base / "base.json", made)
    return made


def _image(image: Path, base: Path, made: dict[str, Any]) -> Image:
    """Make the image on a base if its code has changed; return the image."""
    programs = engines()
    package = paths.code() / "fsgreen"
    code = [file for pattern in CODE for file in sorted(package.glob(pattern))]
    code_sha256 = _sha256([*code, *programs, Path(__file__)])
    found = kept()
    if (
        found is not None
        and found.manifest["code_sha256"] == code_sha256
        and found.manifest["root_sha256"] == made["root_sha256"]
        and found.initrd.exists()
    ):
        return found
    image.mkdir(exist_ok=True)
    (image / "manifest.json").unlink(missing_ok=True)  # it would tell of another archive
    with tempfile.TemporaryDirectory(dir=image) as scratch:
        place = Path(scratch) / "fsgreen"
        for file in code:
            copy = place / "fsgreen" / file.relative_to(package)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        tree.compile_python(base / "tree", place, "/fsgreen")
        (place / "bin").mkdir()
        for program in programs:
            copy = place / "bin" / program.name
            shutil.copyfile(program, copy)
            copy.chmod(0o755)
        with whole(image / "initrd") as partial, partial.open("wb") as into:
            _write_archive(Archive(into), base, made, place)
    manifest = {
        **{name: value for name, value in made.items() if name != "first_modules"},
        "code_sha256": code_sha256,
        "initrd_sha256": durable.sha256_of(image / "initrd"),
    }
    durable.write_json(image / "manifest.json", manifest)
    return Image(base / "vmlinux", image / "initrd", manifest)


def _write_archive(archive: Archive, base: Path, made: dict[str, Any], place: Path) -> None:
    files = base / "tree"
    modules = files / "lib" / "modules" / made["kernel"]
    lines = [f"$b insmod /modules/{Path(name).name}" for name in made["first_modules"]]
    for name in ("dev", "bin", "modules", "root"):
        archive.folder(name)
    archive.console()
    archive.file("bin/busybox", (files / "bin" / "busybox").read_bytes(), program=True)
    for name in made["first_modules"]:
        archive.file(f"modules/{Path(name).name}", (modules / name).read_bytes())
    script = SCRIPT.format(modules="\n".join(lines), agent=AGENT)
    archive.file("init", script.encode(), program=True)
    archive.tree(place, "fsgreen")
    archive.file("root.squashfs", (base / "root.squashfs").read_bytes())
    archive.end()


def _recipe() -> str:
    """Return the hash of what the base is made by. Another one makes the base anew."""
    return _sha256(map(Path, (debian.__file__, packages.__file__, tree.__file__)))


def _sha256(files: Iterable[Path]) -> str:
    together = hashlib.sha256()
    for file in files:
        together.update(f"{file.name} {durable.sha256_of(file)}\n".encode())
    return together.hexdigest()


@contextlib.contextmanager
def refusal_explained(place: Path) -> Iterator[None]:
    """Turn an OSError of the image's folder into an `FsgreenError`."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise FsgreenError(
            f"the image of the guest could not be made: {error.strerror}",
            where=error.filename or place,
            next_step=f"{'free some space, or ' if full else ''}move the cache to a folder that "
            "can be written: XDG_CACHE_HOME=ELSEWHERE",
        ) from error
